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
    /// - Throws: `SyncError`: `notFound` if there is no such object, `forbidden` if it may not be
    ///   read, `credentials`, `expired`, `remoteUnreachable` if there was no answer after all
    ///   repetitions, `cancelled`.
    public func head(
        _ key: String,
        conditions: ObjectConditions = .none
    ) async throws(SyncError) -> ReadOutcome<ObjectInfo> {
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
    /// - Throws: `SyncError`, as ``head(_:conditions:)``; `remoteUnreachable` also if what came is
    ///   not what was asked for, after all repetitions.
    public func get(
        _ key: String,
        range: ObjectRange? = nil,
        conditions: ObjectConditions = .none,
        maxBytes: Int = 64 << 20
    ) async throws(SyncError) -> ReadOutcome<ObjectContent> {
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
    /// - Throws: `SyncError`, as ``get(_:range:conditions:maxBytes:)``.
    public func get(
        _ key: String,
        ranges: [ObjectRange],
        maxBytes: Int = 64 << 20
    ) async throws(SyncError) -> ReadOutcome<[ObjectContent]> {
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

    private func outcome<Value: Sendable & Hashable>(
        _ read: () async throws(StorageError) -> Value
    ) async throws(SyncError) -> ReadOutcome<Value> {
        do throws(StorageError) {
            return .found(try await read())
        } catch {
            switch error.status {
            case 304: return .notModified
            case 412: return .preconditionFailed
            case 416: return .rangeNotSatisfiable
            default: throw SyncError(error)
            }
        }
    }
}
