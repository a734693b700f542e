internal import Foundation
package import ObjectStorage
internal import SyncModel
internal import Synchronization

/// What every `ObjectStore` must do: the client over each transport, its decorators, and the tests'
/// own stores.
///
/// Part of no test target, because both builds run it, with and without the C libraries.
package struct ObjectStoreContract: Sendable {
    /// A rule that a store breaks.
    package struct Violation: Error, CustomStringConvertible {
        let line: UInt

        package var description: String {
            "the rule of ObjectStoreContract.swift:\(line) is broken"
        }
    }

    package struct Rule: Sendable, CustomStringConvertible {
        package let description: String
        fileprivate let check: @Sendable (ObjectStoreContract) async throws -> Void

        /// Throws if `store`, which has an empty bucket, breaks the rule.
        package func check(_ store: any ObjectStore) async throws {
            try await check(ObjectStoreContract(store: store))
        }
    }

    package static let rules: [Rule] = [
        Rule(
            description: "an object is read back as it was written, whole, in ranges and by its tag"
        ) { try await $0.readsBack() },
        Rule(description: "the answer to the first request tells what an object is") {
            try await $0.opens()
        },
        Rule(description: "a write that forbids overwriting leaves an object as it is") {
            try await $0.forbidsOverwriting()
        },
        Rule(
            description:
                "a listing has each key below its prefix once, in byte order, over all pages"
        ) { try await $0.lists() },
        Rule(
            description:
                "an object appears when its upload is completed, and none when it is aborted"
        ) { try await $0.uploadsInParts() },
        Rule(description: "a copy has the content, and what is deleted is gone") {
            try await $0.copiesAndDeletes()
        },
    ]

    fileprivate let store: any ObjectStore

    private func require(_ isTrue: Bool, line: UInt = #line) throws {
        guard isTrue else { throw Violation(line: line) }
    }

    /// The error that `body` must throw.
    @discardableResult
    private static func failure<Value>(
        line: UInt = #line,
        _ body: () async throws -> Value
    ) async throws -> StorageError {
        do {
            _ = try await body()
        } catch let error as StorageError {
            return error
        }
        throw Violation(line: line)
    }

    private func put(_ key: ObjectKey, _ text: String) async throws -> ETag {
        let body = RequestBody.bytes([UInt8](text.utf8))
        return try await store.put(PutRequest(key: key), body: body, onProgress: { _ in }).etag
    }

    /// What a GET writes into a file.
    private func get(
        _ request: GetRequest,
        length: Int64
    ) async throws -> String {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data().write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
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

    private func readsBack() async throws {
        let etag = try await put("a", "0123456789")
        let head = try await store.head("a", versionID: nil)
        try require(head.etag == etag && head.size == 10)
        try await require(get(GetRequest(key: "a"), length: 10) == "0123456789")
        let range = ByteRange(offset: 3, length: 4)
        let request = GetRequest(key: "a", range: range, ifMatch: etag, totalSize: 10)
        try await require(get(request, length: 4) == "3456")
        _ = try await put("a", "9876543210")
        let error = try await Self.failure {
            try await get(request, length: 4)
        }
        try require(error.isPreconditionFailed == true)
    }

    private func opens() async throws {
        let etag = try await put("a", "0123456789")
        _ = try await put("empty", "")
        for (length, expected) in [(4, "0123"), (10, "0123456789"), (99, "0123456789")] {
            let held = Mutex<(sink: FileSink, opened: OpenedObject)?>(nil)
            let range = ByteRange(offset: 0, length: Int64(length))
            let request = GetRequest(key: "a", form: .bounded(range), conditions: ReadConditions())
            let metadata = try await store.open(request) { opened in
                let sink = FileSink(holding: opened.range.length) { _ in }
                held.withLock { $0 = (sink, opened) }
                return sink
            }
            try require(metadata.etag == etag)
            let found = held.withLock { $0 }
            let opened = found?.opened.metadata
            try require(opened?.etag == etag && opened?.size == 10)
            let bytes = found?.sink.withHeldBytes { bytes in
                (0..<bytes.byteCount).map { offset in
                    unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                }
            }
            try require(bytes == [UInt8](expected.utf8))
        }
        let range = RangeForm.bounded(ByteRange(offset: 0, length: 4))
        for (key, isEmpty) in [(ObjectKey("empty"), true), ("absent", false)] {
            let request = GetRequest(key: key, form: range, conditions: ReadConditions())
            let error = try await Self.failure {
                try await store.open(request) { _ in nil }
            }
            try require(error.isRangeNotSatisfiable == isEmpty && error.isNotFound == !isEmpty)
        }
    }

    private func forbidsOverwriting() async throws {
        let etag = try await put("a", "first")
        let error = try await Self.failure {
            let request = PutRequest(key: "a", forbidsOverwrite: true)
            _ = try await store.put(request, body: .bytes([1]), onProgress: { _ in })
        }
        try require(error.isAlreadyExists == true)
        try await require(store.head("a", versionID: nil).etag == etag)
    }

    private func lists() async throws {
        let keys: [ObjectKey] = ["p/A", "p/a", "p/a/b", "p/a0", "p/é"]
        for key in keys.reversed() + ["o", "q"] { _ = try await put(key, "x") }
        var request = ListRequest(prefix: "p/", maximumKeys: 2)
        var found: [ObjectKey] = []
        var pages = 0
        repeat {
            let page = try await store.list(request)
            found += page.objects.map(\.key)
            request.token = page.next
            pages += 1
        } while request.token != nil && pages < 10
        try require(found == keys)
        try require(pages == 3)
        let rest = ListRequest(prefix: "p/", startAfter: "p/a/b", maximumKeys: 2)
        try await require(store.list(rest).objects.map(\.key) == ["p/a0", "p/é"])
    }

    private func uploadsInParts() async throws {
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
            try require(parts.map(\.etag) == [part.etag])
            try await Self.failure { try await store.head("a", versionID: nil) }
            if isCompleted {
                let request = CompleteRequest(key: "a", upload: upload, parts: [part])
                _ = try await store.completeMultipartUpload(request)
            } else {
                try await store.abortMultipartUpload("a", upload)
                try await store.abortMultipartUpload("a", upload)
            }
        }
        try await require(get(GetRequest(key: "a"), length: 4) == "part")
    }

    private func copiesAndDeletes() async throws {
        let etag = try await put("a", "content")
        let request = CopyRequest(source: "a", sourceETag: etag, destination: "b")
        _ = try await store.copy(request)
        try await require(store.delete(["a", "never"]).isEmpty)
        let error = try await Self.failure {
            try await store.head("a", versionID: nil)
        }
        try require(error.isNotFound == true)
        try await require(get(GetRequest(key: "b"), length: 7) == "content")
    }
}
