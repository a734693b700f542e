import Foundation
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// Prefixes that a filter leaves out.
    @Suite("Excluded prefixes")
    struct ExcludedPrefixTests {
        let fixture: MirrorFixture
        private static let skipped = (10..<90).flatMap { ["d/skip/\($0)", "skip/\($0)"] }
        private static let kept = ["d/skip-", "d/skip0", "d/z", "skip", "skip-", "skip0", "z"]

        init() async throws {
            fixture = try MirrorFixture()
            for key in Self.skipped + Self.kept where key != "skip" {
                try fixture.write("a/" + key, Data(key.utf8))
            }
            try await fixture.run("a", .push)
            try await fixture.put("skip", Data("skip".utf8))
        }

        /// The requests for listings of a run that reads four keys with each.
        private func listings(
            _ name: String,
            _ direction: SyncDirection,
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async throws -> (summary: RunSummary, count: Int) {
            var hooked: HookedStore?
            let engine = try fixture.engine(name) { store in
                let new = HookedStore(store, pageSize: 4) { _ in }
                hooked = new
                return new
            }
            let options = MirrorFixture.options { options in
                options.filter = FilterTests.filter("skip/")
                options.deletionLimit = .percent(100)
                change(&options)
            }
            let summary = try await engine.run(direction, options: options) { _ in }
            return (summary, hooked?.count("ListObjectsV2") ?? 0)
        }

        @Test func `are not listed, and all around them is`() async throws {
            let pull = try await listings("b", .pull)
            #expect(pull.summary.transferred == 7 && pull.summary.isComplete)
            #expect(pull.count < 20)
            let names = try fixture.tree("b").filter { !$0.value.isEmpty }.keys
            #expect(Set(names) == Set(Self.kept))
            // Nothing that is not listed looks deleted.
            for direction in SyncDirection.allCases {
                let again = try await listings("a", direction) { $0.deletesKnown = true }
                #expect(again.summary.deleted == 0 && again.count < 20, "\(direction)")
                #expect(fixture.exists("a/skip/10") && fixture.exists("a/d/skip/89"))
            }
            #expect(try await fixture.objects().count == 167)
        }

        @Test func `are listed where what they hold may be deleted`() async throws {
            let push = try await listings("a", .push) { options in
                (options.deletesKnown, options.deletesExcluded) = (true, true)
            }
            #expect(push.count > 40)
            #expect(push.summary.deleted == 160)
        }

        @Test func `are listed where the filter leaves out names in them only`() async throws {
            let pull = try await listings("b", .pull) { options in
                options.filter = FilterTests.filter("skip/[1-8]?")
            }
            #expect(pull.count > 40 && pull.summary.transferred == 87)
        }
    }
}
