import Foundation
import ObjectStorage
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("Uploads that a run could not record")
    struct OwnUploadTests {
        /// A push of the second version of `f` that ends after the object is there and before it is
        /// recorded.
        private func cutOff(
            _ fixture: MirrorFixture,
            _ direction: SyncDirection = .sync
        ) async throws {
            try fixture.write("a/f", MirrorFixture.ramp(1_000, 1))
            try await fixture.run("a", .sync)
            try fixture.write("a/f", MirrorFixture.ramp(2_000, 2))
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject", call.moment == .after else { return }
                    throw StorageError(kind: .cancelled, operation: call.operation)
                }
            }
            await #expect(throws: TransferError.self) {
                try await engine.run(direction, options: MirrorFixture.options()) { _ in }
            }
            #expect(try await fixture.object("f") == MirrorFixture.ramp(2_000, 2))
        }

        @Test(arguments: [SyncDirection.sync, .push])
        func `an edit after a run that was cut off is newer than what that run sent`(
            direction: SyncDirection
        ) async throws {
            let fixture = try MirrorFixture()
            try await cutOff(fixture, direction)
            try fixture.write("a/f", MirrorFixture.ramp(3_000, 3))
            // A pull sends nothing, and takes it for an edit as well.
            let pull = try await fixture.run("a", .pull)
            #expect(pull.conflicts == 0)
            #expect(pull.localChanges == 1)
            let status = try await fixture.engine("a").status(options: MirrorFixture.options())
            #expect(status.push.conflicts == 0 && status.push.transfers == 1, "\(status.push)")
            #expect(status.pull.conflicts == 0 && status.pull.localChanges == 1)
            let next = try await fixture.run("a", direction)
            #expect(next.conflicts == 0)
            #expect(next.transferred == 1)
            #expect(try await fixture.object("f") == MirrorFixture.ramp(3_000, 3))
            #expect(try fixture.tree("a") == ["f": MirrorFixture.ramp(3_000, 3)])
            #expect(try await fixture.run("a", direction).requests == 1)
        }

        @Test(arguments: [SyncDirection.sync, .push], [true, false])
        func `a file that was taken back after it is not replaced by what that run sent`(
            direction: SyncDirection,
            isRewritten: Bool
        ) async throws {
            let fixture = try MirrorFixture()
            try await cutOff(fixture, direction)
            let first = MirrorFixture.ramp(1_000, 1)
            try fixture.write("a/f", first)
            if !isRewritten {
                try fixture.setModified("a/f", Date(timeIntervalSince1970: 1_000_000))
            }
            let preview = try await fixture.run("a", direction) { $0.isDryRun = true }
            #expect(preview.conflicts == (isRewritten ? 0 : 1), "\(preview)")
            let pull = try await fixture.run("a", .pull) { $0.conflictPolicy = .skip }
            #expect((pull.localChanges, pull.conflicts) == (isRewritten ? (1, 0) : (0, 1)))
            #expect(fixture.content("a/f") == first)
            let next = try await fixture.run("a", direction)
            #expect(
                (next.transferred > 0, next.conflicts) == (
                    isRewritten || direction == .sync, isRewritten ? 0 : 1
                )
            )
            #expect(try fixture.tree("a").values.contains(first))
            if isRewritten { #expect(try await fixture.object("f") == first) }
        }

        @Test func `a pull that may replace edits replaces that one, too`() async throws {
            let fixture = try MirrorFixture()
            try await cutOff(fixture)
            try fixture.write("a/f", MirrorFixture.ramp(3_000, 3))
            let preview = try await fixture.run("a", .pull) {
                $0.replacesLocalChanges = true
                $0.isDryRun = true
            }
            #expect(preview.transferred == 1)
            let pull = try await fixture.run("a", .pull) { $0.replacesLocalChanges = true }
            #expect(pull.conflicts == 0)
            #expect(pull.transferred == 1)
            #expect(try fixture.tree("a") == ["f": MirrorFixture.ramp(2_000, 2)])
            #expect(try await fixture.run("a", .push).requests == 1)
        }

        @Test func `a file that is older than what that run sent is a conflict`() async throws {
            let fixture = try MirrorFixture()
            try await cutOff(fixture)
            try fixture.write("a/f", MirrorFixture.ramp(3_000, 3))
            try fixture.setModified("a/f", Date(timeIntervalSince1970: 1_000_000))
            let next = try await fixture.run("a", .sync)
            #expect(next.conflicts == 1)
            #expect(Set(try fixture.tree("a").values).contains(MirrorFixture.ramp(3_000, 3)))
            #expect(fixture.content("a/f") == MirrorFixture.ramp(2_000, 2))
        }

        @Test func `what another directory's run sent is a conflict`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/f", MirrorFixture.ramp(1_000, 1))
            try fixture.makeDirectory("b")
            try await fixture.run("a", .sync)
            try await fixture.run("b", .sync)
            try await cutOff(fixture)
            try fixture.write("b/f", MirrorFixture.ramp(3_000, 3))
            let other = try await fixture.run("b", .push)
            #expect(other.conflicts == 1)
            #expect(try await fixture.object("f") == MirrorFixture.ramp(2_000, 2))
        }

        @Test func `an object that was recorded after all is no unrecorded one`() async throws {
            let fixture = try MirrorFixture()
            try await cutOff(fixture)
            // The run after it finds the same content, and records that.
            try await fixture.run("a", .push)
            try await fixture.put("f", MirrorFixture.ramp(2_500, 4))
            try fixture.write("a/f", MirrorFixture.ramp(3_000, 3))
            let next = try await fixture.run("a", .push)
            #expect(next.conflicts == 1)
            #expect(try await fixture.object("f") == MirrorFixture.ramp(2_500, 4))
        }

        /// Replaces an object as a tool does that keeps its metadata.
        private func replace(_ fixture: MirrorFixture, _ content: Data) async throws {
            let (store, key) = (try fixture.store(StoreObserver()), ObjectKey("mirror/f"))
            let metadata = try await store.head(key, versionID: nil).userMetadata
            #expect(metadata[StorageDialect.tokenMetadataName] != nil)
            let request = PutRequest(
                key: key,
                userMetadata: metadata.map { (name: $0.key, value: $0.value) }
            )
            _ = try await store.put(request, body: .bytes([UInt8](content))) { _ in }
        }

        @Test(
            arguments: [StorageDialect.oss, .s3],
            [("PutObject", 2_000), ("CompleteMultipartUpload", 6 << 20)]
        )
        func `what another writer put in place of ours with its metadata is not recorded`(
            dialect: StorageDialect,
            request: (operation: String, size: Int)
        ) async throws {
            let fixture = try MirrorFixture(dialect: dialect)
            try fixture.write("a/f", MirrorFixture.ramp(request.size, 1))
            let theirs = MirrorFixture.ramp(request.size, 2)
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == request.operation, call.moment == .after,
                        call.number == 1
                    else { return }
                    do {
                        try await replace(fixture, theirs)
                    } catch {
                        Issue.record(error)
                    }
                    throw StorageError(
                        kind: .transport(.connectionLost),
                        operation: call.operation
                    )
                }
            }
            let options = MirrorFixture.options()
            let push = try await engine.run(.push, options: options) { _ in }
            #expect(push.transferred == 0)
            #expect(push.isInStep == false)
            let next = try await fixture.run("a", .push)
            #expect((next.transferred, next.conflicts) == (0, 1))
            let object = try await fixture.store(StoreObserver()).head("mirror/f", versionID: nil)
            let digest = hexadecimalText(Digest.md5([UInt8](theirs)))
            #expect(object.etag?.md5Digest == digest)
        }

        @Test func `what another writer put with the metadata of ours is a conflict`()
            async throws
        {
            let fixture = try MirrorFixture()
            try await cutOff(fixture)
            try await replace(fixture, MirrorFixture.ramp(2_500, 4))
            try fixture.write("a/f", MirrorFixture.ramp(3_000, 3))
            let next = try await fixture.run("a", .push)
            #expect(next.conflicts == 1)
            #expect(try await fixture.object("f") == MirrorFixture.ramp(2_500, 4))
        }

        @Test func `in a backup of the directory from before it is a conflict`() async throws {
            let fixture = try MirrorFixture()
            func engine(
                through: (any ObjectStore) -> any ObjectStore = { $0 }
            ) throws -> MirrorEngine {
                var engine = try fixture.engine("a", through: through)
                engine.settings.stateDirectory = fixture.directory("state")
                return engine
            }
            try fixture.write("a/other", MirrorFixture.ramp(10))
            _ = try await engine().run(.sync, options: MirrorFixture.options()) { _ in }
            try fixture.copy("a", "backup")
            try fixture.write("a/f", MirrorFixture.ramp(2_000, 2))
            let cutOff = try engine { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject", call.moment == .after else { return }
                    throw StorageError(kind: .cancelled, operation: call.operation)
                }
            }
            await #expect(throws: TransferError.self) {
                try await cutOff.run(.sync, options: MirrorFixture.options()) { _ in }
            }
            for name in try fixture.names(in: "a") { try fixture.remove("a/" + name) }
            try fixture.copy("backup/.", "a")
            try fixture.write("a/f", MirrorFixture.ramp(3_000, 3))
            let next = try await engine().run(.sync, options: MirrorFixture.options()) { _ in }
            #expect(next.conflicts == 1)
            #expect(try await fixture.object("f") == MirrorFixture.ramp(2_000, 2))
        }

        @Test func `in a copy of the directory it is a conflict`() async throws {
            let fixture = try MirrorFixture()
            try await cutOff(fixture)
            try FileManager.default.copyItem(
                atPath: fixture.directory("a"),
                toPath: fixture.directory("b")
            )
            try fixture.write("b/f", MirrorFixture.ramp(3_000, 3))
            for _ in 0..<2 {
                let copy = try await fixture.run("b", .push)
                #expect(copy.conflicts == 1)
            }
            #expect(try await fixture.object("f") == MirrorFixture.ramp(2_000, 2))
        }
    }
}
