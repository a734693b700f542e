import Foundation
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("A run of the engine")
    struct MirrorEngineTests {
        private func ramp(_ count: Int, _ seed: Int = 0) -> Data {
            MirrorFixture.ramp(count, seed)
        }

        @Test func `pushes, pulls and then has nothing to do`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<40 {
                try fixture.write("a/d\(index % 5)/f\(index)", ramp(100 + index))
            }
            try fixture.write("a/big", ramp(5 << 20))
            try fixture.write("a/empty", Data())
            try FileManager.default.createDirectory(
                atPath: fixture.directory("a/hollow"),
                withIntermediateDirectories: true
            )
            let log = EventLog()
            let push = try await fixture.engine("a").run(
                .push,
                options: MirrorFixture.options(),
                onEvent: log.add
            )
            #expect(push.transferred == 43, "\(log.items.filter { $0.state == .failed })")
            #expect(push.isInStep)
            let pull = try await fixture.engine("b").run(
                .pull,
                options: MirrorFixture.options(),
                onEvent: log.add
            )
            #expect(pull.transferred == 43, "\(log.items.filter { $0.state == .failed })")
            #expect(fixture.content("b/big") == ramp(5 << 20))
            #expect(FileManager.default.fileExists(atPath: fixture.directory("b/hollow")))
            for name in ["a", "b"] {
                for direction in [SyncDirection.push, .pull] {
                    let again = try await fixture.engine(name).run(
                        direction,
                        options: MirrorFixture.options(),
                        onEvent: log.add
                    )
                    #expect(again.bytes == 0)
                    #expect(again.transferred == 0)
                    #expect(again.requests == 1)
                    #expect(again.unchanged == 43)
                }
            }
        }

        private func run(
            _ fixture: MirrorFixture,
            _ name: String,
            _ direction: SyncDirection,
            _ log: EventLog = EventLog(),
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async throws -> RunSummary {
            try await fixture.run(name, direction, log, change)
        }

        @Test func `moves only changes, and renames move no bytes`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<20 { try fixture.write("a/f\(index)", ramp(1_000, index)) }
            try fixture.write("a/big", ramp(3 << 20))
            _ = try await run(fixture, "a", .push)
            _ = try await run(fixture, "b", .pull)
            try fixture.write("a/f1", ramp(2_000, 5))
            for name in ["a/f2", "a/f3"] {
                try FileManager.default.removeItem(atPath: fixture.directory(name))
            }
            try FileManager.default.createDirectory(
                atPath: fixture.directory("a/new"),
                withIntermediateDirectories: false
            )
            try FileManager.default.moveItem(
                atPath: fixture.directory("a/big"),
                toPath: fixture.directory("a/new/big")
            )
            let log = EventLog()
            let push = try await run(fixture, "a", .push, log) { $0.deletesKnown = true }
            #expect(push.transferred == 1)
            #expect(push.renamed == 1, "\(log.items)")
            // The old name of the renamed file is no deletion.
            #expect(push.deleted == 2)
            #expect(push.bytes == 2_000)
            let pull = try await run(fixture, "b", .pull, log) { $0.deletesKnown = true }
            #expect(pull.transferred == 1)
            #expect(pull.renamed == 1)
            #expect(pull.deleted == 2)
            #expect(pull.bytes == 2_000)
            #expect(fixture.content("b/new/big") == ramp(3 << 20))
            #expect(fixture.content("b/big") == nil)
            let again = try await run(fixture, "b", .pull) { $0.deletesKnown = true }
            #expect(again.requests == 1)
            #expect(again.isInStep)
        }

        @Test func `a file that has the inode, size and time of a gone one is sent`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/a.sig", ramp(32, 1))
            try await fixture.run("a", .push)
            try replace("a/a.sig", with: ramp(32, 2), as: "a/b.sig", fixture)
            fixture.server.clearRequestLog()
            let push = try await fixture.run("a", .push)
            #expect(push.isComplete)
            #expect(push.renamed == 0)
            #expect(fixture.operations == ["PutObject"])
            #expect(try await fixture.object("b.sig") == ramp(32, 2))
            #expect(try await fixture.object("a.sig") == ramp(32, 1))
        }

        /// Writes other content into the very file, gives it another name and its old time.
        private func replace(
            _ old: String,
            with content: Data,
            as new: String,
            _ fixture: MirrorFixture
        ) throws {
            let path = fixture.directory(old)
            let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            try file.write(contentsOf: content)
            try file.close()
            let target = fixture.directory(new)
            if old != new { try FileManager.default.moveItem(atPath: path, toPath: target) }
            try FileManager.default.setAttributes(
                [.modificationDate: try #require(date)],
                ofItemAtPath: target
            )
        }

        @Test(arguments: [0, 100])
        func `a touched file whose object is gone is no equal side`(size: Int) async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", ramp(size))
            try fixture.write("a/g", ramp(10))
            try await fixture.run("a", .push)
            try await fixture.deleteObject("f")
            try fixture.setModified("a/f", Date(timeIntervalSince1970: 1_000_000))
            for _ in 0..<2 {
                let pull = try await fixture.run("a", .pull)
                #expect((pull.deletedThere, pull.isInStep) == (1, false))
            }
        }

        @Test func `a file that changes while its copy is made is sent after all`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/old", ramp(3_000, 1))
            try await fixture.run("a", .push)
            try FileManager.default.moveItem(
                atPath: fixture.directory("a/old"),
                toPath: fixture.directory("a/new")
            )
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "CopyObject", call.moment == .after else { return }
                    try? self.replace("a/new", with: self.ramp(3_000, 2), as: "a/new", fixture)
                }
            }
            let options = MirrorFixture.options { $0.deletesKnown = true }
            let push = try await engine.run(.push, options: options) { _ in }
            #expect(push.isInStep)
            #expect(push.transferred == 1)
            #expect(push.renamed == 0)
            #expect(try await fixture.objects() == ["new"])
            #expect(try await fixture.object("new") == ramp(3_000, 2))
            #expect(try await fixture.run("a", .push).requests == 1)
        }

        @Test func `a cancelled download goes on where it stopped`() async throws {
            let fixture = try MirrorFixture()
            let size = 24 << 20
            try fixture.write("a/big", ramp(size))
            _ = try await run(fixture, "a", .push)
            fixture.server.setFaults(
                try FaultScript(
                    json: [UInt8](
                        """
                        [{"match": {"operation": "GetObject", "from": 7},
                          "effect": {"stall": {"at": 500000}}}]
                        """.utf8
                    )
                )
            )
            let progress = ProgressGate(bytes: Int64(7 << 20))
            let error = await withTaskGroup(of: TransferError?.self) { group in
                group.addTask {
                    do throws(TransferError) {
                        _ = try await fixture.engineOrTrap("b").run(
                            .pull,
                            options: MirrorFixture.options(),
                            onEvent: progress.see
                        )
                        return nil
                    } catch {
                        return error
                    }
                }
                await progress.wait()
                group.cancelAll()
                return await group.next() ?? nil
            }
            #expect(error?.code == .cancelled)
            #expect(fixture.content("b/big") == nil)
            fixture.server.setFaults(FaultScript(rules: []))
            fixture.server.clearRequestLog()
            let log = EventLog()
            let pull = try await run(fixture, "b", .pull, log)
            #expect(pull.bytesResumed > Int64(6 << 20))
            #expect(pull.bytes == Int64(size) - pull.bytesResumed)
            #expect(log.items.contains { $0.state == .resumed })
            #expect(fixture.content("b/big") == ramp(size))
        }

        @Test func `no request asks for more than a kill may cost`() async throws {
            let fixture = try MirrorFixture()
            let size = (9 << 20) + 1
            try fixture.write("a/big", ramp(size))
            _ = try await run(fixture, "a", .push)
            _ = try await run(fixture, "b", .pull) { $0.partSize = 64 << 20 }
            let requests = fixture.server.requestLog.filter { $0.operation == "GetObject" }
            #expect(requests.map(\.bytesSent).max() == 4 << 20)
            #expect(requests.reduce(0) { $0 + $1.bytesSent } == Int64(size))
            #expect(fixture.content("b/big") == ramp(size))
        }

        @Test func `an object replaced during its download ends as the new one`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", ramp(8 << 20))
            _ = try await run(fixture, "a", .push)
            fixture.server.setFaults(
                try FaultScript(
                    json: [UInt8](
                        """
                        [{"match": {"operation": "GetObject", "occurrence": 3},
                          "effect": {"replaceObject": {"at": 0}}}]
                        """.utf8
                    )
                )
            )
            let pull = try await run(fixture, "b", .pull)
            #expect(pull.transferred == 1)
            let found = fixture.content("b/big")
            #expect(found != nil)
            #expect(found != ramp(8 << 20))
            #expect(try await run(fixture, "b", .pull).bytes == 0)
        }

        @Test func `what gets another name while the directory is read is not called in step`()
            async throws
        {
            let fixture = try MirrorFixture()
            for index in 100..<250 { try fixture.write("a/f\(index)", ramp(10, index)) }
            try fixture.write("a/z/x", ramp(20))
            let directory = fixture.directory("a")
            var engine = try fixture.engine("a") { store in
                // The walk waits for the plan, and the plan for the first uploads.
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject", call.moment == .before, call.number == 1
                    else { return }
                    #expect(unsafe rename(directory + "/z", directory + "/a") == 0)
                }
            }
            engine.settings.limits.batch = 1
            engine.settings.limits.laneCapacity = 1
            let push = try await engine.run(.push, options: MirrorFixture.options()) { _ in }
            #expect(push.isComplete)
            #expect(!push.isInStep)
            #expect((push.transferred, push.onlyLocal) == (150, 0))
            let next = try await fixture.run("a", .push)
            #expect((next.transferred, next.isInStep) == (1, true))
            #expect(try await fixture.object("a/x") == ramp(20))
        }

        @Test func `a lost answer to complete is settled`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/big", ramp(3 << 20))
            fixture.server.setFaults(
                try FaultScript(
                    json: [UInt8](
                        """
                        [{"match": {"operation": "CompleteMultipartUpload", "occurrence": 1},
                          "effect": {"close": {"when": "after", "how": "rst"}}}]
                        """.utf8
                    )
                )
            )
            let push = try await run(fixture, "a", .push)
            #expect(push.transferred == 1)
            let parts = fixture.server.requestLog.filter { $0.operation == "UploadPart" }
            #expect(parts.count == 3)
            #expect(try await run(fixture, "a", .push).bytes == 0)
        }

        @Test func `a conflict keeps both and a refused deletion deletes nothing`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<30 { try fixture.write("a/f\(index)", ramp(100, index)) }
            _ = try await run(fixture, "a", .push)
            _ = try await run(fixture, "b", .pull)
            try fixture.write("a/f0", ramp(200, 3))
            try fixture.write("b/f0", ramp(300, 4))
            _ = try await run(fixture, "a", .push)
            let pull = try await run(fixture, "b", .pull)
            #expect(pull.conflicts == 1)
            #expect(fixture.content("b/f0") == ramp(200, 3))
            let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory("b"))
            #expect(names.count { $0.hasPrefix("f0.conflict-") } == 1)
            for index in 1..<25 {
                try FileManager.default.removeItem(atPath: fixture.directory("a/f\(index)"))
            }
            let error = await #expect(throws: TransferError.self) {
                try await run(fixture, "a", .push) { $0.deletesKnown = true }
            }
            #expect(error?.code == .refused)
            #expect(!fixture.server.requestLog.contains { $0.operation.hasPrefix("Delete") })
        }
    }
}
