import Foundation
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// A dry run says what the run does.
    @Suite("A dry run")
    struct DryRunTests {
        private static func deleting(_ options: inout RunOptions) {
            (options.deletesKnown, options.deletionLimit) = (true, .percent(100))
        }

        private func planned(_ log: EventLog) -> [String] {
            log.items.filter { $0.state == .planned }.map { "\($0.action.rawValue) \($0.key)" }
        }

        @Test(arguments: [SyncDirection.pull, .sync])
        func `sees what is in the place of a link, and so does explain`(
            direction: SyncDirection
        ) async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("f", Data([1]))
            try await fixture.put("l.rclonelink", Data("f".utf8))
            try fixture.write("a/l", Data([1, 2]))
            for isDryRun in [true, false] {
                let log = EventLog()
                let summary = try await fixture.run("a", direction, log) { options in
                    (options.links, options.isDryRun) = (.store, isDryRun)
                }
                #expect(summary.skipped == 1 && !summary.isInStep, "\(isDryRun): \(summary)")
                #expect(!planned(log).contains("download l.rclonelink"))
                #expect(log.skipped("l.rclonelink")?.contains("the file is kept") == true)
            }
            let options = MirrorFixture.options { $0.links = .store }
            let explanation = try await fixture.engine("a").explain(
                path: "l.rclonelink",
                of: [direction: options]
            )
            #expect(explanation.outlooks[direction]?.action == .skip)
        }

        @Test func `sees what is in the place of an escaped name`() async throws {
            let fixture = try MirrorFixture()
            let key: ObjectKey = "d//b"
            try await fixture.put(key.text, Data([1]))
            let path = try RelativePath(key: key, links: .skip, names: .escape)
            try fixture.makeDirectory("a/" + String(decoding: path.bytes, as: UTF8.self))
            for isDryRun in [true, false] {
                let log = EventLog()
                let summary = try await fixture.run("a", .pull, log) { options in
                    (options.names, options.isDryRun) = (.escape, isDryRun)
                }
                #expect(!summary.isComplete && !summary.isInStep, "\(isDryRun): \(summary)")
                #expect(planned(log).isEmpty)
            }
        }

        private func mirror(_ count: Int) async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for index in 0..<count { try fixture.write("a/d/\(index)", Data([1])) }
            try fixture.write("a/e", Data([1]))
            try await fixture.run("a", .push)
            return fixture
        }

        @Test func `shows no deletion that is held back`() async throws {
            let fixture = try await mirror(2)
            for key in ["d/0", "e"] { try await fixture.deleteObject(key) }
            try await fixture.put("d/", Data([1]))
            let log = EventLog()
            let summary = try await fixture.run("a", .pull, log) { options in
                Self.deleting(&options)
                options.isDryRun = true
            }
            #expect(planned(log) == ["delete-local e"])
            #expect(summary.deleted == 1 && summary.deletionsHeldBack != nil)
        }

        @Test func `says once that all deletions are refused`() async throws {
            let fixture = try await mirror(20)
            for index in 0..<20 { try fixture.remove("a/d/\(index)") }
            let log = EventLog()
            let error = await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push, log) { options in
                    (options.deletesKnown, options.isDryRun) = (true, true)
                }
            }
            #expect(error?.code == .refused)
            #expect(!planned(log).contains { $0.hasPrefix("delete") })
            let summary = try #require(log.summary)
            #expect(summary.deletionsHeldBack == error?.message)
            #expect(summary.stopped == error?.message)
        }
    }
}
