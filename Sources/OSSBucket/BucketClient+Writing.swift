public import OSSTransfer
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

extension BucketClient {
    /// Writes an object from memory.
    ///
    /// What the store computes of it, CRC-64 or MD5, is compared with what was sent.
    ///
    /// - Parameters:
    ///   - bytes: The content, at most 5 GiB, which goes in one request; in parts it is sent by
    ///     `UploadTarget.write(_:options:onNotice:onProgress:)`.
    ///   - key: The whole key.
    ///   - options: What is written with it.
    /// - Returns: What the store says of the new version.
    /// - Throws: `SyncError`: `alreadyExists` if it must not be replaced, `credentials`,
    ///   `remoteUnreachable`, `cancelled`, `configuration` for a key or metadata that no store
    ///   takes.
    @discardableResult
    public func put(
        _ bytes: [UInt8],
        to key: String,
        options: PutOptions = .none
    ) async throws(SyncError) -> PutReceipt {
        try options.properties.checkMetadata(for: dialect)
        return try await call { () throws(StorageError) in
            PutReceipt(try await store.put(options.request(key), body: .bytes(bytes)) { _ in })
        }
    }

    /// Deletes one object; one that does not exist is deleted already.
    ///
    /// - Throws: `SyncError`: `credentials`, `remoteUnreachable`, `cancelled`.
    public func delete(_ key: String) async throws(SyncError) {
        try await call { () throws(StorageError) in
            try await store.delete(ObjectKey(key), versionID: nil)
        }
    }

    /// Deletes many objects, a thousand with each request.
    ///
    /// - Returns: The keys that are not known to be deleted, each with the reason.
    /// - Throws: `SyncError` if a whole request failed; requests before it have been carried out.
    public func delete(_ keys: [String]) async throws(SyncError) -> [String: SyncError] {
        try await call { () throws(StorageError) in
            var failures: [String: SyncError] = [:]
            var rest = keys[...]
            while !rest.isEmpty {
                let page = rest.prefix(1_000)
                rest = rest.dropFirst(1_000)
                for (key, error) in try await store.delete(page.map { ObjectKey($0) }) {
                    failures[String(decoding: key.bytes, as: UTF8.self)] = SyncError(error)
                }
            }
            return failures
        }
    }

    /// Copies an object within the bucket; the bytes stay at the store.
    ///
    /// - Parameters:
    ///   - source: The whole key of what is copied, of at most 1 GB with OSS and 5 GiB with S3.
    ///   - etag: The version that is meant; another one there is an error of code `objectChanged`.
    ///     Nil for any version.
    ///   - destination: The whole key of the copy.
    ///   - ifExists: What happens if there is already an object with the destination's key.
    /// - Returns: What the store says of the copy.
    /// - Throws: `SyncError`: besides those, `notFound`, `credentials`, `remoteUnreachable`,
    ///   `cancelled`.
    @discardableResult
    public func copy(
        _ source: String,
        etag: String? = nil,
        to destination: String,
        ifExists: ExistingTarget = .replace
    ) async throws(SyncError) -> PutReceipt {
        var request = CopyRequest(
            source: ObjectKey(source),
            sourceETag: etag.map { ETag(wire: $0) },
            destination: ObjectKey(destination),
            forbidsOverwrite: ifExists == .fail
        )
        request.existenceIsUnknown = true
        return try await call { () throws(StorageError) in
            PutReceipt(try await store.copy(request))
        }
    }
}
