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
    public var correctedClockSeconds: Int64? { clock.offset }

    /// Lists one object at most: shows that the bucket can be reached and read.
    ///
    /// - Parameter prefix: How the object's key is to begin, for keys that may read no others.
    /// - Throws: `SyncError`.
    public func checkAccess(prefix: String = "") async throws(SyncError) {
        _ = try await hasObjects(beneath: prefix)
    }

    /// Begins an upload and aborts it: shows that objects can be written.
    ///
    /// Its key is one of osssync's own, which no mirror has, and no object is made.
    ///
    /// - Parameter prefix: How the upload's key is to begin, for keys that may write no others.
    /// - Throws: `SyncError`.
    public func checkWriteAccess(prefix: String = "") async throws(SyncError) {
        try await multipartUpload(of: prefix + ".osssync/check-write").abort()
    }

    /// True if there is an object beneath the prefix.
    package func hasObjects(beneath prefix: String) async throws(SyncError) -> Bool {
        do throws(StorageError) {
            let page = try await store.list(
                ListRequest(prefix: ObjectKey(prefix), delimiter: nil, maximumKeys: 1)
            )
            return !page.objects.isEmpty || page.next != nil
        } catch {
            throw SyncError(error)
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
