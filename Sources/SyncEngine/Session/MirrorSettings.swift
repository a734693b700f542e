package import LocalStorage
package import ObjectStorage
package import ObjectTransfer
package import SyncModel

/// Which remote a manifest was made with; another one is refused.
package struct RemoteIdentity: Sendable, Hashable {
    private static let past = " as of "
    private static let encrypted = " encrypted "

    /// `oss` or `s3`; with the check value of the password behind ``encrypted``, for encrypted
    /// contents; with the time behind ``past``, for a bucket as it was.
    package let dialect: String
    package let endpointHost: String
    /// The number, or ``defaultPort``; nil in a state that was recorded without one.
    let endpointPort: String?
    package let bucket: String
    package let prefix: String

    /// Where https and http answer: one store, by whichever of them it is asked.
    private static let defaultPort = "default"

    /// `encryption` is by what a password is known to be another one; `asOf` is the time of a
    /// bucket as it was.
    package init(
        dialect: String,
        endpointHost: String,
        endpointPort: Int? = nil,
        bucket: String,
        prefix: String,
        encryption: String? = nil,
        asOf: StoreTime? = nil
    ) {
        let time = asOf.map { time in
            let text = time.text
            return Self.past + text.prefix { $0 != "." } + "Z"
        }
        self.dialect = dialect + (encryption.map { Self.encrypted + $0 } ?? "") + (time ?? "")
        self.endpointHost = Self.place(endpointHost)
        self.endpointPort =
            endpointPort.flatMap { [443, 80].contains($0) ? nil : String($0) } ?? Self.defaultPort
        self.bucket = bucket
        self.prefix = prefix
    }

    /// False where one of them was recorded without its port and all else is the same.
    func isAnother(than other: RemoteIdentity) -> Bool {
        guard dialect == other.dialect, endpointHost == other.endpointHost,
            bucket == other.bucket, prefix == other.prefix
        else { return true }
        guard let endpointPort, let port = other.endpointPort else { return false }
        return endpointPort != port
    }

    /// True if both are of one bucket, whatever their prefixes are.
    func isOfSameBucket(as other: RemoteIdentity) -> Bool {
        endpointHost == other.endpointHost && bucket == other.bucket
    }

    /// Where it is, for messages.
    var display: String {
        displayText("'\(dialect.prefix { $0 != " " })://\(bucket)/\(prefix)' at '\(endpoint)'".utf8)
    }

    /// The host without what says that it is asked from within its region of OSS: the buckets are
    /// the same as from outside.
    static func place(_ host: String) -> String {
        let (inner, outer) = ("-internal.aliyuncs.com", ".aliyuncs.com")
        return host.hasSuffix(inner) ? host.dropLast(inner.count) + outer : host
    }

    /// What a state has recorded.
    init(
        recordedDialect: String,
        endpointHost: String,
        endpointPort: String?,
        bucket: String,
        prefix: String
    ) {
        dialect = recordedDialect
        self.endpointHost = Self.place(endpointHost)
        self.endpointPort = endpointPort
        self.bucket = bucket
        self.prefix = prefix
    }

    /// The host, and the port if it is a special one.
    var endpoint: String {
        guard let endpointPort, endpointPort != Self.defaultPort else { return endpointHost }
        let host =
            endpointHost.utf8.contains(UInt8(ascii: ":")) ? "[\(endpointHost)]" : endpointHost
        return host + ":" + endpointPort
    }

    /// The check value of the password, as ``dialect`` has it; nil for contents that are stored as
    /// they are.
    static func encryption(_ dialect: String) -> Substring? {
        guard let start = dialect.utf8.firstIndex(ofBytes: encrypted.utf8) else { return nil }
        return dialect[start...].dropFirst(encrypted.count).prefix { $0 != " " }
    }

    /// Why objects that were written with the dialect `recorded` are not read with this one: their
    /// password is another one, or one of both has none; nil if it is the same.
    ///
    /// Another place may have another password, and may be the first that is encrypted; none is
    /// the first that is not.
    static func refusal(
        ofEncryption dialect: String,
        after recorded: String,
        isSamePlace: Bool,
        directory: String
    ) -> TransferError? {
        let (known, found) = (encryption(recorded), encryption(dialect))
        guard known != found, isSamePlace || found == nil else { return nil }
        let anew =
            "link the directory with an empty prefix (osssync init --rebind --encrypt DIR "
            + "REMOTE)"
        let text =
            switch (known, found) {
            case (_?, _?):
                "was encrypted with another password; nothing was changed. Use that one, or \(anew)"
            case (nil, _):
                "is a mirror whose contents are not encrypted; nothing was changed. Objects are "
                    + "not encrypted in place: \(anew)"
            case (_, nil):
                "is a mirror whose contents are encrypted; nothing was changed. Link it again with "
                    + "osssync init --encrypt --encryption-password-file FILE DIR REMOTE"
            }
        return TransferError(
            code: .refused,
            message: "'\(displayText(directory.utf8))' \(text)"
        )
    }

    /// The time of a bucket as it was, as ``dialect`` has it.
    static func time(_ dialect: String) -> Substring? {
        guard let start = dialect.utf8.firstIndex(ofBytes: past.utf8) else { return nil }
        return dialect[start...].dropFirst(past.count)
    }

    /// Why nothing but a pull of that time runs in the directory; nil for a bucket as it is.
    static func reason(ofTime dialect: String, in directory: String) -> String? {
        time(dialect).map { time in
            "'\(displayText(directory.utf8))' has the bucket as of \(time); use --as-of \(time) "
                + "for it, and another directory for any other time"
        }
    }
}

/// One directory, one remote and the means to reach both.
package struct MirrorSettings: Sendable {
    /// The mirrored directory.
    package var directory: String
    /// Where the state is, if not in the directory's `.osssync`.
    package var stateDirectory: String?
    /// The user's home directory, which is refused as a mirror; nil if there is none.
    package var homeDirectory: String?
    /// Empty, or ending in "/".
    package var prefix: ObjectKey
    package var identity: RemoteIdentity
    /// The remote as messages show it.
    package var displayRemote: String
    package var store: any ObjectReader
    package var storeObserver: StoreObserver
    package var environment: EngineEnvironment
    /// The system's own; tests make them fail.
    package var systemCalls = SystemCalls.standard
    package var limits = RunLimits.standard
    /// The part of a cut mirror that a session is of; nil for a mirror that is not cut.
    var shard: Shard?

    package init(
        directory: String,
        stateDirectory: String?,
        homeDirectory: String?,
        prefix: ObjectKey,
        identity: RemoteIdentity,
        displayRemote: String,
        store: any ObjectReader,
        storeObserver: StoreObserver,
        environment: EngineEnvironment
    ) {
        self.directory = directory
        self.stateDirectory = stateDirectory
        self.homeDirectory = homeDirectory
        self.prefix = prefix
        self.identity = identity
        self.displayRemote = displayRemote
        self.store = store
        self.storeObserver = storeObserver
        self.environment = environment
    }
}

extension MirrorSettings {
    /// Why no run of this direction is possible in a directory that has the bucket as of a time;
    /// nil if one is.
    func timeRefusal(of direction: SyncDirection) -> String? {
        guard direction != .pull else { return nil }
        return RemoteIdentity.reason(ofTime: identity.dialect, in: directory)
    }
}
