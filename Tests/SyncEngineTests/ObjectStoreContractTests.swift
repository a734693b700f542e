import Foundation
import ObjectStorage
import ObjectTransfer
import SyncModel
import Synchronization
import Testing

@testable import SyncEngine

/// What every ``ObjectStore`` must do: the real client, its decorators and the tests' own stores.
@Suite("The contract of a store", .serialized, .timeLimit(.minutes(10)))
struct ObjectStoreContractTests {
    enum Kind: CaseIterable, Sendable {
        case client, limited, hooked
    }

    private let fixture: MirrorFixture

    init() throws { fixture = try MirrorFixture() }

    private func store(_ kind: Kind) throws -> any ObjectStore {
        let client = try fixture.store(StoreObserver())
        switch kind {
        case .client: return client
        case .limited:
            let limiter = makeLimiter(1, byteBudget: 1)
            return LimitedStore(client, limiter)
        case .hooked: return HookedStore(client, pageSize: 2) { _ in }
        }
    }

    private func put(_ key: ObjectKey, _ text: String, in store: any ObjectStore) async throws
        -> ETag
    {
        let body = RequestBody.bytes([UInt8](text.utf8))
        return try await store.put(PutRequest(key: key), body: body, onProgress: { _ in }).etag
    }

    /// What a GET writes into a file.
    private func get(
        _ request: GetRequest,
        length: Int64,
        from store: any ObjectStore
    ) async throws -> String {
        let url = fixture.folder.appendingPathComponent(UUID().uuidString)
        try Data().write(to: url)
        let file = try FileHandle(forUpdating: url)
        let sink = FileSink(
            descriptor: file.fileDescriptor,
            fileOffset: 0,
            expectedLength: length,
            initialChecksum: CRC64(),
            checkpointInterval: .max,
            maximumUnacknowledged: .max,
            onCheckpoint: { _, _ in },
            onProgress: { _ in }
        )
        _ = try await store.get(request, into: sink)
        try file.close()
        return String(decoding: try Data(contentsOf: url), as: UTF8.self)
    }

    @Test(arguments: Kind.allCases)
    func `an object is read back as it was written, whole, in ranges and by its tag`(
        kind: Kind
    ) async throws {
        let store = try store(kind)
        let etag = try await put("a", "0123456789", in: store)
        let head = try await store.head("a", versionID: nil)
        #expect(head.etag == etag && head.size == 10)
        #expect(try await get(GetRequest(key: "a"), length: 10, from: store) == "0123456789")
        let range = ByteRange(offset: 3, length: 4)
        let request = GetRequest(key: "a", range: range, ifMatch: etag, totalSize: 10)
        #expect(try await get(request, length: 4, from: store) == "3456")
        _ = try await put("a", "9876543210", in: store)
        let error = await #expect(throws: StorageError.self) {
            try await get(request, length: 4, from: store)
        }
        #expect(error?.isPreconditionFailed == true)
    }

    @Test(arguments: Kind.allCases)
    func `the answer to the first request tells what an object is`(kind: Kind) async throws {
        let store = try store(kind)
        let etag = try await put("a", "0123456789", in: store)
        _ = try await put("empty", "", in: store)
        for (length, expected) in [(4, "0123"), (10, "0123456789"), (99, "0123456789")] {
            let held = Mutex<FileSink?>(nil)
            let range = ByteRange(offset: 0, length: Int64(length))
            let request = GetRequest(key: "a", form: .bounded(range), conditions: ReadConditions())
            let metadata = try await store.open(request) { opened in
                #expect(opened.metadata.etag == etag && opened.metadata.size == 10)
                let sink = FileSink(holding: opened.range.length) { _ in }
                held.withLock { $0 = sink }
                return sink
            }
            #expect(metadata.etag == etag)
            let bytes = held.withLock { $0 }?.withHeldBytes { bytes in
                (0..<bytes.byteCount).map { offset in
                    unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                }
            }
            #expect(bytes == [UInt8](expected.utf8))
        }
        let range = RangeForm.bounded(ByteRange(offset: 0, length: 4))
        for (key, isEmpty) in [(ObjectKey("empty"), true), ("absent", false)] {
            let request = GetRequest(key: key, form: range, conditions: ReadConditions())
            let error = await #expect(throws: StorageError.self) {
                try await store.open(request) { _ in nil }
            }
            #expect(error?.isRangeNotSatisfiable == isEmpty && error?.isNotFound == !isEmpty)
        }
    }

    @Test(arguments: Kind.allCases)
    func `a write that forbids overwriting leaves an object as it is`(kind: Kind) async throws {
        let store = try store(kind)
        let etag = try await put("a", "first", in: store)
        let error = await #expect(throws: StorageError.self) {
            let request = PutRequest(key: "a", forbidsOverwrite: true)
            _ = try await store.put(request, body: .bytes([1]), onProgress: { _ in })
        }
        #expect(error?.isAlreadyExists == true)
        #expect(try await store.head("a", versionID: nil).etag == etag)
    }

    @Test(arguments: Kind.allCases)
    func `a listing has each key below its prefix once, in byte order, over all pages`(
        kind: Kind
    ) async throws {
        let store = try store(kind)
        let keys: [ObjectKey] = ["p/A", "p/a", "p/a/b", "p/a0", "p/é"]
        for key in keys.reversed() + ["o", "q"] { _ = try await put(key, "x", in: store) }
        var request = ListRequest(prefix: "p/", maximumKeys: 2)
        var found: [ObjectKey] = []
        var pages = 0
        repeat {
            let page = try await store.list(request)
            found += page.objects.map(\.key)
            request.token = page.next
            pages += 1
        } while request.token != nil && pages < 10
        #expect(found == keys)
        #expect(pages == 3)
        let rest = ListRequest(prefix: "p/", startAfter: "p/a/b", maximumKeys: 2)
        #expect(try await store.list(rest).objects.map(\.key) == ["p/a0", "p/é"])
    }

    @Test(arguments: Kind.allCases)
    func `an object appears when its upload is completed, and none when it is aborted`(
        kind: Kind
    ) async throws {
        let store = try store(kind)
        let number = PartNumber(index: 0)
        for isCompleted in [false, true] {
            let upload = try await store.initiateMultipartUpload(PutRequest(key: "a"))
            let part = try await store.uploadPart(
                "a",
                upload,
                number,
                body: .bytes([UInt8]("part".utf8)),
                onProgress: { _ in }
            )
            let parts = try await store.listParts("a", upload, after: nil).parts
            #expect(parts.map(\.etag) == [part.etag])
            await #expect(throws: StorageError.self) { try await store.head("a", versionID: nil) }
            if isCompleted {
                let request = CompleteRequest(key: "a", upload: upload, parts: [part])
                _ = try await store.completeMultipartUpload(request)
            } else {
                try await store.abortMultipartUpload("a", upload)
                try await store.abortMultipartUpload("a", upload)
            }
        }
        #expect(try await get(GetRequest(key: "a"), length: 4, from: store) == "part")
    }

    @Test(arguments: Kind.allCases)
    func `a copy has the content, and what is deleted is gone`(kind: Kind) async throws {
        let store = try store(kind)
        let etag = try await put("a", "content", in: store)
        let request = CopyRequest(source: "a", sourceETag: etag, destination: "b")
        _ = try await store.copy(request)
        #expect(try await store.delete(["a", "never"]).isEmpty)
        let error = await #expect(throws: StorageError.self) {
            try await store.head("a", versionID: nil)
        }
        #expect(error?.isNotFound == true)
        #expect(try await get(GetRequest(key: "b"), length: 7, from: store) == "content")
    }
}
