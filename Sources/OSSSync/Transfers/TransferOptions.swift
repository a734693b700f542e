internal import SyncEngine

/// When and how a transfer that lost its connection goes on by itself.
public struct ReconnectPolicy: Sendable, Hashable {
    /// The pause after the first loss; each next one is twice as long, up to ``longestPause``.
    public var firstPause: Duration
    /// The longest pause.
    public var longestPause: Duration
    /// Attempts in a row that moved nothing, after which the transfer fails; it can be resumed
    /// then.
    public var attempts: Int

    /// Makes a policy.
    public init(firstPause: Duration, longestPause: Duration, attempts: Int) {
        self.firstPause = firstPause
        self.longestPause = longestPause
        self.attempts = attempts
    }

    /// From one second to one minute, thirty times in a row: through half an hour without network.
    public static let standard = ReconnectPolicy(
        firstPause: .seconds(1),
        longestPause: .seconds(60),
        attempts: 30
    )

    func pause(after failures: Int) -> Duration {
        min(firstPause * (1 << min(failures, 20)), longestPause)
    }
}

/// The choices of a download.
public struct DownloadOptions: Sendable, Hashable {
    /// Where the record of an unfinished download is kept, so that another process can go on.
    ///
    /// The directory is made if it is missing, and is made private; its parent must exist. Nil:
    /// whoever calls keeps the checkpoint.
    public var recordDirectory: String?
    /// The preferred size of a range, in bytes: 8 MiB.
    public var partSize: Int64 = 8 << 20
    /// Ranges that are fetched at once: 4.
    public var streams = 4
    /// Replaces a file that is there already, by one rename at the end; otherwise it is an error of
    /// code `alreadyExists`.
    public var replacesFile = true
    /// Whether a finished file has to survive a power cut.
    public var durability = Durability.full
    /// Goes on by itself after a lost connection; nil: that is an error, and `resume()` goes on.
    public var reconnects: ReconnectPolicy?
    /// The shortest time between two progresses: a tenth of a second.
    public var progressInterval = Duration.milliseconds(100)
    /// True for a manager, which forgets the record once it has written down the end itself.
    var keepsRecord = false

    /// Makes the options that `osssync get` itself uses, without a record directory.
    public init() {}

    func check() throws(SyncError) {
        guard partSize > 0, (1...64).contains(streams) else {
            throw SyncError(
                code: .configuration,
                message: "a download has ranges of at least a byte, and 1 to 64 at once"
            )
        }
    }
}

/// Something that happens to a transfer and is no failure.
public enum TransferNotice: Sendable, Hashable {
    /// It goes on where it stopped: so many bytes are there already.
    case resumed(bytes: Int64)
    /// It cannot go on where it stopped, for this reason.
    case startedOver(StartOverReason)
    /// The connection was lost, as the text says; the transfer goes on after a pause.
    case waiting(Duration, message: String)
}
