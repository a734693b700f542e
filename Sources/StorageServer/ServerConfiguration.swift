internal import SyncModel

/// An access key that requests may be signed with.
package struct ServerCredentials: Sendable {
    package let accessKeyID: String
    package let secret: String
    /// If there is one, requests must carry it too.
    package let securityToken: String?

    package init(accessKeyID: String, secret: String, securityToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secret = secret
        self.securityToken = securityToken
    }
}

/// What a server is started with.
package struct ServerConfiguration: Sendable {
    /// The directory of objects and metadata; made if it is missing.
    package var root: String
    /// An IPv4 address in digits.
    package var listenAddress: String
    /// 0 for any free one.
    package var port: UInt16
    /// Buckets that exist from the start.
    package var buckets: [String]
    /// More of them, which keep versions.
    package var versionedBuckets: [String]
    package var generatedBuckets: [GeneratedBucket]
    package var credentials: [ServerCredentials]
    /// The region of signatures, such as `cn-hangzhou`.
    package var region: String
    package var faults: FaultScript?
    /// Added to the machine's clock.
    package var clockOffsetInSeconds: Int64
    /// How many HEADs of an archived object a restore takes; 0 restores at once.
    package var restorePolls: Int
    /// A file that gets one JSON line for each request.
    package var logFile: String?

    package init(
        root: String,
        listenAddress: String = "127.0.0.1",
        port: UInt16 = 0,
        buckets: [String],
        versionedBuckets: [String] = [],
        generatedBuckets: [GeneratedBucket] = [],
        credentials: [ServerCredentials],
        region: String = "cn-hangzhou",
        clockOffsetInSeconds: Int64 = 0,
        restorePolls: Int = 0,
        logFile: String? = nil
    ) {
        self.root = root
        self.listenAddress = listenAddress
        self.port = port
        self.buckets = buckets
        self.versionedBuckets = versionedBuckets
        self.generatedBuckets = generatedBuckets
        self.credentials = credentials
        self.region = region
        self.clockOffsetInSeconds = clockOffsetInSeconds
        self.restorePolls = restorePolls
        self.logFile = logFile
    }
}

/// Why a server could not start, or its files could not be used.
package enum ServerFailure: Error, Sendable {
    case file(path: String, call: String, code: Int32)
    case database(call: String, code: Int32, message: String)
    case listen(address: String, port: UInt16)
    case invalidBucketName(String)
    case invalidFaultScript(String)
    case invalidCredentials(String)

    package var message: String {
        switch self {
        case .file(let path, let call, let code):
            "'\(displayText(path.utf8))': \(call) failed with error \(code)."
        case .database(let call, let code, let message):
            "\(call) failed with \(code): \(message)."
        case .listen(let address, let port):
            "Can't listen on \(address):\(port). Is the address in use?"
        case .invalidBucketName(let name):
            "'\(displayText(name.utf8))' is no bucket name: 3 to 63 of a-z, 0-9 and hyphen."
        case .invalidFaultScript(let reason): "The fault script is not usable: \(reason)."
        case .invalidCredentials(let reason): "The credentials file is not usable: \(reason)."
        }
    }
}
