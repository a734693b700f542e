package import ObjectStorage
package import SyncModel

/// A store that makes every request wait in one line for a connection.
///
/// A request keeps its place until the store has answered or thrown: for a download until its sink
/// has the last byte, and over all repetitions. No caller holds a place between two requests, so a
/// request never waits for one that is behind it in the line.
package struct LimitedStore: ObjectStore {
    private let store: any ObjectStore
    private let limiter: ConnectionLimiter
    private let budget: TransferBudget?
    private let mayChange: (@Sendable () async -> Bool)?
    /// What fails again and again.
    package let failures: FailureStreaks

    /// `mayChange` is asked before each attempt of a request that makes, replaces or deletes an
    /// object; one that may not be made is cancelled.
    package init(
        _ store: any ObjectStore,
        _ limiter: ConnectionLimiter,
        _ budget: TransferBudget? = nil,
        failures: FailureStreaks = FailureStreaks(),
        mayChange: (@Sendable () async -> Bool)? = nil
    ) {
        self.store = store
        self.limiter = limiter
        self.budget = budget
        self.mayChange = mayChange
        self.failures = failures
    }

    package var dialect: StorageDialect { store.dialect }

    /// Waits in the line, sends the request, which moves so many bytes of content, and leaves.
    private func limited<Value: Sendable>(
        _ operation: String,
        _ key: ObjectKey?,
        bytes: Int64 = 0,
        changes: Bool = false,
        isSuccess: (Value) -> Bool = { _ in true },
        _ request: () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let cancelled = StorageError(kind: .cancelled, operation: operation, key: key)
        // Without a place: what is under way may need one to end. Listings belong to no item.
        let budget = key == nil ? nil : budget
        if let budget, await !budget.begin(bytes) { throw cancelled }
        defer { budget?.end() }
        do {
            try await limiter.acquire(bytes: bytes)
        } catch {
            throw cancelled
        }
        let result: Result<Value, StorageError>
        if changes, let mayChange {
            let permission = RequestPermission(else: cancelled, mayChange)
            result = await RequestPermission.$current.withValue(permission) {
                await Self.result(request)
            }
        } else {
            result = await Self.result(request)
        }
        switch result {
        case .success(let value):
            limiter.release(bytes: bytes, isSuccess: true)
            if isSuccess(value) { failures.succeeded(operation) }
        case .failure: limiter.release(bytes: bytes, isSuccess: false)
        }
        return try result.get()
    }

    private static func result<Value: Sendable>(
        _ request: () async throws(StorageError) -> Value
    ) async -> Result<Value, StorageError> {
        do throws(StorageError) {
            return .success(try await request())
        } catch {
            return .failure(error)
        }
    }
}

// MARK: - Objects

extension LimitedStore {
    package func list(_ request: ListRequest) async throws(StorageError) -> ListPage {
        try await limited("ListObjectsV2", nil) { () throws(StorageError) in
            try await store.list(request)
        }
    }

    package func head(
        _ key: ObjectKey,
        versionID: VersionID?
    ) async throws(StorageError) -> ObjectMetadata {
        try await limited("HeadObject", key) { () throws(StorageError) in
            try await store.head(key, versionID: versionID)
        }
    }

    package func partSize(
        _ key: ObjectKey,
        of etag: ETag,
        versionID: VersionID?
    ) async throws(StorageError) -> Int64? {
        try await limited("HeadObject", key) { () throws(StorageError) in
            try await store.partSize(key, of: etag, versionID: versionID)
        }
    }

    package func symlinkTarget(_ key: ObjectKey) async throws(StorageError) -> ObjectKey {
        try await limited("GetSymlink", key) { () throws(StorageError) in
            try await store.symlinkTarget(key)
        }
    }

    package func get(
        _ request: GetRequest,
        into sink: FileSink
    ) async throws(StorageError) -> ObjectMetadata {
        try await limited("GetObject", request.key, bytes: sink.expectedLength) {
            () throws(StorageError) in
            try await store.get(request, into: sink)
        }
    }

    package func open(
        _ request: GetRequest,
        into makeSink: @escaping @Sendable (OpenedObject) async -> FileSink?
    ) async throws(StorageError) -> ObjectMetadata {
        try await limited("GetObject", request.key) { () throws(StorageError) in
            try await store.open(request, into: makeSink)
        }
    }

    package func put(
        _ request: PutRequest,
        body: RequestBody,
        onProgress: @escaping @Sendable (Int) -> Void
    ) async throws(StorageError) -> PutResult {
        try await limited("PutObject", request.key, bytes: body.length, changes: true) {
            () throws(StorageError) in
            try await store.put(request, body: body, onProgress: onProgress)
        }
    }

    package func copy(_ request: CopyRequest) async throws(StorageError) -> PutResult {
        try await limited("CopyObject", request.destination, changes: true) {
            () throws(StorageError) in
            try await store.copy(request)
        }
    }

    package func restore(
        _ key: ObjectKey,
        days: Int,
        tier: String?
    ) async throws(StorageError) {
        try await limited("RestoreObject", key) { () throws(StorageError) in
            try await store.restore(key, days: days, tier: tier)
        }
    }

    package func delete(_ keys: [ObjectKey]) async throws(StorageError) -> [ObjectKey: StorageError]
    {
        try await limited(
            "DeleteMultipleObjects",
            nil,
            changes: true,
            isSuccess: { $0.count < keys.count },
            { () throws(StorageError) in try await store.delete(keys) }
        )
    }
}

// MARK: - Uploads in parts

extension LimitedStore {
    package func initiateMultipartUpload(
        _ request: PutRequest
    ) async throws(StorageError) -> UploadID {
        try await limited("InitiateMultipartUpload", request.key) { () throws(StorageError) in
            try await store.initiateMultipartUpload(request)
        }
    }

    package func uploadPart(
        _ key: ObjectKey,
        _ upload: UploadID,
        _ number: PartNumber,
        body: RequestBody,
        onProgress: @escaping @Sendable (Int) -> Void
    ) async throws(StorageError) -> UploadedPart {
        try await limited("UploadPart", key, bytes: body.length) { () throws(StorageError) in
            try await store.uploadPart(key, upload, number, body: body, onProgress: onProgress)
        }
    }

    package func uploadPartCopy(_ request: PartCopyRequest) async throws(StorageError)
        -> UploadedPart
    {
        try await limited("UploadPartCopy", request.destination) { () throws(StorageError) in
            try await store.uploadPartCopy(request)
        }
    }

    package func listParts(
        _ key: ObjectKey,
        _ upload: UploadID,
        after: PartNumber?
    ) async throws(StorageError) -> ListPartsPage {
        try await limited("ListParts", key) { () throws(StorageError) in
            try await store.listParts(key, upload, after: after)
        }
    }

    package func completeMultipartUpload(
        _ request: CompleteRequest
    ) async throws(StorageError) -> PutResult {
        try await limited("CompleteMultipartUpload", request.key, changes: true) {
            () throws(StorageError) in
            try await store.completeMultipartUpload(request)
        }
    }

    package func abortMultipartUpload(
        _ key: ObjectKey,
        _ upload: UploadID
    ) async throws(StorageError) {
        try await limited("AbortMultipartUpload", key) { () throws(StorageError) in
            try await store.abortMultipartUpload(key, upload)
        }
    }

    package func listMultipartUploads(
        _ request: ListUploadsRequest
    ) async throws(StorageError) -> ListUploadsPage {
        try await limited("ListMultipartUploads", nil) { () throws(StorageError) in
            try await store.listMultipartUploads(request)
        }
    }
}
