package import SyncModel

/// What can be read of a bucket, as it is or as it was.
///
/// Every operation retries what is safe to repeat, and throws what is left. A cancelled task's call
/// throws an error whose `isCancelled` is true, and touches no sink and no descriptor afterwards.
package protocol ObjectReader: Sendable {
    /// What the service can do and allows.
    var dialect: StorageDialect { get }
    /// What encrypts the contents of files; nil where they are stored as they are.
    var cipher: ContentCipher? { get }
    /// True if an encrypted object, which nothing here decrypts, is not taken for a file.
    var refusesSealed: Bool { get }

    func list(_ request: ListRequest) async throws(StorageError) -> ListPage
    func head(_ key: ObjectKey, versionID: VersionID?) async throws(StorageError) -> ObjectMetadata
    /// Bytes of the first of the parts that an object was made of; nil where the store does not
    /// tell it. The one operation that is not repeated: a proof depends on it, and nothing else.
    func partSize(
        _ key: ObjectKey,
        of etag: ETag,
        versionID: VersionID?
    ) async throws(StorageError) -> Int64?

    /// Stores one object, or one range of it, through `sink`.
    ///
    /// Retries inside, continuing after what the sink has received; the count of attempts starts
    /// over when bytes arrived. A range answered with the whole object, another `Content-Range`,
    /// another ETag, a short or long body and an encoding that the object does not have are errors.
    func get(_ request: GetRequest, into sink: FileSink) async throws(StorageError)
        -> ObjectMetadata

    /// Asks for the beginning of an object, `form`, of which nothing need be known: the answer's
    /// head takes the place of a HEAD.
    ///
    /// `makeSink` is called once at most, when the head has come, and the body waits for the sink
    /// it returns; nil if the body is not wanted. It must not make requests. Repeated and continued
    /// like ``get(_:into:)``; not continued where the server ignores ranges.
    func open(
        _ request: GetRequest,
        into makeSink: @escaping @Sendable (OpenedObject) async -> FileSink?
    ) async throws(StorageError) -> ObjectMetadata

    /// The key that a link object leads to.
    func symlinkTarget(_ key: ObjectKey) async throws(StorageError) -> ObjectKey
}

/// One request to a store, and what those between need to know of it.
package struct StoreCall<Target, Answer: Sendable>: Sendable {
    /// The operation by the service's name.
    package let operation: String
    /// The object; nil for a request that is of no single one.
    package let key: ObjectKey?
    /// Bytes of content that it moves.
    package var bytes: Int64 = 0
    /// True if it makes, replaces or deletes an object.
    package var changes = false
    package var part: PartNumber?
    /// False for an answer that is only failures.
    package var isSuccess: @Sendable (Answer) -> Bool = { _ in true }
    /// Makes the request of the store that stands last.
    package let body: @Sendable (Target) async throws(StorageError) -> Answer

    package init(
        _ operation: String,
        _ key: ObjectKey?,
        _ body: @escaping @Sendable (Target) async throws(StorageError) -> Answer
    ) {
        self.operation = operation
        self.key = key
        self.body = body
    }
}

/// One bucket of an object store: the real client, and what stands before it.
///
/// What stands before it passes on calls and knows no operation: each is a ``StoreCall``.
package protocol ObjectStore: ObjectReader {
    func read<Answer>(
        _ call: StoreCall<any ObjectReader, Answer>
    ) async throws(StorageError) -> Answer
    func write<Answer>(
        _ call: StoreCall<StorageClient, Answer>
    ) async throws(StorageError) -> Answer
}

extension ObjectReader {
    package var cipher: ContentCipher? { nil }

    /// Bytes of the object of a file.
    package func storedSize(of size: Int64) -> Int64 {
        cipher == nil ? size : SealedFormat.storedSize(of: size)
    }

    /// The same store, to be written to.
    ///
    /// - Throws: `invalidRequest` for one that can only be read, like a bucket as it was.
    package func writable<Answer>(
        for call: StoreCall<StorageClient, Answer>
    ) throws(StorageError) -> any ObjectStore {
        if let store = self as? any ObjectStore { return store }
        throw StorageError(
            kind: .invalidRequest("nothing can be written to a bucket as it was"),
            operation: call.operation,
            key: call.key
        )
    }
}

// MARK: - Reading

extension ObjectStore {
    package func list(_ request: ListRequest) async throws(StorageError) -> ListPage {
        try await read(
            StoreCall("ListObjectsV2", nil) { (store) throws(StorageError) in
                try await store.list(request)
            }
        )
    }

    package func head(
        _ key: ObjectKey,
        versionID: VersionID?
    ) async throws(StorageError) -> ObjectMetadata {
        try await read(
            StoreCall("HeadObject", key) { (store) throws(StorageError) in
                try await store.head(key, versionID: versionID)
            }
        )
    }

    package func partSize(
        _ key: ObjectKey,
        of etag: ETag,
        versionID: VersionID?
    ) async throws(StorageError) -> Int64? {
        try await read(
            StoreCall("HeadObject", key) { (store) throws(StorageError) in
                try await store.partSize(key, of: etag, versionID: versionID)
            }
        )
    }

    package func get(
        _ request: GetRequest,
        into sink: FileSink
    ) async throws(StorageError) -> ObjectMetadata {
        var call = StoreCall<any ObjectReader, ObjectMetadata>("GetObject", request.key) {
            (store) throws(StorageError) in
            try await store.get(request, into: sink)
        }
        call.bytes = sink.expectedLength
        return try await read(call)
    }

    package func open(
        _ request: GetRequest,
        into makeSink: @escaping @Sendable (OpenedObject) async -> FileSink?
    ) async throws(StorageError) -> ObjectMetadata {
        try await read(
            StoreCall("GetObject", request.key) { (store) throws(StorageError) in
                try await store.open(request, into: makeSink)
            }
        )
    }

