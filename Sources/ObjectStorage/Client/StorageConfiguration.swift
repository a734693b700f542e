/// Which bucket a client talks to, and how.
package struct StorageConfiguration: Sendable {
    package var dialect: StorageDialect
    package var endpoint: Endpoint
    package var bucket: String
    package var signatureVersion: SignatureVersion
    package var credentials: any CredentialsProvider
    package var connectTimeout: Duration
    /// The longest time in which nothing, or less than 1 KiB a second, moves.
    package var stallTimeout: Duration
    /// Idle connections that are kept.
    package var connectionLimit: Int
    /// Certificate authorities in PEM form; nil for the system's.
    package var caFile: String?
    /// Nil for none; the environment is not asked.
    package var proxy: String?
    /// What all requests together may move, both ways; nil for no limit.
    package var bandwidth: BandwidthLimit?
    package var userAgent: String
    package var retry: RetryPolicy
    /// Signed addresses of one object, which are sent as they are: nothing is signed then.
    package var urls: PresignedURLSource?
    /// Signs each request elsewhere: nothing is signed here then, either.
    package var signing: RequestSigning?

    package init(
        dialect: StorageDialect,
        endpoint: Endpoint,
        bucket: String,
        signatureVersion: SignatureVersion,
        credentials: any CredentialsProvider,
        connectTimeout: Duration,
        stallTimeout: Duration,
        connectionLimit: Int,
        caFile: String?,
        proxy: String?,
        bandwidth: BandwidthLimit? = nil,
        userAgent: String,
        retry: RetryPolicy
    ) {
        self.dialect = dialect
        self.endpoint = endpoint
        self.bucket = bucket
        self.signatureVersion = signatureVersion
        self.credentials = credentials
        self.connectTimeout = connectTimeout
        self.stallTimeout = stallTimeout
        self.connectionLimit = connectionLimit
        self.caFile = caFile
        self.proxy = proxy
        self.bandwidth = bandwidth
        self.userAgent = userAgent
        self.retry = retry
    }
}
