import Foundation
import ManifestStore
import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("What is kept of a run")
    struct RunRecordTests {
        /// The last run and its items, from the manifest of a directory.
        private func lastRun(
            _ fixture: MirrorFixture,
            _ name: String
        ) async throws -> (run: StoredRun, items: [RunItem]) {
            let (manifest, _) = try await ManifestStore.open(
                directory: fixture.directory(name) + "/.osssync",
                now: MirrorFixture.now(),
                usesWriteAheadLog: true,
                threads: .system,
                smallestSearchable: 0
            )
            let run = try #require(try await manifest.rows(.runs, limit: 1).first)
            let items = try await manifest.rows(.items(run: run.id), limit: 100)
            try await manifest.checkpointAndClose()
            return (run, items.map(\.item))
        }

        @Test func `what was deleted or went wrong in a run stands in the manifest`() async throws {
            let fixture = try MirrorFixture()
            for name in ["bad", "good", "gone", "mine"] {
                try fixture.write("a/\(name)", MirrorFixture.ramp(100, name.count))
            }
            try await fixture.run("a", .push)
            try await fixture.run("b", .pull)
            try fixture.remove("a/gone")
            try await fixture.run("a", .push) { $0.deletesKnown = true }
            let deleted = try await lastRun(fixture, "a")
            #expect(deleted.run.record?.outcome == .complete)
            #expect(
                deleted.items == [
                    RunItem(
                        key: "gone",
                        action: "delete-remote",
                        state: "done",
                        message: "deleted"
                    )
                ]
            )
            for name in ["bad", "good", "mine"] {
                try fixture.write("a/\(name)", MirrorFixture.ramp(200, name.count))
            }
            try fixture.write("b/mine", MirrorFixture.ramp(300))
            try await fixture.run("a", .push)
            try await fixture.put("../x", MirrorFixture.ramp(10))
            try fixture.setFaults(
                """
                [{"match": {"operation": "GetObject", "key": "mirror/bad"},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """
            )
            try await fixture.run("b", .pull) { $0.deletesKnown = true }
            let pulled = try await lastRun(fixture, "b")
            #expect(pulled.run.record?.outcome == .incomplete)
            let words = Set(
                pulled.items.map { item in
                    let name = item.key.isConflictCopy ? "copy" : item.key.display
                    return "\(name) \(item.action) \(item.state)"
                }
            )
            #expect(
                words == [
                    "bad download failed", "mine conflict skipped", "../x skip skipped",
                    "mine download done", "good download done", "copy conflict done",
                ]
            )
            // What was only transferred comes last.
            #expect(pulled.items.last?.key == "good")
            #expect(pulled.items.last?.message == "file-replaced")
            #expect(pulled.items.dropLast().allSatisfy { $0.message?.isEmpty == false })
        }

        @Test func `another remote has had no success yet`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", MirrorFixture.ramp(100))
            try await fixture.run("a", .push)
            let status = try await fixture.engine("a").status(options: MirrorFixture.options())
            #expect(Set(status.lastSuccess.keys) == [.push])
            var engine = try fixture.engine("a")
            engine.settings.identity = RemoteIdentity(
                dialect: "oss",
                endpointHost: "127.0.0.1",
                bucket: MirrorFixture.bucket,
                prefix: "other/"
            )
            _ = try await engine.run(
                .pull,
                options: MirrorFixture.options { $0.allowsRebinding = true },
                onEvent: { _ in }
            )
            let other = try await engine.status(options: MirrorFixture.options())
            #expect(Set(other.lastSuccess.keys) == [.pull])
        }

        @Test func `a run that was stopped says so in its summary and its record`() async throws {
            let fixture = try MirrorFixture()
            for index in 0..<20 { try fixture.write("a/f\(index)", Data([1])) }
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject", call.number == 3 else { return }
                    throw StorageError(
                        kind: .service(status: 403, code: "SecurityTokenExpired"),
                        operation: call.operation
                    )
                }
            }
            let log = EventLog()
            let error = await #expect(throws: TransferError.self) {
                try await engine.run(.push, options: MirrorFixture.options(), onEvent: log.add)
            }
            let summary = try #require(log.summary)
            #expect(summary.stopped == error?.message)
            // As of a listing that is refused so.
            #expect(error?.code == .expired)
            #expect(!summary.isInStep)
            #expect(try await lastRun(fixture, "a").run.record?.outcome == .failed)
        }

        @Test func `an interrupted run is not in step`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", MirrorFixture.ramp(100))
            let log = EventLog()
            let gate = ProgressGate(bytes: 1)
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject" else { return }
                    gate.open()
                    // Until the run is cancelled, which is what the request then says.
                    try? await ContinuousClock().sleep(for: .seconds(600))
                    throw StorageError(kind: .cancelled, operation: call.operation)
                }
            }
            let run = Task {
                try await engine.run(
                    .push,
                    options: MirrorFixture.options(),
                    onEvent: log.add
                )
            }
            await gate.wait()
            run.cancel()
            await #expect(throws: TransferError.self) { try await run.value }
            let summary = try #require(log.summary)
            #expect(summary.stopped?.contains("interrupted") == true)
            #expect(!summary.isInStep)
            #expect(try await lastRun(fixture, "a").run.record?.outcome == .cancelled)
        }

        @Test func `an item that was cancelled is not called done`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", MirrorFixture.ramp(100))
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject" else { return }
                    throw StorageError(kind: .cancelled, operation: call.operation)
                }
            }
            let error = await #expect(throws: TransferError.self) {
                try await engine.run(.push, options: MirrorFixture.options()) { _ in }
            }
            #expect(error?.code == .cancelled)
        }

        @Test func `what vanishes is counted, and holds back only deletions`() async throws {
            let fixture = try MirrorFixture()
            for name in ["f", "g", "h"] { try fixture.write("a/\(name)", MirrorFixture.ramp(10)) }
            try await fixture.run("a", .push)
            try await fixture.run("b", .pull)
            try fixture.write("a/f", MirrorFixture.ramp(20))
            try await fixture.run("a", .push)
            let vanish = """
                [{"match": {"operation": "GetObject", "key": "mirror/f"},
                  "effect": {"deleteObject": {"at": 0}}}]
                """
            try fixture.setFaults(vanish)
            let pull = try await fixture.run("b", .pull)
            #expect((pull.vanished, pull.failed) == (1, 0))
            #expect(pull.isComplete)
            try fixture.write("a/f", MirrorFixture.ramp(30))
            try await fixture.run("a", .push)
            // With --delete the file should go, and may not yet.
            let deleting = try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(deleting.vanished == 1)
            #expect(deleting.deletionsHeldBack?.contains("1 object disappeared") == true)
            #expect(!deleting.isInStep)
            #expect(fixture.content("b/f") == MirrorFixture.ramp(10))
            try fixture.setFaults("[]")
            let last = try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect((last.deleted, last.isInStep) == (1, true))
        }

        @Test func `a dry run counts a rename as one`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/old", MirrorFixture.ramp(3_000))
            try await fixture.run("a", .push)
            try await fixture.run("b", .pull)
            try FileManager.default.moveItem(
                atPath: fixture.directory("a/old"),
                toPath: fixture.directory("a/new")
            )
            let log = EventLog()
            let preview = try await fixture.run("a", .push, log) { $0.isDryRun = true }
            #expect((preview.renamed, preview.transferred, preview.bytes) == (1, 0, 0))
            #expect(log.items.map(\.action) == [.copyRemote])
            #expect(try await fixture.run("a", .push) { $0.deletesKnown = true }.renamed == 1)
            let pull = try await fixture.run("b", .pull) {
                $0.isDryRun = true
                $0.deletesKnown = true
            }
            #expect((pull.renamed, pull.transferred, pull.deleted) == (1, 0, 0))
            #expect(!fixture.exists("b/new"))
            #expect(try await fixture.run("b", .pull).renamed == 1)
        }
    }
}
