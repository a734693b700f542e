package import LocalStorage
package import ObjectStorage
package import SyncModel

/// What one transfer needs, whether it belongs to a mirror or is a single one.
package struct TransferContext: Sendable {
    package let store: LimitedStore
    /// Put before every key; empty, or ending in "/".
    package let prefix: ObjectKey
    /// Holds the files, and the partial ones.
    package let directory: MirrorDirectory
    let records: any CheckpointStore
    /// False if there surely are no records of earlier transfers, so that none is looked for where
    /// this run makes none.
    let hasRecords: Bool
    package let environment: EngineEnvironment
    /// The preferred size of a part or range, in bytes.
    package let partSize: Int64
    let limits: TransferLimits
    /// Larger objects than this get a checkpoint; smaller ones a kill may fetch again.
    let largestUnrecorded: Int64
    /// Opening, creating and stating files.
    package let disk: BlockingQueue
    /// Reading whole files for their checksums.
    package let hashing: BlockingQueue
    /// False if a partial file takes no more room than what it holds.
    package var reservesSpace = true
    let partDigests: PartDigests
    package let refusedCopies = RefusedCopies()
    package let observer: TransferObserver
    /// The token of an upload of a key and size; no other upload has it.
    let uploadToken: @Sendable (ObjectKey, Int64) async throws(ItemFailure) -> String

    package init(
        store: LimitedStore,
        prefix: ObjectKey,
        directory: MirrorDirectory,
        records: any CheckpointStore,
        hasRecords: Bool,
        environment: EngineEnvironment,
        partSize: Int64,
        limits: TransferLimits,
        largestUnrecorded: Int64,
        disk: BlockingQueue,
        hashing: BlockingQueue,
        observer: TransferObserver,
        uploadToken: @escaping @Sendable (ObjectKey, Int64) async throws(ItemFailure) -> String
    ) {
        self.store = store
        self.prefix = prefix
        self.directory = directory
        self.records = records
        self.hasRecords = hasRecords
        self.environment = environment
        self.partSize = partSize
        self.limits = limits
        self.largestUnrecorded = largestUnrecorded
        self.disk = disk
        self.hashing = hashing
        partDigests = PartDigests(sleep: environment.sleep)
        self.observer = observer
        self.uploadToken = uploadToken
    }

    /// The whole key of an object, prefix included.
    package func objectKey(_ key: ObjectKey) -> ObjectKey {
        ObjectKey(prefix.bytes + key.bytes)
    }

    /// Reads whole files on threads for that; `work` looks at the interruption, which is raised
    /// when the task is cancelled, so that no run waits for the end of a large file.
    package func reading<Value: Sendable>(
        on queue: BlockingQueue? = nil,
        _ work: @escaping @Sendable (Interruption) throws -> Value
    ) async throws -> Value {
        let interruption = Interruption()
        return try await withTaskCancellationHandler {
            try await (queue ?? hashing).run { try work(interruption) }
        } onCancel: {
            interruption.raise()
        }
    }

    /// Removes a partial file that nothing refers to; one that cannot be removed now is swept by a
    /// later run.
    package func removePartial(_ name: String) async {
        let directory = directory
        try? await disk.run { () throws(LocalError) in try directory.partials.remove(name) }
    }

    /// What the store says of the object.
    ///
    /// `knownSize` is what else says of its size; nothing if 0.
    ///
    /// - Throws: `vanished` if it is gone.
    package func metadata(
        _ key: ObjectKey,
        knownSize: Int64 = 0
    ) async throws(ItemFailure) -> ObjectMetadata {
        do {
            return try await store.head(objectKey(key), knownSize: knownSize)
        } catch {
            throw ItemFailure(error)
        }
    }

    /// The current object.
    ///
    /// - Throws: `vanished` if it is gone.
    package func head(
        _ key: ObjectKey,
        knownSize: Int64 = 0,
        isInOneGo: Bool = false
    ) async throws(ItemFailure) -> (object: PinnedObject, metadata: ObjectMetadata) {
        let metadata = try await metadata(key, knownSize: knownSize)
        return (try pinned(metadata, isInOneGo: isInOneGo), metadata)
    }

    /// - Throws: `alreadyExists` if there is an object of that key.
    package func requireAbsent(_ key: ObjectKey) async throws(ItemFailure) {
        do throws(ItemFailure) {
            _ = try await head(key)
        } catch {
            if error.isVanished { return }
            // A user who may write but not read gets the error at the end, from the store's own
            // condition.
            if case .storage(_, _, _, let cause) = error, cause.isRefusal { return }
            throw error
        }
        throw .alreadyExists(nil)
    }

    /// The version that an answer is of; without a tag if all of it comes in one answer.
    func pinned(
        _ metadata: ObjectMetadata,
        isInOneGo: Bool = false
    ) throws(ItemFailure) -> PinnedObject {
        guard let etag = isInOneGo ? metadata.versionTag : metadata.etag else {
            throw .withoutETag(metadata)
        }
        let crc64 = store.dialect.computesChecksum ? metadata.crc64 : nil
        return PinnedObject(etag: etag, size: metadata.size, crc64: crc64)
    }

    /// Warns that an unneeded unfinished upload is still at the service.
    package func warn(ofUpload key: ObjectKey, _ error: StorageError) {
        observer.warned(
            "an unfinished upload of '\(key.display)' could not be aborted, and its parts use "
                + "space in the bucket: \(error.message)"
        )
    }
}

extension ObjectMetadata {
    /// The tag; where a server gives none, a weak one of time and size, by which no request can
    /// name the version.
    var versionTag: ETag? {
        etag ?? lastModified.map { ETag(wire: "W/\"\($0.seconds)-\(size)\"") }
    }
}

extension ItemFailure {
    /// What is written in order and not kept cannot start over.
    static func withoutRanges(_ metadata: ObjectMetadata) -> ItemFailure {
        .storage(
            message: "the server sends only whole objects; specify a file",
            answer: ServiceAnswer(requestID: metadata.requestID),
            cause: .unsupported
        )
    }

    /// Nothing can be pinned to a version that has no tag.
    static func withoutETag(_ metadata: ObjectMetadata) -> ItemFailure {
        .storage(
            message: "the server gives no ETag for the object"
                + (metadata.lastModified == nil ? ", and no time of its last change" : "")
                + ", so nothing tells its versions apart",
            answer: ServiceAnswer(requestID: metadata.requestID),
            cause: .unsupported
        )
    }
}
