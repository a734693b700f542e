public import OSSTransfer
internal import ObjectStorage
public import ObjectTransfer
internal import SyncModel

extension BucketClient {
    /// Asks for an object's headers.
    ///
    /// - Parameters:
    ///   - key: The whole key.
    ///   - conditions: Which version is wanted.
    /// - Returns: The headers, or which condition did not hold.
    /// - Throws: `TransferError`: `notFound` if there is no such object, `forbidden` if it may not
    ///   be read, `credentials`, `expired`, `remoteUnreachable` if there was no answer after all
    ///   repetitions, `cancelled`.
    public func head(
        _ key: String,
        conditions: ObjectConditions = .none
    ) async throws(TransferError) -> ReadOutcome<ObjectInfo> {
        let request = HeadRequest(key: ObjectKey(key), conditions: conditions.wire)
        return try await outcome { () throws(StorageError) in
            ObjectInfo(key, try await store.head(request))
        }
    }

    /// Reads an object or a range of it into memory.
    ///
    /// A whole object is held against its CRC-64. For what does not fit into memory, use
    /// `ResumableDownload`.
    ///
    /// - Parameters:
    ///   - key: The whole key.
    ///   - range: Nil for the whole object.
    ///   - conditions: Which version is wanted.
    ///   - maxBytes: The largest number of bytes to read: 64 MiB. More is an error of code
    ///     `configuration`, found before the bytes are fetched.
    /// - Returns: The bytes, or which condition did not hold.
    /// - Throws: `TransferError`, as ``head(_:conditions:)``; `remoteUnreachable` also if what came
    ///   is not what was asked for, after all repetitions.
    public func get(
        _ key: String,
        range: ObjectRange? = nil,
        conditions: ObjectConditions = .none,
        maxBytes: Int = 64 << 20
    ) async throws(TransferError) -> ReadOutcome<ObjectContent> {
        try SettingBounds.check(maxBytes, "maxBytes", 0...Int.max)
        let request = GetRequest(
            key: ObjectKey(key),
            form: try range?.form(),
            conditions: conditions.wire
        )
        return try await outcome { () throws(StorageError) in
            let (metadata, bytes) = try await store.read(request, limit: maxBytes)
            return ObjectContent(info: ObjectInfo(key, metadata), bytes: bytes)
        }
    }

    /// Reads several ranges of one version of an object, each by a request of its own.
    ///
    /// - Parameters:
    ///   - key: The whole key.
    ///   - ranges: In any order; they may overlap.
    ///   - maxBytes: The largest number of bytes that each range may have: 64 MiB.
    /// - Returns: The ranges in the order in which they were asked for; `preconditionFailed` if the
    ///   object was replaced in between, `rangeNotSatisfiable` if it has no byte of one of them.
    /// - Throws: `TransferError`, as ``get(_:range:conditions:maxBytes:)``.
    public func get(
        _ key: String,
        ranges: [ObjectRange],
        maxBytes: Int = 64 << 20
    ) async throws(TransferError) -> ReadOutcome<[ObjectContent]> {
        var contents: [ObjectContent] = []
        var conditions = ObjectConditions.none
        for range in ranges {
            switch try await get(key, range: range, conditions: conditions, maxBytes: maxBytes) {
            case .found(let content):
                contents.append(content)
                conditions.ifMatch = content.info.etag
            case .notModified: return .notModified
            case .preconditionFailed: return .preconditionFailed
            case .rangeNotSatisfiable: return .rangeNotSatisfiable
            }
        }
        return .found(contents)
    }

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
    /// - Throws: `TransferError`: `alreadyExists` if it must not be replaced, `credentials`,
    ///   `remoteUnreachable`, `cancelled`, `configuration` for a key or metadata that no store
    ///   takes.
    @discardableResult
    public func put(
        _ bytes: [UInt8],
        to key: String,
        options: PutOptions = .none
    ) async throws(TransferError) -> PutReceipt {
        try options.properties.checkMetadata(for: dialect)
        return try await call { () throws(StorageError) in
            PutReceipt(try await store.put(options.request(key), body: .bytes(bytes)) { _ in })
        }
    }

    /// Deletes one object; one that does not exist is deleted already.
    ///
    /// - Throws: `TransferError`: `credentials`, `remoteUnreachable`, `cancelled`.
    public func delete(_ key: String) async throws(TransferError) {
        try await call { () throws(StorageError) in
            try await store.delete(ObjectKey(key), versionID: nil)
        }
    }

    /// Deletes many objects, a thousand with each request.
    ///
    /// - Returns: The keys that are not known to be deleted, each with the reason.
    /// - Throws: `TransferError` if a whole request failed; requests before it have been carried
    ///   out.
    public func delete(_ keys: [String]) async throws(TransferError) -> [String: TransferError] {
        try await call { () throws(StorageError) in
            var failures: [String: TransferError] = [:]
            var rest = keys[...]
            while !rest.isEmpty {
                let page = rest.prefix(1_000)
                rest = rest.dropFirst(1_000)
                for (key, error) in try await store.delete(page.map { ObjectKey($0) }) {
                    failures[String(decoding: key.bytes, as: UTF8.self)] = TransferError(error)
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
    /// - Throws: `TransferError`: besides those, `notFound`, `credentials`, `remoteUnreachable`,
    ///   `cancelled`.
    @discardableResult
    public func copy(
        _ source: String,
        etag: String? = nil,
        to destination: String,
        ifExists: ExistingTarget = .replace
    ) async throws(TransferError) -> PutReceipt {
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

    private func outcome<Value: Sendable & Hashable>(
        _ read: () async throws(StorageError) -> Value
    ) async throws(TransferError) -> ReadOutcome<Value> {
        do throws(StorageError) {
            return .found(try await read())
        } catch {
            switch error.status {
            case 304: return .notModified
            case 412: return .preconditionFailed
            case 416: return .rangeNotSatisfiable
            default: throw TransferError(error)
            }
        }
    }
}
