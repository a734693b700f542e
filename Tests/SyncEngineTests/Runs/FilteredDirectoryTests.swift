import Foundation
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// A directory that has files is not empty, also if filters leave out all of them.
    @Suite("Directories of which filters leave out everything")
    struct FilteredDirectoryTests {
        struct Case: Sendable, CustomTestStringConvertible {
            let testDescription: String
            var paths: [String] = []
            var patterns: [String] = []
            var minimumSize: Int64?
            var tags: Set<String> = []
            /// True if also an empty directory is left out as a whole, unread.
            var isUnread = false

            func options() throws -> @Sendable (inout RunOptions) -> Void {
                var filter = FileFilter()
                for pattern in patterns { try filter.exclude(pattern) }
                filter.bounds.minimumSize = minimumSize
                filter.tags.names = tags
                return { [filter, paths] options in
                    (options.filter, options.paths, options.deletesKnown) = (filter, paths, true)
                }
            }
        }

        static let cases = [
            Case(testDescription: "a pattern for files", paths: ["d"], patterns: ["*.jpg"]),
            Case(
                testDescription: "a pattern for the path",
                paths: ["d"],
                patterns: ["d/"],
                isUnread: true
            ),
            Case(
                testDescription: "a pattern for what is above",
                paths: ["d/deep", "d/f.jpg", "e"],
                patterns: ["d/"],
                isUnread: true
            ),
            Case(testDescription: "sizes", paths: ["d"], minimumSize: 1_000),
            Case(testDescription: "a tag", paths: ["d"], tags: ["tag.jpg"]),
            Case(testDescription: "a tag deeper", paths: ["d/deep", "e"], tags: ["tag.jpg"]),
            Case(testDescription: "all of the mirror", patterns: ["*"]),
            Case(testDescription: "tags in all of it", patterns: ["e"], tags: ["tag.jpg"]),
        ]

        private func mirror() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for name in ["d/f.jpg", "d/tag.jpg", "d/deep/g.jpg", "d/deep/tag.jpg", "e/f.jpg"] {
                try fixture.write("a/" + name, Data([1]))
            }
            try await fixture.run("a", .push)
            return fixture
        }

        @Test(arguments: cases, [SyncDirection.push, .sync])
        func `are not empty`(one: Case, direction: SyncDirection) async throws {
            let fixture = try await mirror()
            let summary = try await fixture.run("a", direction, EventLog(), one.options())
            #expect(summary.isComplete && summary.deleted == 0, "\(summary)")
            #expect(try await fixture.objects().count == 5)
        }

        @Test(arguments: cases.filter { !$0.isUnread })
        func `are empty where there is nothing`(one: Case) async throws {
            let fixture = try await mirror()
            for name in ["d", "e"] {
                try fixture.remove("a/" + name)
                if !one.paths.isEmpty { try fixture.makeDirectory("a/" + name) }
            }
            let error = await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push, EventLog(), one.options())
            }
            #expect(error?.code == .refused)
            // Markers of the empty directories may have been sent.
            let left = try await fixture.objects().filter { !$0.hasSuffix("/") }
            #expect(left.count == 5)
        }
    }
}
