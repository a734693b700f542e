import Foundation
import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// Keys beneath the name of a file never cost the file more than a deletion would.
    @Suite("Files in the place of directories")
    struct FileForDirectoryTests {
        private func ramp(_ count: Int, _ seed: Int = 0) -> Data { MirrorFixture.ramp(count, seed) }

        /// A mirror of `a` and `z`, where `a/b` appeared since.
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

        @Test(arguments: [SyncDirection.pull, .sync], [false, true])
        func `nothing leaves the directory for keys beneath it unless deletions are asked for`(
            direction: SyncDirection,
            keepsObjects: Bool
        ) async throws {
            let fixture = try MirrorFixture()
            let names = (0..<30).map { "f\(100 + $0)" }
            for name in names { try await fixture.put(name, ramp(10, name.count)) }
            try await fixture.run("b", .pull)
            let before = try fixture.tree("b")
            for name in names {
                if !keepsObjects { try await fixture.deleteObject(name) }
                try await fixture.put(name + "/", Data())
            }
            for isDryRun in [true, false, false] {
                let run = try await fixture.run("b", direction) { options in
                    options.isDryRun = isDryRun
                    options.deletionLimit = .count(0)
                    options.replacesLocalChanges = direction == .pull
                }
                #expect(run.deleted == 0)
                #expect(run.skipped == (keepsObjects ? 30 : 60))
                #expect(!run.isInStep)
                #expect(try fixture.tree("b") == before)
            }
        }

        @Test func `a file whose object is there stays, also where deletions are asked for`()
            async throws
        {
            let fixture = try await fixture(keepsObject: true)
            try await fixture.put("a", ramp(11, 5))
            let log = EventLog()
            let pull = try await fixture.run("b", .pull, log) { options in
                options.deletesExtra = true
                options.deletionLimit = .percent(100)
            }
            #expect((pull.deleted, pull.transferred, pull.skipped) == (0, 1, 1))
            #expect(log.skipped("a/b")?.contains("'a'") == true)
            #expect(try fixture.tree("b") == ["a": ramp(11, 5), "z": ramp(1)])
            try await fixture.deleteObject("a")
            let next = try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(next.isInStep)
            #expect(try fixture.tree("b") == ["a/b": ramp(12), "z": ramp(1)])
        }

        @Test func `files that become directories count for the limit of deletions`()
            async throws
        {
            let fixture = try MirrorFixture()
            let names = (0..<20).map { "f\(100 + $0)" }
            for name in names + ["z"] { try await fixture.put(name, ramp(10)) }
            try await fixture.run("b", .pull)
            for name in names {
                try await fixture.deleteObject(name)
                try await fixture.put(name + "/x", ramp(12))
            }
            for isDryRun in [true, false] {
                let log = EventLog()
                let refused = try? await fixture.run("b", .pull, log) { options in
                    options.isDryRun = isDryRun
                    options.deletesKnown = true
                    options.deletionLimit = .count(19)
                }
                #expect(refused == nil)
                #expect(log.summary?.deletionsHeldBack?.contains("20 deletions") == true)
                #expect(try fixture.tree("b").count == 21)
            }
            let dry = try await fixture.run("b", .pull) { options in
                options.isDryRun = true
                options.deletesKnown = true
                options.deletionLimit = .count(20)
            }
            #expect((dry.deleted, dry.transferred) == (20, 20))
            let pull = try await fixture.run("b", .pull) { options in
                options.deletesKnown = true
                options.deletionLimit = .count(20)
            }
            #expect((pull.deleted, pull.transferred, pull.skipped) == (20, 20, 0))
            #expect(pull.isInStep)
            #expect(trash(fixture).count == 20)
            #expect(try await fixture.run("b", .pull).requests == 1)
        }

        @Test func `a listing that ends early takes no file`() async throws {
            let fixture = try await fixture(keepsObject: false)
            try await fixture.put("a/c", ramp(3))
            let engine = try fixture.engine("b") { store in
                HookedStore(store, pageSize: 1) { call throws(StorageError) in
                    guard call.operation == "ListObjectsV2", call.number > 1 else { return }
                    throw StorageError(
                        kind: .service(status: 403, code: "AccessDenied"),
                        operation: "ListObjectsV2"
                    )
                }
            }
            let options = MirrorFixture.options { $0.deletesKnown = true }
            let log = EventLog()
            let error = await #expect(throws: TransferError.self) {
                try await engine.run(.pull, options: options, onEvent: log.add)
            }
            #expect(error?.code == .forbidden)
            #expect(log.summary?.deleted == 0 && log.summary?.isInStep == false)
            #expect(try fixture.tree("b") == ["a": ramp(10), "z": ramp(1)])
        }

        @Test func `a directory of directories comes in the place of a file`() async throws {
            let fixture = try await fixture(keepsObject: false)
            for key in ["a/", "a/d/", "a/d/e/f"] {
                try await fixture.put(key, key.hasSuffix("/") ? Data() : ramp(7))
            }
            for direction in [SyncDirection.pull, .sync] {
                let run = try await fixture.run("b", direction) { $0.deletesKnown = true }
                #expect(run.isInStep)
                #expect(
                    try fixture.tree("b").filter { !$0.value.isEmpty }
                        == ["a/b": ramp(12), "a/d/e/f": ramp(7), "z": ramp(1)]
                )
            }
            #expect(try await fixture.run("b", .pull).requests == 1)
        }

        @Test func `a download that fails after the deletion comes in the next run`() async throws {
            let fixture = try await fixture(keepsObject: false)
            try fixture.setFaults(
                #"""
                [{"match": {"operation": "GetObject"},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """#
            )
            let failed = try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect((failed.failed, failed.deleted) == (1, 1))
            #expect(trash(fixture) == [ramp(10)])
            try fixture.setFaults("[]")
            let pull = try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(pull.isInStep)
            #expect(try fixture.tree("b") == ["a/b": ramp(12), "z": ramp(1)])
        }

        @Test func `a file that is written to before its deletion stays`() async throws {
            let fixture = try await fixture(keepsObject: false)
            let engine = try fixture.engine("b") { store in
                HookedStore(store) { call in
                    guard call.operation == "HeadObject" else { return }
                    try? fixture.write("b/a", self.ramp(20, 3))
                }
            }
            let options = MirrorFixture.options { $0.deletesKnown = true }
            let pull = try await engine.run(.pull, options: options, onEvent: { _ in })
            #expect(!pull.isInStep)
            #expect(try fixture.tree("b") == ["a": ramp(20, 3), "z": ramp(1)])
        }

        @Test func `nothing goes from a directory that is another one`() async throws {
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
            _ = try? await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(try fixture.tree("b") == ["a": ramp(10), "z": ramp(1)])
        }
    }
}
