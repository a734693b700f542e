internal import ObjectStorage
package import ObjectTransfer
internal import SyncModel

/// What a caller says of the connection; nil leaves it to the environment and the configuration.
package struct ConnectionOptions: Sendable, Hashable {
    /// A profile of the configuration files.
    package var profile: String?
    /// A configuration file instead of `~/.config/osssync/config`.
    package var configurationFile: String?
    /// The bucket's region, such as `cn-hangzhou`.
    package var region: String?
    /// A host or a URL without a path.
    package var endpoint: String?
    /// `virtual`, `path`, `cname` or `auto`.
    package var addressing: String?
    /// The kind of store behind an `s3://` remote: `aws`, `minio`, `seaweedfs`, `r2`, `ceph` or
    /// `generic`.
    package var provider: String?
    /// `v4` or `v1`.
    package var signature: String?
    /// Certificate authorities in PEM form instead of the system's.
    package var caFile: String?
    /// Allows plain http to other hosts than this one.
    package var allowsInsecureHTTP = false
    /// Where the state is instead of `DIR/.osssync`.
    package var stateDirectory: String?
    /// Encrypts the contents of a mirror that is linked.
    package var encryptsContents = false
    /// A file with the passwords of encrypted contents, which only its owner can read.
    package var encryptionPasswordFile: String?
    /// A command that prints the passwords of encrypted contents; started without a shell.
    package var encryptionPasswordCommand: String?
    /// The longest time in which nothing moves before a request is given up; nil: 30 s.
    package var timeout: Duration?
    /// How often a request is repeated at most; nil: 7 times.
    ///
    /// Without a connection all requests wait together, for about two minutes in all.
    package var retries: Int?
    /// True if the first request fails after three attempts without a connection: a user is
    /// waiting, and the address may be misspelled.
    package var givesUpSoon = false
    /// The longest pause before a retry, even if the service asks for more; nil: 30 s, or up to 120
    /// s if the service asks for it.
    package var retryWait: Duration?
    /// What all requests together may move; nil: no limit.
    package var bandwidth: BandwidthTimetable?

    /// Makes options that leave everything open.
    package init() {}
}

/// Where configuration comes from: what the caller says, then the environment, then files.
package struct ConfigurationSources: Sendable {
    /// What the caller says.
    package var options: ConnectionOptions
    /// Environment variables, by name.
    package var environment: [String: String]
    /// The user's home directory; nil if there is none.
    package var homeDirectory: String?
    /// This machine's name, for the names of conflict copies.
    package var hostName: String
    /// Called from any thread for each failed request that is retried; a run reports its own as
    /// events.
    package var onRetry: (@Sendable (RetryEvent) -> Void)?

    /// What failed in the last runs; to be shared by the runs of one directory.
    package var failures = FailureMemory()

    /// What of the environment is ignored, each in a sentence.
    package var warnings: [String] {
        let names = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"]
        guard names.contains(where: { environment[$0]?.isEmpty == false }) else { return [] }
        return ResolvedConnection.exceptions(environment).unusable.map { entry in
            "'\(displayText(entry.utf8))' in no_proxy is ignored: it is no host, address, range of "
                + "addresses or '*.' with a name"
        }
    }

    /// Makes sources; the library itself never reads the process's environment.
    package init(
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
package final class FailureMemory: Sendable {
    package let streaks = FailureStreaks()

    /// Makes one without any failure.
    package init() {}
}
