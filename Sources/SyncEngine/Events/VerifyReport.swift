/// What is verified, and what is done about damage.
public struct VerifyOptions: Sendable, Hashable {
    /// How much one `verify` reads.
    @nonexhaustive
    public enum Budget: Sendable, Hashable {
        /// No new file is begun after this time.
        case time(Duration)
        /// This part of the recorded files, from 1 to 100.
        case percent(Int)
    }

    /// Files and directories beneath the mirror's directory; none means all.
    public var paths: [String]
    /// Nil for everything; with one, it begins where the last one with a budget stopped.
    public var budget: Budget?
    /// Compares the bucket's checksums, too: one request for each object.
    public var checksRemote: Bool
    /// Fetches again what is damaged.
    public var repairs: Bool
    /// How long to wait while another run uses the directory; nil: as long as it takes.
    package var lockTimeout: Duration? = .zero

    /// Makes options.
    public init(
        paths: [String] = [],
        budget: Budget? = nil,
        checksRemote: Bool = false,
        repairs: Bool = false
    ) {
        self.paths = paths
        self.budget = budget
        self.checksRemote = checksRemote
        self.repairs = repairs
    }
}

/// What is not as recorded of one file or its object.
public struct VerifyFinding: Sendable, Hashable {
    /// What was found.
    @nonexhaustive
    public enum Kind: String, Sendable, Hashable {
        /// The file has other content, although its size and time are the recorded ones.
        case damaged
        /// The object's checksum is another one, although its tag is the recorded one.
        case remoteDamaged = "remote-damaged"
        /// There is no object.
        case remoteMissing = "remote-missing"
        /// The object was replaced since the last run.
        case remoteChanged = "remote-changed"
        /// The file or the object could not be read.
        case failed
    }

    /// The key relative to the remote's prefix.
    public var key: String
    /// The key in a form that is safe to print.
    public var displayKey: String
    /// Bytes, as recorded.
    public var size: Int64
    /// What was found.
    public var kind: Kind
    /// More about it, safe to print.
    public var message: String
}

/// What a `verify` found.
public struct VerifyReport: Sendable, Hashable {
    /// Files whose content is the recorded one.
    public var verified = 0
    /// Bytes that were read.
    public var bytes: Int64 = 0
    /// Files with other content under the recorded size and time.
    public var damaged = 0
    /// Files that were changed since the last run.
    public var changed = 0
    /// Files that were deleted since the last run.
    public var missing = 0
    /// Files of which no checksum is recorded.
    public var unverifiable = 0
    /// Objects with another checksum under the recorded tag.
    public var remoteDamaged = 0
    /// Objects that were replaced since the last run.
    public var remoteChanged = 0
    /// Recorded objects that are not there.
    public var remoteMissing = 0
    /// Files or objects that could not be read.
    public var failed = 0
    /// Damaged files that were fetched again.
    public var repaired = 0
    /// False if the budget ended before the last file.
    public var isFinished = true

    /// Makes an empty report.
    public init() {}

    /// True if nothing is damaged any more, and everything could be read.
    public var isGood: Bool {
        damaged == repaired && remoteDamaged == 0 && remoteMissing == 0 && failed == 0
    }
}
