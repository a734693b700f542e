import Foundation
import ObjectStorage
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    @Suite("Uploads of files that change")
    struct ChangingUploadTests {
        private func content(_ fixture: MirrorFixture, _ key: ObjectKey) async throws -> Data {
            let store = try fixture.store(StoreObserver())
            let (_, bytes) = try await store.read(GetRequest(key: key), limit: 64 << 20)
            return Data(bytes)
        }

        @Test func `a small file that changes after it was read is sent as it was, then anew`()
            async throws
        {
            let fixture = try MirrorFixture()
            let old = MirrorFixture.ramp(20_000)
            try fixture.write("a/small", old)
            let path = fixture.directory("a/small")
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject", call.moment == .before else { return }
                    let file = FileHandle(forUpdatingAtPath: path)
                    try? file?.write(contentsOf: Data([0xFF]))
                    try? file?.close()
                }
            }
            let push = try await engine.run(.push, options: MirrorFixture.options()) { _ in }
            #expect(push.transferred == 1)
            #expect(try await content(fixture, "mirror/small") == old)
            #expect(try await fixture.run("a", .push).transferred == 1)
            let new = fixture.content("a/small")
            #expect(new != old)
            #expect(try await content(fixture, "mirror/small") == new)
        }

        /// Pushes a file of `size` bytes that changes when the store has its object and the answer
        /// is lost; `error` is what comes instead, perhaps that of a repeated request.
        private func pushChanging(
            _ fixture: MirrorFixture,
            size: Int,
            _ error: (status: Int, code: String)
        ) async throws -> RunSummary {
            let path = fixture.directory("a/file")
            try fixture.write("a/file", MirrorFixture.ramp(size))
            try fixture.setModified("a/file", Date(timeIntervalSince1970: 1_600_000_000))
            let engine = try fixture.engine("a") { store in
                HookedStore(store) { call throws(StorageError) in
                    guard call.operation == "PutObject", call.moment == .after else { return }
                    let file = FileHandle(forUpdatingAtPath: path)
                    try? file?.write(contentsOf: Data([0xFF]))
                    try? file?.close()
                    throw StorageError(
                        kind: .service(status: error.status, code: error.code),
                        operation: call.operation
                    )
                }
            }
            return try await engine.run(.push, options: MirrorFixture.options()) { _ in }
        }

        @Test(
            arguments: [0, 20_000, 60_000],
            [
                (500, "InternalError"), (409, "FileAlreadyExists"),
            ]
        )
        func `a file that changes while the answer is lost is no other writer's`(
            size: Int,
            error: (status: Int, code: String)
        ) async throws {
            let fixture = try MirrorFixture()
            let push = try await pushChanging(fixture, size: size, error)
            // What was sent of a large one is not known any more.
            if size <= 20_000 {
                #expect((push.transferred, push.conflicts) == (1, 0))
                #expect(push.bytes == size)
                #expect(try await content(fixture, "mirror/file") == MirrorFixture.ramp(size))
            }
            let next = try await fixture.run("a", .push)
            #expect((next.transferred, next.conflicts) == (1, 0))
            let new = fixture.content("a/file")
            #expect(new != MirrorFixture.ramp(size))
            #expect(try await content(fixture, "mirror/file") == new)
        }
    }
}
