import ObjectStorage
import SyncModel
import Synchronization

/// A store that asks a closure before and after each request, and can make pages small.
final class HookedStore: ObjectStore {
    enum Moment: Sendable { case before, after }

    struct Call: Sendable {
        let operation: String
        /// For a listing, its prefix.
        let key: String
        let moment: Moment
        /// Counted from 1 for each operation.
        let number: Int
        /// The version that a GET asks for.
        var ifMatch: ETag?
        /// The part that a request sends.
        var part: PartNumber?
    }

    typealias Hook = @Sendable (Call) async throws(StorageError) -> Void

    private let store: any ObjectStore
    private let pageSize: Int
    private let hook: Hook
    private let counts = Mutex<[String: Int]>([:])
    private let gauge = Gauge()

    init(_ store: any ObjectStore, pageSize: Int = 1_000, hook: @escaping Hook) {
        self.store = store
        self.pageSize = pageSize
        self.hook = hook
    }

    var dialect: StorageDialect { store.dialect }

    func count(_ operation: String) -> Int {
        counts.withLock { $0[operation, default: 0] }
    }

    /// The largest number of requests that were under way at once.
    var mostAtOnce: Int { gauge.peak }

    private func around<Value: Sendable>(
        _ operation: String,
        _ key: ObjectKey?,
        ifMatch: ETag? = nil,
        part: PartNumber? = nil,
        _ body: () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let number = counts.withLock { counts in
            counts[operation, default: 0] += 1
            return counts[operation, default: 0]
        }
        func call(_ moment: Moment) -> Call {
            Call(
                operation: operation,
                key: key?.display ?? "",
                moment: moment,
                number: number,
                ifMatch: ifMatch,
                part: part
            )
        }
        gauge.enter()
        defer { gauge.leave() }
        try await hook(call(.before))
        let value = try await body()
        try await hook(call(.after))
        return value
    }
}

extension HookedStore {
    func list(_ request: ListRequest) async throws(StorageError) -> ListPage {
        var request = request
        request.maximumKeys = min(request.maximumKeys, pageSize)
        let asked = request
        return try await around("ListObjectsV2", request.prefix) { () throws(StorageError) in
            try await store.list(asked)
        }
    }

    func head(
        _ key: ObjectKey,
        versionID: VersionID?
    ) async throws(StorageError) -> ObjectMetadata {
        try await around("HeadObject", key) { () throws(StorageError) in
            try await store.head(key, versionID: versionID)
        }
    }

    func partSize(
        _ key: ObjectKey,
        of etag: ETag,
        versionID: VersionID?
    ) async throws(StorageError) -> Int64? {
        try await around("HeadObject", key) { () throws(StorageError) in
            try await store.partSize(key, of: etag, versionID: versionID)
        }
    }

    func get(
        _ request: GetRequest,
        into sink: FileSink
    ) async throws(StorageError) -> ObjectMetadata {
        try await around("GetObject", request.key, ifMatch: request.conditions.ifMatch) {
            () throws(StorageError) in
            try await store.get(request, into: sink)
        }
    }

    func open(
        _ request: GetRequest,
        into makeSink: @escaping @Sendable (OpenedObject) async -> FileSink?
    ) async throws(StorageError) -> ObjectMetadata {
        try await around("GetObject", request.key, ifMatch: request.conditions.ifMatch) {
            () throws(StorageError) in
            try await store.open(request, into: makeSink)
        }
    }

    func put(
        _ request: PutRequest,
        body: RequestBody,
        onProgress: @escaping @Sendable (Int) -> Void
    ) async throws(StorageError) -> PutResult {
        try await around("PutObject", request.key) { () throws(StorageError) in
            try await store.put(request, body: body, onProgress: onProgress)
        }
    }

    func initiateMultipartUpload(
        _ request: PutRequest
    ) async throws(StorageError) -> UploadID {
        try await around("InitiateMultipartUpload", request.key) { () throws(StorageError) in
            try await store.initiateMultipartUpload(request)
        }
    }

    func uploadPart(
        _ key: ObjectKey,
        _ upload: UploadID,
        _ number: PartNumber,
        body: RequestBody,
        onProgress: @escaping @Sendable (Int) -> Void
    ) async throws(StorageError) -> UploadedPart {
        try await around("UploadPart", key, part: number) { () throws(StorageError) in
            try await store.uploadPart(key, upload, number, body: body, onProgress: onProgress)
        }
    }

    func listParts(
        _ key: ObjectKey,
        _ upload: UploadID,
        after: PartNumber?
    ) async throws(StorageError) -> ListPartsPage {
        try await around("ListParts", key) { () throws(StorageError) in
            try await store.listParts(key, upload, after: after)
        }
    }

    func completeMultipartUpload(
        _ request: CompleteRequest
    ) async throws(StorageError) -> PutResult {
        try await around("CompleteMultipartUpload", request.key) { () throws(StorageError) in
            try await store.completeMultipartUpload(request)
        }
    }

    func abortMultipartUpload(
        _ key: ObjectKey,
        _ upload: UploadID
    ) async throws(StorageError) {
        try await around("AbortMultipartUpload", key) { () throws(StorageError) in
            try await store.abortMultipartUpload(key, upload)
        }
    }

    func listMultipartUploads(
        _ request: ListUploadsRequest
    ) async throws(StorageError) -> ListUploadsPage {
        try await around("ListMultipartUploads", request.prefix) { () throws(StorageError) in
            try await store.listMultipartUploads(request)
        }
    }

    func copy(_ request: CopyRequest) async throws(StorageError) -> PutResult {
        try await around("CopyObject", request.destination) { () throws(StorageError) in
            try await store.copy(request)
        }
    }

    func uploadPartCopy(_ request: PartCopyRequest) async throws(StorageError) -> UploadedPart {
        try await around("UploadPartCopy", request.destination) { () throws(StorageError) in
            try await store.uploadPartCopy(request)
        }
    }

    func delete(_ keys: [ObjectKey]) async throws(StorageError) -> [ObjectKey: StorageError] {
        try await around("DeleteMultipleObjects", keys.first) { () throws(StorageError) in
            try await store.delete(keys)
        }
    }

    func restore(_ key: ObjectKey, days: Int, tier: String?) async throws(StorageError) {
        try await around("RestoreObject", key) { () throws(StorageError) in
            try await store.restore(key, days: days, tier: tier)
        }
    }

    func symlinkTarget(_ key: ObjectKey) async throws(StorageError) -> ObjectKey {
        try await around("GetSymlink", key) { () throws(StorageError) in
            try await store.symlinkTarget(key)
        }
    }
}
