internal import ObjectTransfer

extension ConnectionSettings {
    /// When and how a transfer that lost its connection resumes by itself.
    public struct ReconnectPolicy: Sendable, Hashable {
        /// The pause after the first loss; each next one is twice as long, up to ``longestPause``.
        public var firstPause: Duration
        /// The longest pause.
        public var longestPause: Duration
        /// Attempts in a row that moved nothing, after which the transfer fails; it can be resumed
        /// then.
        public var attempts: Int

        /// Makes a policy: pauses of up to a day, and attempts from 0; a transfer checks both when
        /// it is made.
        public init(firstPause: Duration, longestPause: Duration, attempts: Int) {
            self.firstPause = firstPause
            self.longestPause = longestPause
            self.attempts = attempts
        }

        /// From one second to one minute, thirty times in a row: through half an hour without
        /// network.
        public static let standard = ReconnectPolicy(
            firstPause: .seconds(1),
            longestPause: .seconds(60),
            attempts: 30
        )

        func pause(after failures: Int) -> Duration {
            min(firstPause * (1 << min(failures, 20)), longestPause)
        }
    }
}

/// How a download is cut, paused and resumed, where its record is, and what happens to a file that
/// is there already; for ``ResumableDownload`` and ``TransferJob``.
///
/// ```swift
/// var options = DownloadOptions()
/// options.recordDirectory = "records"
/// options.reconnects = .standard
/// ```
public struct DownloadOptions: Sendable, Hashable {
    /// Where the record of an unfinished download is kept, so that another process can resume it.
    ///
    /// The directory is made if it is missing, for this user alone; its parent must exist. Nil: the
    /// caller keeps the checkpoint.
    public var recordDirectory: String?
    /// The app's own name for the download, by which another process finds its record.
    ///
    /// With it, the file may be another one, and two transfers must not have the same. Nil: the
    /// record is found by the file.
    public var identity: String?
    /// A directory above the file that may be moved together with it, such as an app's container.
    ///
    /// Records name the file relative to it. Nil: records have absolute paths.
    public var base: String?
    /// The preferred size of a range, in bytes: 32 MiB.
    ///
    /// An object that is no larger takes one request, if there are enough ``streams`` for it.
    public var partSize: Int64 = 32 << 20
    /// Ranges that are fetched at once: 16.
    ///
    /// All requests together ask for at most 4 MiB for each of them, the first one for half of
    /// that: a process that is killed loses no more, and no more than came in its last two seconds
    /// if there is a ``recordDirectory``. A smaller object has fewer requests, and these
    /// are larger. Where the system's receive buffer is known, on Linux with libcurl, the first
    /// request asks for several ranges, and the others begin with these if it is slow.
    public var streams = 16
    /// What a pause may cost, in bytes that are fetched again: 1 MiB, and at least 64 KiB.
    ///
    /// A pause closes a connection when all that has arrived is read, or when no more than this is
    /// missing. What is on its way by then comes again: little on a slow line.
    public var pauseLoss: Int64 = 1 << 20
    /// Reserves room for the whole object before its bytes come: a disk that is too full is an
    /// error at once, and a paused download keeps that room.
    ///
    /// False: the partial file takes the room of the bytes that have come. A disk that becomes full
    /// ends the download with an error of code `localState`, and what came is kept.
    public var reservesSpace = true
    /// What happens if there is already a file: it is replaced by one rename at the end.
    public var ifExists = ExistingTarget.replace
    /// Resumes by itself after a lost connection; nil: throws an error, and the app calls
    /// ``Transfer/resume()``.
    public var reconnects: ConnectionSettings.ReconnectPolicy?
    /// The shortest time between two progresses: a tenth of a second.
    public var progressInterval = Duration.milliseconds(100)

    /// Makes the options that `osssync get` itself uses, without a record directory.
    public init() {}

    func check() throws(TransferError) {
        try check(largestPart: .max)
        try SettingBounds.check(pauseLoss, "pauseLoss", 64 << 10...Int64.max)
    }
}

/// Something that happens to a transfer and is no failure.
@nonexhaustive
public enum TransferNotice: Sendable, Hashable {
    /// It resumes where it stopped: this many bytes are there already.
    case resumed(bytes: Int64)
    /// It starts over, for this reason.
    case startedOver(StartOverReason)
    /// There is no connection, for the reason in the text; the transfer tries again after a pause.
    ///
    /// It comes as soon as the first request finds no connection, again when the pauses grow, and
    /// after the last repetition if the transfer reconnects by itself. The wait is over with the
    /// next progress.
    case waiting(pause: Duration, message: String)
    /// Something that the user should know, as the text says.
    case warning(message: String)
}

extension TransferNotice: CustomStringConvertible, CustomDebugStringConvertible {
    /// What happened, for a log.
    public var description: String {
        switch self {
        case .resumed(let bytes): "resumed after \(bytes) bytes"
        case .startedOver(let reason): "started over: \(reason)"
        case .waiting(let pause, let message): "\(message); resumes after \(pause)"
        case .warning(let message): message
        }
    }

    /// The same.
    public var debugDescription: String { description }
}
