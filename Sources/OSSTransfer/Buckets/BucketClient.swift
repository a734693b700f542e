package import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// What a listing says of one object.
public struct ListedObject: Sendable, Hashable {
    /// The whole key, escaped so that it is safe to print.
    public let key: String
    /// The whole key, unescaped, for other calls.
    public let exactKey: String
    /// Bytes.
    public let size: Int64
    /// The tag of this version, without quotes.
    public let etag: String
    /// RFC 3339 in UTC; nil if the store gave none.
    public let lastModified: String?
    /// The store's name of the storage class.
    public let storageClass: String
}

/// One entry of a listing of one level.
public enum LevelEntry: Sendable, Hashable {
    /// An object.
    case object(ListedObject)
    /// How the keys of one or more objects begin, with "/" at its end: safe to print, and as it is.
    case directory(key: String, exactKey: String)
}

/// One bucket, for single calls.
public struct BucketClient: Sendable {
    /// The bucket and the prefix that listings begin with.
    public let remote: Remote
    package let store: StorageClient
    /// For transfers.
    let limitedStore: any ObjectStore
    /// The service's host, by which records know the bucket again.
    let host: String
    private let clock: ClockWatch

    /// Creates a client from an app's configuration; sends no request.
    ///
    /// - Throws: `SyncError` of code `configuration`.
    public init(remote: Remote, configuration: StoreConfiguration) throws(SyncError) {
        try self.init(
            remote: remote,
            connection: try ResolvedConnection(remote, configuration),
            connectionLimit: configuration.connection.connectionLimit,
            limits: configuration.connection.sharedLimits
        )
    }

    package init(
        remote: Remote,
        connection: ResolvedConnection,
        connectionLimit: Int = 4,
        limits: SharedLimits? = nil
    ) throws(SyncError) {
        let clock = ClockWatch()
        self.remote = remote
        self.clock = clock
        host = connection.endpoint.host
        let store = try StoreFactory.store(
            connection,
            bucket: remote.bucket,
            connectionLimit: connectionLimit,
            observe: { observation in
                clock.observe(observation)
                guard case .retrying(let notice) = observation else { return }
                connection.notify(notice, prefix: remote.prefixKey)
            }
        )
        self.store = store
        limitedStore = limits?.limiting(store) ?? store
    }

    /// An object as records know it again, without secrets.
    func subject(of key: String) -> String {
        "\(remote.dialect.rawValue)://\(host)/\(remote.bucket)/\(key)"
    }

    /// Seconds by which this machine's clock is behind the service's, if requests had to be signed
    /// by the service's; nil otherwise.
    public var correctedClockSeconds: Int64? { clock.offset }

    /// Lists every object beneath the remote's prefix, in key order.
    ///
    /// - Parameter onObject: Called for each object during the listing; return false to end it.
    /// - Throws: `SyncError`; a listing with inconsistent order or pages is an error, too.
    public func list(
        onObject: (ListedObject) -> Bool
    ) async throws(SyncError) {
        try await list(beginningWith: remote.prefix, onObject: onObject)
    }

    /// Lists every object whose whole key begins with `text`, in key order; the remote's prefix is
    /// not put before it.
    ///
    /// - Parameters:
    ///   - text: How the keys begin; not only up to a slash.
    ///   - onObject: Called for each object during the listing; return false to end it.
    /// - Throws: `SyncError`; a listing with inconsistent order or pages is an error, too.
    public func list(
        beginningWith text: String,
        onObject: (ListedObject) -> Bool
    ) async throws(SyncError) {
        try await list(ListRequest(prefix: ObjectKey(text))) { page in
            page.objects.allSatisfy { onObject(ListedObject($0)) }
        }
    }

    /// Lists one level of the objects whose whole keys begin with `text`: those without a "/" after
    /// it, and of the others how they begin up to that "/", in key order.
    ///
    /// - Parameters:
    ///   - text: How the keys begin; a directory with "/" at its end.
    ///   - onEntry: Called for each object and each directory during the listing; return false to
    ///     end it.
    /// - Throws: `SyncError`; a listing with inconsistent order or pages is an error, too.
    public func listLevel(
        beginningWith text: String,
        onEntry: (LevelEntry) -> Bool
    ) async throws(SyncError) {
        try await list(ListRequest(prefix: ObjectKey(text), delimiter: "/")) { page in
            var directories = page.commonPrefixes[...]
            for object in page.objects {
                while let first = directories.first, first < object.key {
                    directories.removeFirst()
                    guard onEntry(LevelEntry(first)) else { return false }
                }
                guard onEntry(.object(ListedObject(object))) else { return false }
            }
            return directories.allSatisfy { onEntry(LevelEntry($0)) }
        }
    }

    /// Hands each page to `onPage` until it returns false.
    private func list(
        _ first: ListRequest,
        onPage: (ListPage) -> Bool
    ) async throws(SyncError) {
        var validator = ListingValidator()
        var request = first
        do throws(StorageError) {
            while true {
                let page = try await store.list(request)
                try validator.accept(page, request: request)
                guard onPage(page), let next = page.next else { return }
                request.token = next
            }
        } catch {
            throw SyncError(error)
        }
    }

    /// Lists one object at most: shows that the bucket can be reached and read.
    ///
    /// - Throws: `SyncError`.
    public func checkAccess() async throws(SyncError) {
        _ = try await hasObjects()
    }

    /// Begins an upload and aborts it: shows that objects can be written.
    ///
    /// Its key is one of osssync's own, which no mirror has, and no object is made.
    ///
    /// - Throws: `SyncError`.
    public func checkWriteAccess() async throws(SyncError) {
        let key = remote.prefix + ".osssync/check-write"
        let upload = try await initiateUpload(of: key)
        try await abortUpload(of: key, uploadID: upload)
    }

    /// True if there is an object beneath the remote's prefix.
    package func hasObjects() async throws(SyncError) -> Bool {
        do throws(StorageError) {
            let page = try await store.list(
                ListRequest(prefix: remote.prefixKey, delimiter: nil, maximumKeys: 1)
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

extension LevelEntry {
    init(_ prefix: ObjectKey) {
        self = .directory(
            key: prefix.display,
            exactKey: String(decoding: prefix.bytes, as: UTF8.self)
        )
    }
}

extension ListedObject {
    init(_ object: RemoteObject) {
        key = object.key.display
        exactKey = String(decoding: object.key.bytes, as: UTF8.self)
        size = object.size
        etag = displayText(object.etag.text)
        lastModified = object.lastModified.map { time in
            CivilTime(time).extendedText(milliseconds: Int(time.nanoseconds / 1_000_000))
        }
        storageClass = displayText(object.storageClass.name)
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
