package import ObjectStorage
public import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// One bucket, as downloads and uploads take it; the product `OSSBucket` has its single calls.
///
/// ```swift
/// let client = try BucketClient("media", configuration: configuration)
/// let source = DownloadSource.object(client, key: "film.mov")
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
    package let host: String
    let monitor: TransferMonitor?
    private let clock: ClockWatch

    /// Creates a client from an app's configuration; sends no request.
    ///
    /// - Parameters:
    ///   - bucket: The bucket's name.
    ///   - dialect: The protocol: OSS unless specified otherwise.
    ///   - configuration: How the bucket is reached, and what requests are signed with.
    /// - Throws: `TransferError` of code `configuration`.
    public init(
        _ bucket: String,
        dialect: StoreDialect = .oss,
        configuration: StoreConfiguration
    ) throws(TransferError) {
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
    ) throws(TransferError) {
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
    /// - Throws: `TransferError`.
    package func checkAccess(prefix: String = "") async throws(TransferError) {
        _ = try await hasObjects(beneath: prefix)
    }

    /// True if there is an object beneath the prefix.
    package func hasObjects(beneath prefix: String) async throws(TransferError) -> Bool {
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
    /// - Throws: `TransferError` of code `refused`.
    package func requireNotEncrypted(_ key: String) async throws(TransferError) {
        let key = ObjectKey(key)
        let found: ObjectMetadata
        do throws(StorageError) {
            found = try await store.head(key, versionID: nil)
        } catch {
            if error.isNotFound || error.isAccessDenied { return }
            throw TransferError(error)
        }
        guard let etag = found.etag,
            try await isEncrypted(key, etag, size: found.size)
        else { return }
        throw TransferError(
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
    ) async throws(TransferError) -> ObjectKey? {
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
    ) async throws(TransferError) -> Bool {
        try await call { () throws(StorageError) in
            try await store.isSealed(key, etag, size: size)
        }
    }

    /// Does what asks the store, and reports its failures as the caller's.
    package func call<Value>(
        _ request: () async throws(StorageError) -> Value
    ) async throws(TransferError) -> Value {
        do throws(StorageError) {
            return try await request()
        } catch {
            throw TransferError(error)
        }
    }

    /// True if there is an object with that key; false also if that cannot be found out.
    package func isObject(_ key: some Sequence<UInt8>) async -> Bool {
        (try? await store.head(ObjectKey([UInt8](key)), versionID: nil)) != nil
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
