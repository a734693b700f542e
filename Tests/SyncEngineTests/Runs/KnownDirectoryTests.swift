import Foundation
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("A directory that is another one")
    struct KnownDirectoryTests {
        private func ramp(_ count: Int) -> Data { MirrorFixture.ramp(count) }

        /// A mirror of ten files in step; then its directory is a copy that ended early.
        private func copiedInPart() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for number in 0..<10 {
                try fixture.write("a/f\(number)", ramp(100 + number))
                // What was written a moment ago is compared once more.
                try fixture.setModified("a/f\(number)", Date(timeIntervalSinceNow: -3_600))
            }
            try await fixture.run("a", .push)
            let (old, new) = (
                fixture.folder.appending(path: "old"), fixture.folder.appending(path: "a")
            )
            try FileManager.default.moveItem(at: new, to: old)
            try fixture.makeDirectory("a")
            for name in [".osssync", "f1", "f2"] {
                try fixture.copy("old/" + name, "a/" + name)
            }
            return fixture
        }

        private func deleting(_ options: inout RunOptions) {
            options.deletesKnown = true
            options.deletionLimit = .percent(100)
        }

        @Test(arguments: [SyncDirection.push, .sync])
        func `what a copy lacks is deleted neither in the first run nor later`(
            direction: SyncDirection
        ) async throws {
            let fixture = try await copiedInPart()
            for _ in 0..<2 {
                let run = try await fixture.run("a", direction, EventLog(), deleting)
                #expect(run.deleted == 0)
                #expect(run.deletionsHeldBack == nil)
            }
            #expect(try await fixture.objects().count == 10)
            #expect(try fixture.tree("a").count == (direction == .sync ? 10 : 2))
        }

        @Test func `after a whole run a copy is the mirror and what is deleted there is deleted`()
            async throws
        {
            let fixture = try await copiedInPart()
            try await fixture.run("a", .pull)
            #expect(try fixture.tree("a").count == 10)
            try fixture.remove("a/f3")
            let push = try await fixture.run("a", .push, EventLog(), deleting)
            #expect(push.deleted == 1)
            #expect(try await fixture.objects().count == 9)
        }

        @Test func `what a copy lacks of what is excluded is not deleted later`() async throws {
            let fixture = try await copiedInPart()
            let first = try await fixture.run("a", .push, EventLog()) { options in
                deleting(&options)
                try? options.filter.exclude("f[2-9]")
            }
            #expect(first.deleted == 0)
            // What it has, and was hidden then, is deleted once a run has seen it.
            let seen = try await fixture.run("a", .push, EventLog(), deleting)
            #expect(seen.deleted == 0)
            try fixture.remove("a/f2")
            let push = try await fixture.run("a", .push, EventLog(), deleting)
            #expect(push.deleted == 1)
            #expect(try await fixture.objects().count == 9)
        }

        @Test func `deletions are refused in the first run with a copy only`() async throws {
            let fixture = try await copiedInPart()
            try await fixture.deleteObject("f1")
            await #expect(throws: TransferError.self) {
                try await fixture.run("a", .pull, EventLog(), deleting)
            }
            #expect(fixture.content("a/f1") != nil)
            let pull = try await fixture.run("a", .pull, EventLog(), deleting)
            #expect(pull.deleted == 1)
            #expect(pull.isInStep)
        }

        @Test func `what a copy lacks is no excess until it is said to be one`() async throws {
            let fixture = try await copiedInPart()
            func push(rebinds: Bool) async throws -> RunSummary {
                try await fixture.run("a", .push, EventLog()) { options in
                    options.deletesExtra = true
                    options.deletionLimit = .percent(100)
                    options.allowsRebinding = rebinds
                }
            }
            for rebinds in [false, false, true] {
                await #expect(throws: TransferError.self) { try await push(rebinds: rebinds) }
                #expect(try await fixture.objects().count == 10)
            }
            #expect(try await push(rebinds: false).deleted == 8)
        }

        @Test func `a run that fails first leaves a copy unknown`() async throws {
            let fixture = try await copiedInPart()
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "ListObjectsV2"},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """#
            )
            await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push, EventLog(), deleting)
            }
            try fixture.setFaults("[]")
            let push = try await fixture.run("a", .push, EventLog(), deleting)
            #expect(push.deleted == 0)
            #expect(try await fixture.objects().count == 10)
        }

        /// A mirror of a disk that was mounted beneath it and is not any more.
        private func withoutDisk() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", ramp(10))
            try fixture.write("a/disk/one", ramp(20))
            try fixture.write("a/disk/d/two", ramp(30))
            try await fixture.run("a", .push)
            try await fixture.noteMount("disk")
            try fixture.remove("a/disk")
            try fixture.makeDirectory("a/disk")
            return fixture
        }

        @Test func `a disk that was left out once is still known as one`() async throws {
            let fixture = try await withoutDisk()
            let first = try await fixture.run("a", .push, EventLog()) { options in
                deleting(&options)
                try? options.filter.exclude("disk/")
            }
            #expect(first.isInStep)
            let push = try await fixture.run("a", .push, EventLog(), deleting)
            #expect((push.deleted, push.skipped) == (0, 1))
            #expect(try await fixture.objects().count == 3)
        }

        @Test func `a disk that goes before the walk comes to it makes the walk incomplete`()
            async throws
        {
            let fixture = try await withoutDisk()
            let session = try await MirrorSession.open(
                try fixture.engine("a").settings,
                locks: false,
                allowsRebinding: false
            )
            let issues = ScanIssues { _ in }
            let scan = LocalScan(
                directory: session.directory,
                threads: .system,
                batch: 100,
                within: .all,
                expecting: [[UInt8]("disk".utf8)],
                leavingOut: { _, _ in false },
                countingIn: LeftOutTally(.all),
                reportingTo: issues
            )
            try await scan.run()
            #expect(!issues.isScanProven)
            #expect(issues.hides("disk/one"))
        }

        @Test func `a disk that is not mounted hides what is beneath it`() async throws {
            let fixture = try await withoutDisk()
            let log = EventLog()
            let push = try await fixture.run("a", .push, log, deleting)
            #expect((push.deleted, push.transferred, push.skipped) == (0, 0, 1))
            #expect(log.items.contains { $0.message?.contains("was a mount point") == true })
            let pull = try await fixture.run("a", .pull, EventLog(), deleting)
            #expect(pull.transferred == 0)
            #expect(try await fixture.objects().count == 3)
            // Gone on purpose.
            let rebound = try await fixture.run("a", .pull) { $0.allowsRebinding = true }
            #expect(rebound.isComplete)
            #expect(try fixture.tree("a").values.filter { !$0.isEmpty }.count == 3)
            #expect(try await fixture.run("a", .push, EventLog(), deleting).isInStep)
        }
    }
}
