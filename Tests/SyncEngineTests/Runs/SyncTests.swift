import Foundation
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("A sync")
    struct SyncTests {
        private func ramp(_ count: Int, _ seed: Int = 0) -> Data { MirrorFixture.ramp(count, seed) }

        /// Two directories in step with one remote, by syncs.
        private func twins(_ files: [String: Data]) async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for (path, content) in files { try fixture.write("a/" + path, content) }
            try fixture.makeDirectory("b")
            try await fixture.run("a", .sync)
            try await fixture.run("b", .sync)
            return fixture
        }

        /// What a further sync finds: nothing to move, by the listing alone.
        private func expectRest(_ fixture: MirrorFixture, _ names: String...) async throws {
            for name in names {
                let again = try await fixture.run(name, .sync)
                #expect(again.isInStep)
                #expect(again.transferred == 0 && again.bytes == 0 && again.deleted == 0)
                #expect(again.requests == 1)
            }
        }

        @Test func `takes what either side changed, and rests then`() async throws {
            let fixture = try await twins(["x": ramp(10), "d/y": ramp(20), "z": ramp(30)])
            #expect(try fixture.tree("a") == fixture.tree("b"))
            try fixture.write("a/x", ramp(11, 1))
            try fixture.write("a/new", ramp(3 << 20))
            try await fixture.put("d/y", ramp(21, 1))
            try await fixture.put("d/other", ramp(22, 2))
            let both = try await fixture.run("a", .sync)
            #expect(both.transferred == 4)
            #expect(both.isInStep)
            #expect(fixture.content("a/d/y") == ramp(21, 1))
            #expect(fixture.content("a/d/other") == ramp(22, 2))
            #expect(try await fixture.object("x") == ramp(11, 1))
            #expect(try await fixture.run("b", .sync).transferred == 4)
            #expect(try fixture.tree("a") == fixture.tree("b"))
            try await expectRest(fixture, "a", "b")
        }

        @Test func `of two sides that never met adopts, takes, and keeps both`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/same", ramp(100))
            try fixture.write("a/mine", ramp(101, 1))
            try fixture.write("a/differs.txt", ramp(102, 2))
            try await fixture.put("same", ramp(100))
            try await fixture.put("theirs", ramp(103, 3))
            try await fixture.put("differs.txt", ramp(104, 4))
            let first = try await fixture.run("a", .sync) { $0.deletesExtra = true }
            #expect(first.adopted == 1)
            #expect(first.conflicts == 1)
            #expect(first.deleted == 0)
            #expect(fixture.content("a/theirs") == ramp(103, 3))
            #expect(fixture.content("a/differs.txt") == ramp(104, 4))
            #expect(try await fixture.object("mine") == ramp(101, 1))
            let kept = try fixture.tree("a").filter { $0.key.hasPrefix("differs.conflict-") }
            #expect(kept.values.map(\.self) == [ramp(102, 2)])
            // The version that was kept beside is a file like any other.
            #expect(try await fixture.run("a", .sync).transferred == 1)
            let objects = try await fixture.objects()
            #expect(Set(objects) == Set(try fixture.tree("a").keys))
            try await expectRest(fixture, "a")
        }

        @Test(
            arguments: [
                (.keepBoth, 102, 102), (.remote, 102, 102), (.local, 101, 101), (.skip, 101, 102),
            ] as [(ConflictPolicy, Int, Int)]
        )
        func `lets the policy decide where both changed`(
            policy: ConflictPolicy,
            local: Int,
            remote: Int
        ) async throws {
            let fixture = try await twins(["x": ramp(100)])
            try fixture.write("a/x", ramp(101))
            try await fixture.put("x", ramp(102))
            let log = EventLog()
            let summary = try await fixture.run("a", .sync, log) { $0.conflictPolicy = policy }
            #expect(summary.conflicts == 1)
            #expect(!summary.isInStep)
            #expect(fixture.content("a/x") == ramp(local))
            #expect(try await fixture.object("x") == ramp(remote))
            let copies = try fixture.tree("a").keys.filter { $0.contains(".conflict-") }
            #expect(copies.count == (policy == .keepBoth ? 1 : 0))
            let message = log.skipped("x") ?? ""
            #expect(message.hasPrefix("both sides changed it since the last run; "))
        }

        @Test func `ends at a conflict that is to fail`() async throws {
            let fixture = try await twins(["x": ramp(100)])
            try fixture.write("a/x", ramp(101))
            try await fixture.put("x", ramp(102))
            let error = await #expect(throws: TransferError.self) {
                try await fixture.run("a", .sync) { $0.conflictPolicy = .fail }
            }
            #expect(error?.code == .conflict)
            #expect(fixture.content("a/x") == ramp(101))
        }

        @Test func `brings back what one side removed and the other changed`() async throws {
            let fixture = try await twins(["x": ramp(10), "y": ramp(20), "z": ramp(30)])
            try fixture.remove("a/x")
            try await fixture.put("x", ramp(11))
            try fixture.write("a/y", ramp(21))
            try await fixture.deleteObject("y")
            let summary = try await fixture.run("a", .sync) { $0.deletesKnown = true }
            #expect(fixture.content("a/x") == ramp(11))
            #expect(try await fixture.object("y") == ramp(21))
            // Only a file that was to be removed elsewhere is a conflict: somebody wanted it gone.
            #expect(summary.conflicts == 1)
            #expect(summary.transferred == 2)
            try await expectRest(fixture, "a")
        }

        @Test func `lets removals over only if it is told to`() async throws {
            let fixture = try await twins(["x": ramp(10), "y": ramp(20), "z": ramp(30)])
            try fixture.remove("a/x")
            try await fixture.deleteObject("y")
            let careful = try await fixture.run("a", .sync)
            #expect(careful.deleted == 0)
            #expect(fixture.exists("a/y"))
            #expect(try await fixture.objects() == ["x", "z"])
            let both = try await fixture.run("a", .sync) { $0.deletesKnown = true }
            #expect(both.deleted == 2)
            #expect(try await fixture.objects() == ["z"])
            #expect(try fixture.tree("a") == ["z": ramp(30)])
            let trash = fixture.directory("a") + "/.osssync/trash"
            let kept = try FileManager.default.subpathsOfDirectory(atPath: trash)
            #expect(kept.contains { $0.hasSuffix("/y") })
            try await expectRest(fixture, "a")
        }

        @Test func `moves no bytes for renames on either side`() async throws {
            let fixture = try await twins(["x": ramp(2 << 20), "y": ramp(3 << 20, 1)])
            for (name, old, new) in [("a", "x", "x2"), ("b", "y", "y2")] {
                try FileManager.default.moveItem(
                    atPath: fixture.directory("\(name)/\(old)"),
                    toPath: fixture.directory("\(name)/\(new)")
                )
            }
            for name in ["a", "b", "a"] {
                let summary = try await fixture.run(name, .sync) { $0.deletesKnown = true }
                #expect(summary.bytes == 0)
                #expect(summary.isInStep)
            }
            #expect(try fixture.tree("a") == ["x2": ramp(2 << 20), "y2": ramp(3 << 20, 1)])
            #expect(try fixture.tree("a") == fixture.tree("b"))
            #expect(try await fixture.objects() == ["x2", "y2"])
        }

        @Test func `counts removals of both sides against one limit`() async throws {
            var files: [String: Data] = [:]
            for index in 10..<30 { files["f\(index)"] = ramp(index) }
            let fixture = try await twins(files)
            for index in 10..<16 { try fixture.remove("a/f\(index)") }
            for index in 20..<26 { try await fixture.deleteObject("f\(index)") }
            let error = await #expect(throws: TransferError.self) {
                try await fixture.run("a", .sync) { $0.deletesKnown = true }
            }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("12 deletions were held back") == true)
            #expect(try fixture.tree("a").count == 14)
            #expect(try await fixture.objects().count == 14)
            let allowed = try await fixture.run("a", .sync) { options in
                options.deletesKnown = true
                options.deletionLimit = .count(12)
            }
            #expect(allowed.deleted == 12)
        }

        @Test func `refuses a side that is empty where there was something`() async throws {
            let fixture = try await twins(["x": ramp(10), "y": ramp(20)])
            for key in ["x", "y"] {
                try fixture.remove("a/" + key)
                try await fixture.deleteObject(key)
            }
            try fixture.write("b/x", ramp(10))
            for name in ["a", "b"] {
                let error = await #expect(throws: TransferError.self) {
                    try await fixture.run(name, .sync) { $0.deletesKnown = true }
                }
                #expect(error?.code == .refused)
            }
            #expect(fixture.content("b/x") == ramp(10))
            #expect(fixture.content("b/y") == ramp(20))
        }

        @Test func `goes on in both ways where it was interrupted`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/up", ramp(4 << 20))
            try await fixture.put("down", ramp(8 << 20, 7))
            // Two parts of each way get through, the rest is stuck.
            try fixture.setFaults(
                """
                [{"match": {"operation": "UploadPart", "from": 3},
                  "effect": {"stallUpload": {"at": 1000}}},
                 {"match": {"operation": "GetObject", "from": 3},
                  "effect": {"stall": {"at": 1000}}}]
                """
            )
            let gate = ProgressGate(bytes: .max)
            let interrupted = try await withThrowingTaskGroup(of: TransferError.Code?.self) {
                group in
                group.addTask {
                    do throws(TransferError) {
                        _ = try await fixture.engineOrTrap("a").run(
                            .sync,
                            options: MirrorFixture.options(),
                            onEvent: { event in
                                guard case .progress(let progress) = event else { return }
                                let moved = progress.active.map(\.bytesFinished)
                                // What is received is kept; of what is sent, whole parts are.
                                if moved.count == 2, moved.allSatisfy({ $0 >= 2 << 20 }) {
                                    gate.open()
                                }
                            }
                        )
                        return nil
                    } catch {
                        return error.code
                    }
                }
                await gate.wait()
                group.cancelAll()
                return try await group.next() ?? nil
            }
            #expect(interrupted == .cancelled)
            try fixture.setFaults("[]")
            let status = try await fixture.engine("a").status(options: MirrorFixture.options())
            #expect(Set(status.interrupted.map(\.key)) == ["up", "down"])
            #expect(status.sync.transfers == 2)
            let summary = try await fixture.run("a", .sync)
            #expect(summary.transferred == 2)
            #expect(summary.bytesResumed >= 2 << 20)
            #expect(summary.bytes + summary.bytesResumed == 12 << 20)
            #expect(fixture.content("a/down") == ramp(8 << 20, 7))
            #expect(try await fixture.object("up") == ramp(4 << 20))
            try await expectRest(fixture, "a")
        }
    }
}