    package func symlinkTarget(_ key: ObjectKey) async throws(StorageError) -> ObjectKey {
        try await read(
            StoreCall("GetSymlink", key) { (store) throws(StorageError) in
                try await store.symlinkTarget(key)
            }
        )
    }
}

// MARK: - Objects

extension ObjectStore {
    /// Writes one object; its CRC-64, or its MD5 where the store tells no CRC-64, is computed as it
    /// is sent and compared with what comes back.
    ///
    /// `onProgress` is called on the transport's thread with numbers of bytes that sum to those
    /// sent; a negative one takes back what a repeated attempt sends again.
    package func put(
        _ request: PutRequest,
        body: RequestBody,
        onProgress: @escaping @Sendable (Int) -> Void
    ) async throws(StorageError) -> PutResult {
        var call = StoreCall<StorageClient, PutResult>("PutObject", request.key) {
            (store) throws(StorageError) in
            try await store.put(request, body: body, onProgress: onProgress)
        }
        (call.bytes, call.changes) = (body.length, true)
        return try await write(call)
    }

    package func copy(_ request: CopyRequest) async throws(StorageError) -> PutResult {
        var call = StoreCall<StorageClient, PutResult>("CopyObject", request.destination) {
            (store) throws(StorageError) in
            try await store.copy(request)
        }
        call.changes = true
        return try await write(call)
    }

    /// Deletes at most 1,000 objects and returns those that are not known to be deleted.
    package func delete(
        _ keys: [ObjectKey]
    ) async throws(StorageError) -> [ObjectKey: StorageError] {
        var call = StoreCall<StorageClient, [ObjectKey: StorageError]>(
            "DeleteMultipleObjects",
            nil,
            { (store) throws(StorageError) in try await store.delete(keys) }
        )
        call.changes = true
        call.isSuccess = { $0.count < keys.count }
        return try await write(call)
    }

    /// Asks for a readable copy of an archived object, for so many days.
    ///
    /// One that is being made is as good as asked for. Without a tier the store takes its standard
    /// one.
    package func restore(_ key: ObjectKey, days: Int, tier: String?) async throws(StorageError) {
        try await write(
            StoreCall("RestoreObject", key) { (store) throws(StorageError) in
                try await store.restore(key, days: days, tier: tier)
            }
        )
    }
}

// MARK: - Uploads in parts

extension ObjectStore {
    /// Begins an upload.
    ///
    /// Not repeated once the request may have reached the server: an answer that is lost leaves an
    /// upload that only the caller can tell from others'.
    package func initiateMultipartUpload(
        _ request: PutRequest
    ) async throws(StorageError) -> UploadID {
        try await write(
            StoreCall("InitiateMultipartUpload", request.key) { (store) throws(StorageError) in
                try await store.initiateMultipartUpload(request)
            }
        )
    }

    /// Sends one part; verified and reported like ``put(_:body:onProgress:)``.
    package func uploadPart(
        _ key: ObjectKey,
        _ upload: UploadID,
        _ number: PartNumber,
        body: RequestBody,
        onProgress: @escaping @Sendable (Int) -> Void
    ) async throws(StorageError) -> UploadedPart {
        var call = StoreCall<StorageClient, UploadedPart>("UploadPart", key) {
            (store) throws(StorageError) in
            try await store.uploadPart(key, upload, number, body: body, onProgress: onProgress)
        }
        (call.bytes, call.part) = (body.length, number)
        return try await write(call)
    }

    package func uploadPartCopy(
        _ request: PartCopyRequest
    ) async throws(StorageError) -> UploadedPart {
        try await write(
            StoreCall("UploadPartCopy", request.destination) { (store) throws(StorageError) in
                try await store.uploadPartCopy(request)
            }
        )
    }

    package func listParts(
        _ key: ObjectKey,
        _ upload: UploadID,
        after: PartNumber?
    ) async throws(StorageError) -> ListPartsPage {
        try await write(
            StoreCall("ListParts", key) { (store) throws(StorageError) in
                try await store.listParts(key, upload, after: after)
            }
        )
    }

    /// Makes the object of its parts.
    ///
    /// Not repeated once the request may have reached the server: a lost answer is thrown as a
    /// `.transport` error, and the caller settles by `head` whether the object exists.
    package func completeMultipartUpload(
        _ request: CompleteRequest
    ) async throws(StorageError) -> PutResult {
        var call = StoreCall<StorageClient, PutResult>("CompleteMultipartUpload", request.key) {
            (store) throws(StorageError) in
            try await store.completeMultipartUpload(request)
        }
        call.changes = true
        return try await write(call)
    }

    /// Drops an upload and its parts; one that does not exist is dropped already.
    package func abortMultipartUpload(
        _ key: ObjectKey,
        _ upload: UploadID
    ) async throws(StorageError) {
        try await write(
            StoreCall("AbortMultipartUpload", key) { (store) throws(StorageError) in
                try await store.abortMultipartUpload(key, upload)
            }
        )
    }

    package func listMultipartUploads(
        _ request: ListUploadsRequest
    ) async throws(StorageError) -> ListUploadsPage {
        try await write(
            StoreCall("ListMultipartUploads", nil) { (store) throws(StorageError) in
                try await store.listMultipartUploads(request)
            }
        )
    }
}

extension StorageClient: ObjectStore {
    package func read<Answer>(
        _ call: StoreCall<any ObjectReader, Answer>
    ) async throws(StorageError) -> Answer {
        try await call.body(self)
    }

    package func write<Answer>(
        _ call: StoreCall<StorageClient, Answer>
    ) async throws(StorageError) -> Answer {
        try await call.body(self)
    }
}
