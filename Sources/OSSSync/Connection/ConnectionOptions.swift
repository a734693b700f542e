internal import ObjectStorage
public import ObjectTransfer
internal import SyncModel

/// What a caller says of the connection; nil leaves it to the environment and the configuration.
public struct ConnectionOptions: Sendable, Hashable {
    /// A profile of the configuration files.
    public var profile: String?
    /// A configuration file instead of `~/.config/osssync/config`.
    public var configurationFile: String?
    /// The bucket's region, such as `cn-hangzhou`.
    public var region: String?
    /// A host or a URL without a path.
    public var endpoint: String?
    /// `virtual`, `path`, `cname` or `auto`.
    public var addressing: String?
    /// The kind of store behind an `s3://` remote: `aws`, `minio`, `seaweedfs`, `r2`, `ceph` or
    /// `generic`.
    public var provider: String?
    /// `v4` or `v1`.
    public var signature: String?
    /// Certificate authorities in PEM form instead of the system's.
    public var caFile: String?
    /// Allows plain http to other hosts than this one.
    public var allowsInsecureHTTP = false
    /// Where the state is instead of `DIR/.osssync`.
    public var stateDirectory: String?
    /// Encrypts the contents of a mirror that is linked.
    public var encryptsContents = false
    /// A file with the passwords of encrypted contents, which only its owner can read.
    public var encryptionPasswordFile: String?
    /// A command that prints the passwords of encrypted contents; started without a shell.
    public var encryptionPasswordCommand: String?
    /// The longest time in which nothing moves before a request is given up; nil: 30 s.
    public var timeout: Duration?
    /// How often a request is repeated at most; nil: 7 times.
    ///
    /// Without a connection all requests wait together, for about two minutes in all.
    public var retries: Int?
    /// True if the first request fails after three attempts without a connection: a user is
    /// waiting, and the address may be misspelled.
    public var givesUpSoon = false
    /// The longest pause before a retry, even if the service asks for more; nil: 30 s, or up to 120
    /// s if the service asks for it.
    public var retryWait: Duration?
    /// What all requests together may move; nil: no limit.
    public var bandwidth: BandwidthTimetable?

    /// Makes options that leave everything open.
    public init() {}
}

/// Where configuration comes from: what the caller says, then the environment, then files.
public struct ConfigurationSources: Sendable {
    /// What the caller says.
    public var options: ConnectionOptions
    /// Environment variables, by name.
    public var environment: [String: String]
    /// The user's home directory; nil if there is none.
    public var homeDirectory: String?
    /// This machine's name, for the names of conflict copies.
    public var hostName: String
    /// Called from any thread for each failed request that is retried; a run reports its own as
    /// events.
    public var onRetry: (@Sendable (RetryEvent) -> Void)?

    /// What failed in the last runs; to be shared by the runs of one directory.
    public var failures = FailureMemory()

    /// What of the environment is ignored, each in a sentence.
    public var warnings: [String] {
        let names = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"]
        guard names.contains(where: { environment[$0]?.isEmpty == false }) else { return [] }
        return ResolvedConnection.exceptions(environment).unusable.map { entry in
            "'\(displayText(entry.utf8))' in no_proxy is ignored: it is no host, address, range of "
                + "addresses or '*.' with a name"
        }
    }

    /// Makes sources; the library itself never reads the process's environment.
    public init(
        options: ConnectionOptions,
        environment: [String: String],
        homeDirectory: String?,
        hostName: String
    ) {
        self.options = options
        self.environment = environment
        self.homeDirectory = homeDirectory
        self.hostName = hostName
    }
}

/// Counts what fails again and again for one reason, also from one run to the next.
///
/// Ten failures in a row end a run; the runs of a watch have few files each.
public final class FailureMemory: Sendable {
    package let streaks = FailureStreaks()

    /// Makes one without any failure.
    public init() {}
}
