internal import ObjectStorage

/// How a bucket is reached, as specified by an app: reads neither the environment nor any file.
///
/// ```swift
/// let configuration = StoreConfiguration(
///     region: "cn-hangzhou",
///     credentials: .provider { try await askMyServerForTemporaryKeys() }
/// )
/// ```
public struct StoreConfiguration: Sendable {
    /// How a request names its bucket.
    @nonexhaustive
    public enum Addressing: Sendable, Hashable {
        /// In front of the host; in the path for an IP address and `localhost`.
        case automatic
        /// In front of the host, as OSS itself wants it.
        case virtual
        /// In the path, as many look-alikes of S3 want it.
        case path
        /// Nowhere: the endpoint is a domain of the bucket's own.
        case customDomain

        var choice: AddressingChoice {
            switch self {
            case .automatic: .auto
            case .virtual: .virtual
            case .path: .path
            case .customDomain: .cname
            }
        }
    }

    /// The version of OSS's signatures; S3 has one only.
    @nonexhaustive
    public enum Signature: Sendable, Hashable {
        /// The version that OSS asks for.
        case v4
        /// For old stores that know nothing else.
        case v1
    }

    /// The kind of an S3 store, for addresses that do not identify it; ignored for OSS.
    @nonexhaustive
    public enum Provider: String, Sendable, Hashable, CaseIterable {
        /// Amazon S3, also behind a host of one's own.
        case aws
        /// MinIO.
        case minio
        /// SeaweedFS, which keeps no backslash in a key.
        case seaweedfs
        /// Cloudflare R2, also behind a domain of one's own.
        case r2
        /// The gateway of Ceph.
        case ceph
        /// Another one, which has an endpoint of its own.
        case generic
    }

    /// The bucket's region, such as `cn-hangzhou`; nil if the endpoint's host contains it.
    public var region: String?
    /// A host or a URL without a path; nil for the region's public endpoint.
    public var endpoint: String?
    /// What requests are signed with.
    public var credentials: CredentialsSource
    /// How a request names its bucket.
    public var addressing: Addressing = .automatic
    /// The kind of an S3 store; nil if its endpoint identifies it.
    public var provider: Provider?
    /// How requests are signed.
    public var signature: Signature = .v4
    /// How long and how fast connections may be, and over what they go.
    public var connection = ConnectionSettings()

    /// Makes a configuration; what is unusable in it is found when it is used, as `TransferError`
    /// of code `configuration`.
    public init(region: String?, endpoint: String? = nil, credentials: CredentialsSource) {
        self.region = region
        self.endpoint = endpoint
        self.credentials = credentials
    }
}

/// How long and how fast connections may be, and over what they go.
public struct ConnectionSettings: Sendable, Hashable {
    /// How long a connection may take to be made: 10 s.
    public var connectTimeout = Duration.seconds(10)
    /// The longest time in which nothing, or less than 1 KiB a second, moves: 30 s.
    public var stallTimeout = Duration.seconds(30)
    /// How often a request is repeated at most: 7 times.
    ///
    /// Without a connection all requests wait together, for about two minutes in all.
    public var retries = 7
    /// The longest pause before a repetition, if the service does not ask for more: 30 s.
    public var longestRetryPause = Duration.seconds(30)
    /// The largest number of requests in flight: 16.
    public var connectionLimit = 16
    #if SystemLibraries
    /// The largest number of bytes that all requests together move in a second, both ways; nil for
    /// no limit.
    ///
    /// With the trait `SystemLibraries` only: URLSession has no such limit. It counts for the
    /// source, target or bucket with these settings; with ``sharedLimits`` it must be nil if they
    /// have a bandwidth.
    public var bandwidthLimit: Int64?
    #endif
    /// Limits in common with all that have the same object; nil for none.
    public var sharedLimits: SharedLimits?
    /// Counts and logs the requests of everything that has the same object; nil for none.
    public var monitor: TransferMonitor?
    #if SystemLibraries
    /// The URL of a proxy; nil for none.
    ///
    /// With the trait `SystemLibraries` only: URLSession uses the system's.
    public var proxy: String?
    /// Certificate authorities in PEM form instead of the system's.
    ///
    /// With the trait `SystemLibraries` only.
    public var caFile: String?
    #endif
    /// Allows plain http to other hosts than this one, where anyone on the way can read and change
    /// everything.
    public var allowsInsecureHTTP = false

    /// Makes the settings that `osssync` itself uses.
    public init() {}
}
