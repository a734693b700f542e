internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

/// What one transfer needs, whether it is a mirror's or stands alone.
struct TransferMeans: Sendable {
    let store: any ObjectStore
    /// Put before every key; empty, or ending in "/".
    let prefix: ObjectKey
    /// Holds the files, and the partial ones.
    let directory: MirrorDirectory
    let records: any TransferRecords
    let limiter: ConnectionLimiter
    let environment: EngineEnvironment
    /// The preferred size of a part or range, in bytes.
    let partSize: Int64
    let limits: EngineLimits
    /// Larger objects than this get a checkpoint; smaller ones a kill may fetch again.
    let largestUnrecorded: Int64
    /// Opening, creating and stating files.
    let disk: BlockingQueue
    /// Reading whole files for their checksums.
    let hashing: BlockingQueue
    var emit: @Sendable (SyncEvent) -> Void
    /// Called when what was there already is of no use.
    var onStartOver: @Sendable (StartOverReason) -> Void = { _ in }
    /// Nil for a transfer that stands alone.
    var uploads: OwnUploads?

    /// The whole key of an object, prefix included.
    func objectKey(_ key: ObjectKey) -> ObjectKey {
        ObjectKey(prefix.bytes + key.bytes)
    }

    /// What an upload of this key is known by.
    func token(of key: ObjectKey) async throws(ItemFailure) -> String {
        guard let uploads else { return environment.randomName(Uploader.tokenLength) }
        do {
            return try await uploads.token(of: key)
        } catch {
            throw ItemFailure(error)
        }
    }

    /// Reads whole files on threads for that; `work` looks at the interruption, which is raised
    /// when the task is cancelled, so that no run waits for the end of a large file.
    func reading<Value: Sendable>(
        _ work: @escaping @Sendable (Interruption) throws -> Value
    ) async throws -> Value {
        let interruption = Interruption()
        return try await withTaskCancellationHandler {
            try await hashing.run { try work(interruption) }
        } onCancel: {
            interruption.raise()
        }
    }

    /// Removes a partial file that nothing refers to; one that cannot be removed now is swept by a
    /// later run.
    func removePartial(_ name: String) async {
        let directory = directory
        try? await disk.run { () throws(LocalError) in try directory.removePartial(name) }
    }

    /// Waits for a connection, runs `request` and gives the connection back.
    func withConnection<Value: Sendable>(
        _ request: () async throws(StorageError) -> Value
    ) async throws(ItemFailure) -> Value {
        do {
            try await limiter.acquire(bytes: 0)
        } catch {
            throw ItemFailure.cancelled
        }
        defer { limiter.release(bytes: 0) }
        do {
            return try await request()
        } catch {
            throw ItemFailure(error)
        }
    }

    /// The object as it is now.
    ///
    /// - Throws: `vanished` if it is gone.
    func head(
        _ key: ObjectKey
    ) async throws(ItemFailure) -> (object: PinnedObject, metadata: ObjectMetadata) {
        let (store, objectKey) = (store, objectKey(key))
        let metadata = try await withConnection { () throws(StorageError) in
            try await store.head(objectKey, versionID: nil)
        }
        guard let etag = metadata.etag else {
            throw .storage(
                message: "the service gave no ETag for the object",
                requestID: metadata.requestID,
                stops: nil
            )
        }
        let crc64 = store.dialect.computesChecksum ? metadata.crc64 : nil
        return (PinnedObject(etag: etag, size: metadata.size, crc64: crc64), metadata)
    }

    /// Says that an unfinished upload which nobody needs is still at the service.
    func warn(ofUpload key: ObjectKey, _ error: StorageError) {
        emit(
            .warning(
                message: "an unfinished upload of '\(key.display)' could not be aborted, and its "
                    + "parts take room in the bucket: \(error.message)"
            )
        )
    }

    func item(
        _ action: ItemAction,
        _ state: ItemState,
        _ key: ObjectKey,
        size: Int64,
        transferred: Int64 = 0,
        resumed: Int64 = 0,
        message: String? = nil,
        requestID: String? = nil
    ) {
        emit(
            .item(
                ItemEvent(
                    action: action,
                    state: state,
                    key: key.display,
                    size: size,
                    bytesTransferred: transferred,
                    bytesResumed: resumed,
                    message: message,
                    requestID: requestID
                )
            )
        )
    }
}
