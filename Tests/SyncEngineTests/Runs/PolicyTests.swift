import Foundation
import LocalStorage
import StorageServer
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// What the options of a run promise.
    @Suite("The options of a run")
    struct PolicyTests {
        private func ramp(_ count: Int, _ seed: Int = 0) -> Data { MirrorFixture.ramp(count, seed) }

        /// A mirror `b` whose `f` both sides changed, `gone` the remote lost after a local change,
        /// and `back` the mirror lost and the remote changed.
        private func conflicts() async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for name in ["f", "gone", "back", "calm"] { try fixture.write("a/" + name, ramp(100)) }
            try await fixture.run("a", .push)
            try await fixture.run("b", .pull)
            try await fixture.put("f", ramp(200, 1))
            try await fixture.put("back", ramp(200, 2))
            try await fixture.deleteObject("gone")
            try fixture.write("b/f", ramp(300, 3))
            try fixture.write("b/gone", ramp(300, 4))
            try fixture.remove("b/back")
            return fixture
        }

        private func kept(_ fixture: MirrorFixture) throws -> [Data] {
            try fixture.tree("b").filter { $0.key.contains(".conflict-") }.map(\.value)
        }

        /// The content of the files in the trash.
        private func trash(_ fixture: MirrorFixture) -> [Data] {
            let root = fixture.directory("b") + "/.osssync/trash"
            let paths = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
            return paths.compactMap { FileManager.default.contents(atPath: root + "/" + $0) }
        }

        @Test func `pull, keep-both`() async throws {
            let fixture = try await conflicts()
            let pull = try await fixture.run("b", .pull) { $0.conflictPolicy = .keepBoth }
            #expect(pull.conflicts == 1)
            #expect(pull.localChanges == 1)
            #expect(fixture.content("b/f") == ramp(200, 1))
            #expect(try kept(fixture) == [ramp(300, 3)])
            #expect(fixture.content("b/gone") == ramp(300, 4))
            #expect(fixture.content("b/back") == ramp(200, 2))
            let again = try await fixture.run("b", .pull) { $0.conflictPolicy = .keepBoth }
            #expect(again.conflicts == 0)
            #expect(again.bytes == 0)
        }

        @Test func `pull, remote`() async throws {
            let fixture = try await conflicts()
            let pull = try await fixture.run("b", .pull) {
                $0.conflictPolicy = .remote
                $0.deletesKnown = true
            }
            #expect(pull.conflicts == 2)
            #expect(fixture.content("b/f") == ramp(200, 1))
            #expect(fixture.content("b/gone") == nil)
            #expect(fixture.content("b/back") == ramp(200, 2))
            #expect(try kept(fixture).isEmpty)
            #expect(Set(trash(fixture)) == [ramp(300, 3), ramp(300, 4)])
            #expect(try await fixture.run("b", .pull).isInStep)
        }

        @Test(arguments: [ConflictPolicy.local, .skip])
        func `pull, leaving both`(policy: ConflictPolicy) async throws {
            let fixture = try await conflicts()
            for _ in 0..<2 {
                let pull = try await fixture.run("b", .pull) {
                    $0.conflictPolicy = policy
                    $0.deletesKnown = true
                }
                #expect(pull.conflicts == 2)
                #expect(!pull.isInStep)
                #expect(fixture.content("b/f") == ramp(300, 3))
                #expect(fixture.content("b/gone") == ramp(300, 4))
                #expect(try await fixture.object("f") == ramp(200, 1))
            }
        }

        @Test(arguments: [SyncDirection.pull, .push])
        func `fail ends the run at the first conflict`(direction: SyncDirection) async throws {
            let fixture = try await conflicts()
            let error = await #expect(throws: TransferError.self) {
                try await fixture.run("b", direction) { $0.conflictPolicy = .fail }
            }
            #expect(error?.code == .conflict)
            #expect(fixture.content("b/f") == ramp(300, 3))
            #expect(try await fixture.object("f") == ramp(200, 1))
        }

        @Test func `push, local`() async throws {
            let fixture = try await conflicts()
            let push = try await fixture.run("b", .push) {
                $0.conflictPolicy = .local
                $0.deletesKnown = true
            }
            #expect(push.conflicts == 2)
            #expect(try await fixture.objects() == ["calm", "f", "gone"])
            #expect(try await fixture.object("f") == ramp(300, 3))
            #expect(try await fixture.object("gone") == ramp(300, 4))
            #expect(try await fixture.run("b", .push).isInStep)
        }

        @Test(arguments: [ConflictPolicy.remote, .skip, .keepBoth])
        func `push, leaving both`(policy: ConflictPolicy) async throws {
            let fixture = try await conflicts()
            for _ in 0..<2 {
                let push = try await fixture.run("b", .push) {
                    $0.conflictPolicy = policy
                    $0.deletesKnown = true
                }
                #expect(push.conflicts == 2)
                #expect(!push.isInStep)
                #expect(try await fixture.object("f") == ramp(200, 1))
                #expect(try await fixture.object("back") == ramp(200, 2))
                #expect(try await fixture.object("gone") == ramp(300, 4))
                #expect(fixture.content("b/f") == ramp(300, 3))
            }
        }

        @Test func `equal content is no conflict`() async throws {
            let fixture = try MirrorFixture()
            for name in ["a", "b"] {
                try fixture.write("\(name)/small", ramp(100))
                try fixture.write("\(name)/large", ramp(3 << 20))
                try fixture.makeDirectory("\(name)/hollow")
            }
            try await fixture.run("a", .push)
            let pull = try await fixture.run("b", .pull)
            #expect(pull.adopted == 3)
            #expect(pull.bytes == 0)
            #expect(pull.isInStep)
            #expect(try await fixture.run("b", .pull).requests == 1)
            try await fixture.deleteObject("hollow/")
            try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(!fixture.exists("b/hollow"))
        }

        @Test func `force replaces a local change, which goes to the trash`() async throws {
            let fixture = try await conflicts()
            try fixture.write("b/calm", ramp(55, 5))
            let kept = try await fixture.run("b", .pull)
            #expect(kept.localChanges == 2)
            #expect(fixture.content("b/calm") == ramp(55, 5))
            let forced = try await fixture.run("b", .pull) { $0.replacesLocalChanges = true }
            #expect(forced.localChanges == 1)
            #expect(fixture.content("b/calm") == ramp(100))
            #expect(trash(fixture) == [ramp(55, 5)])
        }

        @Test func `checksum finds what was changed behind its mtime`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", ramp(100))
            try fixture.write("a/g", ramp(100, 1))
            try await fixture.run("a", .push)
            let path = fixture.directory("a/f")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let modified = try #require(attributes[.modificationDate] as? Date)
            let whole = Date(timeIntervalSince1970: modified.timeIntervalSince1970.rounded(.down))
            try FileManager.default.setAttributes([.modificationDate: whole], ofItemAtPath: path)
            try await fixture.run("a", .push)
            try await fixture.damage("f")
            #expect(try await fixture.run("a", .push).transferred == 0)
            for direction in [SyncDirection.pull, .push, .sync] {
                let found = try await fixture.run("a", direction) { $0.comparesContent = true }
                #expect((found.transferred, found.damaged) == (0, 1))
                #expect(!found.isComplete)
            }
            let push = try await fixture.run("a", .push) {
                $0.comparesContent = true
                $0.replacesLocalChanges = true
            }
            #expect(push.transferred == 1)
            #expect(push.unchanged == 1)
            #expect(try await fixture.object("f") == fixture.content("a/f"))
        }

        @Test func `delete=extra deletes what was never synced, delete does not`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", ramp(10))
            try await fixture.run("a", .push)
            try await fixture.run("b", .pull)
            try await fixture.put("foreign", ramp(20))
            try fixture.write("b/own/file", ramp(30))
            #expect(try await fixture.run("a", .push) { $0.deletesKnown = true }.deleted == 0)
            #expect(try await fixture.run("a", .push) { $0.deletesExtra = true }.deleted == 1)
            #expect(try await fixture.objects() == ["f"])
            #expect(try await fixture.run("b", .pull) { $0.deletesKnown = true }.deleted == 0)
            #expect(try await fixture.run("b", .pull) { $0.deletesExtra = true }.deleted == 1)
            #expect(!fixture.exists("b/own"))
            #expect(trash(fixture) == [ramp(30)])
        }

        @Test func `no trash days remove at once`() async throws {
            let fixture = try await conflicts()
            try await fixture.deleteObject("calm")
            try await fixture.run("b", .pull) {
                $0.conflictPolicy = .remote
                $0.deletesKnown = true
            }
            #expect(trash(fixture).count == 3)
            try await fixture.deleteObject("f")
            try fixture.write("b/back", ramp(77))
            try await fixture.run("b", .pull) {
                $0.deletesKnown = true
                $0.replacesLocalChanges = true
                $0.trashDays = 0
            }
            #expect(trash(fixture).isEmpty)
            #expect(fixture.content("b/back") == ramp(200, 2))
            #expect(try fixture.tree("b").keys.sorted() == ["back"])
        }

        @Test
        func `a group of files waits for the disk before and after the renames`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<5 { try fixture.write("a/f\(index)", ramp(10)) }
            try await fixture.run("a", .push)
            let faults = SystemCallFaults(.fail(errno: 0), at: 0, of: ["syncfs"])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            let engine = try fixture.engine("b", calls: calls)
            let pull = try await engine.run(.pull, options: MirrorFixture.options()) { _ in }
            #expect(pull.transferred == 5)
            #expect(faults.count >= 2)
        }

        @Test func `what is planned is what is finished`() async throws {
            let fixture = try await conflicts()
            try fixture.write("b/new", ramp(1_000))
            try fixture.write("b/calm", ramp(7_000))
            let log = EventLog()
            for direction in [SyncDirection.pull, .push] {
                try await fixture.run("b", direction, log) { $0.conflictPolicy = .local }
                try await fixture.run("b", direction, log) { $0.conflictPolicy = .keepBoth }
                let progress = try #require(log.lastProgress)
                #expect(progress.isPlanComplete)
                #expect(progress.itemsFinished == progress.itemsPlanned, "\(direction)")
                #expect(progress.bytesFinished == progress.bytesPlanned, "\(direction)")
            }
        }

        @Test func `a dry run says what the guards will refuse`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<30 { try fixture.write("a/f\(index)", ramp(10)) }
            try await fixture.run("a", .push)
            for index in 0..<29 { try fixture.remove("a/f\(index)") }
            fixture.server.clearRequestLog()
            let (many, all) = (EventLog(), EventLog())
            let refused = await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push, many) {
                    $0.deletesKnown = true
                    $0.isDryRun = true
                }
            }
            #expect(refused?.code == .refused)
            #expect(many.summary?.deleted == 0)
            #expect(many.summary?.deletionsHeldBack != nil)
            #expect(!fixture.operations.contains { $0.hasPrefix("Delete") })
            try fixture.remove("a/f29")
            _ = try? await fixture.run("a", .push, all) {
                $0.deletesKnown = true
                $0.deletionLimit = .percent(100)
                $0.isDryRun = true
            }
            #expect(all.summary?.deletionsHeldBack?.contains("empty") == true)
        }
    }
}
