import Foundation
import LocalStorage
import ManifestStore
import StorageServer
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// A file gives way to a directory only when that costs nothing that is nowhere else.
    @Suite("Files that give way")
    struct YieldingTests {
        private func ramp(_ count: Int, _ seed: Int = 0) -> Data { MirrorFixture.ramp(count, seed) }

        /// A mirror of `a`, beside which `a/b` appeared since.
        private func fixture(keepsObject: Bool) async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            try await fixture.put("a", ramp(10))
            try await fixture.put("z", ramp(1))
            try await fixture.run("b", .pull)
            if !keepsObject { try await fixture.deleteObject("a") }
            try await fixture.put("a/b", ramp(12))
            return fixture
        }

        private func trash(_ fixture: MirrorFixture) -> [Data] {
            let folder = fixture.directory("b") + "/.osssync/trash"
            let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
            return paths.compactMap { FileManager.default.contents(atPath: folder + "/" + $0) }
        }

        @Test(arguments: [false, true], [false, true])
        func `a file stays until something for the directory is there`(
            keepsObject: Bool,
            isDurable: Bool
        ) async throws {
            let fixture = try await fixture(keepsObject: keepsObject)
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "GetObject"},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """#
            )
            func pull(_ log: EventLog = EventLog()) async throws -> RunSummary {
                try await fixture.run("b", .pull, log) { options in
                    options.trashDays = 0
                    options.durability = isDurable ? .full : .fast
                }
            }
            for _ in 0..<2 {
                let failed = try await pull()
                #expect(failed.failed == 1)
                #expect(failed.deleted == 0)
                #expect(try fixture.tree("b") == ["a": ramp(10), "z": ramp(1)])
            }
            try fixture.setFaults("[]")
            let log = EventLog()
            let pulled = try await pull(log)
            #expect(pulled.transferred == 1)
            #expect(pulled.deleted == 1)
            #expect(pulled.isInStep == !keepsObject)
            #expect((log.skipped("a") != nil) == keepsObject)
            #expect(try fixture.tree("b") == ["a/b": ramp(12), "z": ramp(1)])
            // No deletion was asked for.
            #expect(trash(fixture) == [ramp(10)])
            let again = try await pull()
            #expect(again.transferred == 0)
            // Nor was that the trash of deletions, which a run without days for it empties.
            #expect(trash(fixture) == [ramp(10)])
            #expect(again.isInStep == !keepsObject)
        }

        @Test func `a marker alone makes the file give way`() async throws {
            let fixture = try await fixture(keepsObject: false)
            try await fixture.deleteObject("a/b")
            try await fixture.put("a/", Data())
            let pull = try await fixture.run("b", .pull)
            #expect(pull.isInStep)
            #expect(try fixture.tree("b") == ["z": ramp(1)])
            #expect(fixture.exists("b/a/"))
            #expect(trash(fixture) == [ramp(10)])
            #expect(try await fixture.run("b", .pull).requests == 1)
        }

        @Test func `one file gives way to many, and is no deletion that a guard counts`()
            async throws
        {
            let fixture = try await fixture(keepsObject: false)
            for number in 0..<40 { try await fixture.put("a/f\(number)", ramp(number)) }
            try await fixture.put("a/d/", Data())
            for isDryRun in [true, false] {
                let run = try await fixture.run("b", .pull) { options in
                    options.isDryRun = isDryRun
                    options.deletesKnown = true
                    options.deletionLimit = .count(0)
                    // What comes second finds the file being moved by another.
                    options.connectionLimit = 16
                }
                #expect(run.deletionsHeldBack == nil)
                #expect((run.deleted, run.failed) == (1, 0))
            }
            #expect(try fixture.tree("b").values.filter { !$0.isEmpty }.count == 41)
        }

        @Test func `a renamed object is copied from the file that gives way to it`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.put("a", ramp(3_000))
            try await fixture.put("z", ramp(1))
            try await fixture.run("b", .pull)
            try await fixture.deleteObject("a")
            try await fixture.put("a/b", ramp(3_000))
            let pull = try await fixture.run("b", .pull)
            #expect(pull.isInStep)
            #expect(pull.renamed == 1)
            #expect(pull.bytes == 0)
            #expect(try fixture.tree("b") == ["a/b": ramp(3_000), "z": ramp(1)])
        }

        @Test func `a kill after the row and before the file is gone with is mended`() async throws
        {
            let fixture = try await fixture(keepsObject: true)
            let manifest = try await ManifestStore.open(
                directory: fixture.directory("b") + "/.osssync",
                now: MirrorFixture.now(),
                usesWriteAheadLog: true,
                threads: .system
            ).store
            try await manifest.record([.forget("a")])
            try await manifest.checkpointAndClose()
            let first = try await fixture.run("b", .pull)
            #expect(first.adopted == 1)
            #expect(first.skipped == 1)
            let second = try await fixture.run("b", .pull)
            #expect(second.transferred == 1)
            #expect(try fixture.tree("b") == ["a/b": ramp(12), "z": ramp(1)])
            for _ in 0..<2 {
                let push = try await fixture.run("b", .push) { $0.deletesKnown = true }
                #expect(push.deleted == 0)
            }
            #expect(try await fixture.objects() == ["a", "a/b", "z"])
        }

        @Test func `nothing gives way in a directory that is another one`() async throws {
            let fixture = try await fixture(keepsObject: false)
            try FileManager.default.moveItem(
                atPath: fixture.directory("b"),
                toPath: fixture.directory("old")
            )
            try fixture.makeDirectory("b")
            for name in [".osssync", "a", "z"] {
                try FileManager.default.moveItem(
                    atPath: fixture.directory("old/" + name),
                    toPath: fixture.directory("b/" + name)
                )
            }
            let log = EventLog()
            let pull = try await fixture.run("b", .pull, log)
            #expect(pull.skipped == 2)
            #expect(pull.deleted == 0)
            #expect(try fixture.tree("b") == ["a": ramp(10), "z": ramp(1)])
        }

        @Test func `a file that changes while it is to give way stays`() async throws {
            let fixture = try await fixture(keepsObject: false)
            let log = EventLog()
            let engine = try fixture.engine("b") { store in
                HookedStore(store) { call in
                    guard call.operation == "GetObject", call.moment == .after else { return }
                    try? fixture.write("b/a", self.ramp(20, 3))
                }
            }
            let options = MirrorFixture.options { $0.trashDays = 0 }
            let pull = try await engine.run(.pull, options: options, onEvent: log.add)
            #expect(!pull.isInStep)
            #expect(try fixture.tree("b") == ["a": ramp(20, 3), "z": ramp(1)])
        }
    }
}
