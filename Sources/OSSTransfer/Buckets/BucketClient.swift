package import ObjectStorage
public import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// One bucket, for single calls.
///
/// ```swift
/// let client = try BucketClient("media", configuration: configuration)
/// try await client.put(Array("Hello".utf8), to: "greeting.txt")
/// for try await object in client.objects(prefix: "photos/") {
///     print(object.displayKey, object.size)
/// }
/// ```
public struct BucketClient: Sendable {
    /// The bucket's name.
    public let bucket: String
    /// The protocol spoken to the store.
    public let dialect: StoreDialect
    package let store: StorageClient
    /// For transfers.
    let limitedStore: any ObjectStore
    /// The service's host, by which records know the bucket again.
    let host: String
    let monitor: TransferMonitor?
    private let clock: ClockWatch

    /// Creates a client from an app's configuration; sends no request.
    ///
    /// - Parameters:
    ///   - bucket: The bucket's name.
    ///   - dialect: The protocol: OSS unless specified otherwise.
    ///   - configuration: How the bucket is reached, and what requests are signed with.
    /// - Throws: `SyncError` of code `configuration`.
    public init(
        _ bucket: String,
        dialect: StoreDialect = .oss,
        configuration: StoreConfiguration
    ) throws(SyncError) {
        try self.init(
            bucket,
            dialect: dialect,
            connection: try ResolvedConnection(bucket, dialect, configuration),
            connectionLimit: configuration.connection.connectionLimit,
            limits: configuration.connection.sharedLimits,
            monitor: configuration.connection.monitor
        )
    }

    package init(
        _ bucket: String,
        dialect: StoreDialect,
        connection: ResolvedConnection,
        connectionLimit: Int = 4,
        limits: SharedLimits? = nil,
        monitor: TransferMonitor? = nil
    ) throws(SyncError) {
        let clock = ClockWatch()
        self.bucket = bucket
        self.dialect = dialect
        self.clock = clock
        self.monitor = monitor
        host = connection.endpoint.host
        let store = try StoreFactory.store(
            connection,
            bucket: bucket,
            connectionLimit: connectionLimit,
            monitor: monitor,
            observe: { observation in
                clock.observe(observation)
                guard case .retrying(let notice) = observation else { return }
                connection.notify(notice, prefix: ObjectKey([]))
            }
        )
        self.store = store
        limitedStore = limits?.limiting(store) ?? store
    }

    /// Uses a store that is there already.
    package init(
        _ bucket: String,
        dialect: StoreDialect,
        host: String,
        store: StorageClient,
        monitor: TransferMonitor?
    ) {
        self.monitor = monitor
        self.bucket = bucket
        self.dialect = dialect
        self.host = host
        self.store = store
        limitedStore = store
        clock = ClockWatch()
    }

    /// An object as records know it again, without secrets.
    func subject(of key: String) -> String {
        "\(dialect.rawValue)://\(host)/\(bucket)/\(key)"
    }

    /// Seconds by which this machine's clock is behind the service's, if requests had to be signed
    /// by the service's; nil otherwise.
    package var correctedClockSeconds: Int64? { clock.offset }

    /// Lists one object at most: shows that the bucket can be reached and read.
    ///
    /// - Parameter prefix: How the object's key is to begin, for keys that may read no others.
    /// - Throws: `SyncError`.
    package func checkAccess(prefix: String = "") async throws(SyncError) {
        _ = try await hasObjects(beneath: prefix)
    }

    /// Begins an upload and aborts it: shows that objects can be written.
    ///
    /// Its key is one of osssync's own, which no mirror has, and no object is made.
    ///
    /// - Parameter prefix: How the upload's key is to begin, for keys that may write no others.
    /// - Throws: `SyncError`.
    package func checkWriteAccess(prefix: String = "") async throws(SyncError) {
        try await multipartUpload(of: prefix + ".osssync/check-write").abort()
    }

    /// True if there is an object beneath the prefix.
    package func hasObjects(beneath prefix: String) async throws(SyncError) -> Bool {
        let page = try await call { () throws(StorageError) in
            try await store.list(
                ListRequest(prefix: ObjectKey(prefix), delimiter: nil, maximumKeys: 1)
            )
        }
        return !page.objects.isEmpty || page.next != nil
    }

    /// Refuses an object that is encrypted, which is not to be replaced unread; one that does not
    /// exist, or may not be read, passes.
    ///
    /// - Parameter key: The whole key.
    /// - Throws: `SyncError` of code `refused`.
    public func requireNotEncrypted(_ key: String) async throws(SyncError) {
        let key = ObjectKey(key)
        let found: ObjectMetadata
        do throws(StorageError) {
            found = try await store.head(key, versionID: nil)
        } catch {
            if error.isNotFound || error.isAccessDenied { return }
            throw SyncError(error)
        }
        guard let etag = found.etag,
            try await isEncrypted(key, etag, size: found.size)
        else { return }
        throw SyncError(
            code: .refused,
            message: "'\(key.display)' is encrypted and was not replaced; delete it first if it is "
                + "to go"
        )
    }

    /// The first object beneath a prefix that may be encrypted, if it is; one whose key without the
    /// prefix `isLeftOut` is of no concern.
    package func encryptedObject(
        beneath prefix: String,
        unless isLeftOut: (ObjectKey) -> Bool
    ) async throws(SyncError) -> ObjectKey? {
        let prefix = ObjectKey(prefix)
        let page = try await call { () throws(StorageError) in
            try await store.list(ListRequest(prefix: prefix, delimiter: nil, maximumKeys: 100))
        }
        let object = page.objects.first { object in
            SealedFormat.plainSize(of: object.size) != nil && object.kind == .normal
                && !isLeftOut(ObjectKey([UInt8](object.key.bytes.dropFirst(prefix.bytes.count))))
        }
        guard let object, try await isEncrypted(object.key, object.etag, size: object.size) else {
            return nil
        }
        return object.key
    }

    private func isEncrypted(
        _ key: ObjectKey,
        _ etag: ETag,
        size: Int64
    ) async throws(SyncError) -> Bool {
        try await call { () throws(StorageError) in
            try await store.isSealed(key, etag, size: size)
        }
    }

    /// Does what asks the store, and reports its failures as the caller's.
    func call<Value>(
        _ request: () async throws(StorageError) -> Value
    ) async throws(SyncError) -> Value {
        do throws(StorageError) {
            return try await request()
        } catch {
            throw SyncError(error)
        }
    }

    /// True if there is an object with that key; false also if that cannot be found out.
    package func isObject(_ key: some Sequence<UInt8>) async -> Bool {
        (try? await store.head(ObjectKey([UInt8](key)), versionID: nil)) != nil
    }
}

// MARK: - Reading

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
    /// ``ResumableDownload``.
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

/// Remembers whether the clock had to be corrected.
private final class ClockWatch: Sendable {
    private let corrected = Mutex<Int64?>(nil)

    var offset: Int64? { corrected.withLock { $0 } }

    func observe(_ observation: StorageObservation) {
        guard case .clockCorrected(let seconds) = observation else { return }
        corrected.withLock { $0 = seconds }
    }
}
