public import OSSTransfer
internal import ObjectStorage
internal import SyncModel

/// A bucket in the memory of this process, for tests and previews.
///
/// ```swift
/// let bucket = InMemoryBucket()
/// bucket["films/film.mov"] = bytes
/// let download = try ResumableDownload(
///     from: .object(bucket.client, key: "films/film.mov"), to: path
/// )
/// ```
///
/// Its ``client`` is an ordinary `BucketClient`: single calls, listings, multipart uploads and
/// transfers run the same code as with a real store, and no byte leaves the process. The bucket
/// speaks the dialect of OSS, and has neither versions, tags, encryption, callbacks nor archive
/// classes. A signed URL leads nowhere: a download of it is an error of code `configuration`.
public final class InMemoryBucket: Sendable {
    /// A client of this bucket.
    public let client: BucketClient
    private let store: MemoryStore

    /// Makes an empty bucket.
    ///
    /// - Parameter monitor: Counts and logs the client's requests; nil for none.
    public init(monitor: TransferMonitor? = nil) {
        let store = MemoryStore()
        self.store = store
        client = BucketClient(store, monitor)
    }

    /// The content of an object; nil if there is none with this key.
    ///
    /// Setting nil deletes it.
    public subscript(key: String) -> [UInt8]? {
        get { store.content(ObjectKey(key)) }
        set { store.set(ObjectKey(key), newValue) }
    }

    /// The keys of all objects, in the order of a listing.
    public var keys: [String] { store.keys.map(\.text) }

    /// Lets the next requests fail, as a store would.
    ///
    /// - Parameters:
    ///   - count: How many of them; a later call replaces this one.
    ///   - status: The HTTP status: 503, which is retried three times.
    ///   - code: The service's name of the failure.
    public func failNextRequests(
        _ count: Int,
        status: Int = 503,
        code: String = "ServiceUnavailable"
    ) {
        store.failNextRequests(count, status: status, code: code)
    }
}

extension BucketClient {
    fileprivate init(_ memory: MemoryStore, _ monitor: TransferMonitor?) {
        var network = NetworkSettings.ofThisVersion
        network.retry = RetryPolicy(
            attempts: 4,
            base: .milliseconds(1),
            throttleBase: .milliseconds(1),
            cap: .milliseconds(10),
            retryAfterCap: .milliseconds(10),
            runBudget: 1_000_000
        )
        let client = StorageClient(
            configuration: StorageConfiguration(
                dialect: .oss,
                endpoint: Endpoint.memory,
                bucket: MemoryStore.bucket,
                credentials: MemoryCredentials(),
                network: network
            ),
            environment: SystemClocks.storage(monitor) { _ in },
            transport: MemoryTransport { memory.answer($0) }
        )
        self.init(
            MemoryStore.bucket,
            dialect: .oss,
            host: Endpoint.memory.host,
            store: client,
            monitor: monitor
        )
    }
}

private struct MemoryCredentials: CredentialsProvider {
    let name = "the bucket in memory"

    func credentials() async throws(CredentialsError) -> Credentials {
        try Credentials(source: name, id: "memory", secret: "memory", token: nil, expires: nil)
    }
}
