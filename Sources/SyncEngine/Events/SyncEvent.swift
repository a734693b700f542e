public import ObjectTransfer
public import SyncModel

/// What a run does to one key.
@nonexhaustive
public enum ItemAction: String, Sendable, Hashable {
    /// The object's content goes to the file.
    case download
    /// The file's content goes to the object.
    case upload
    /// The file is removed, to the trash.
    case deleteLocal = "delete-local"
    /// The object is deleted.
    case deleteRemote = "delete-remote"
    /// Content that is here already is copied or renamed instead of downloaded.
    case copyLocal = "copy-local"
    /// Content that is in the bucket already is copied there instead of uploaded.
    case copyRemote = "copy-remote"
    /// Both sides have the same content; the manifest learns it.
    case adopt
    /// Only the permissions changed, and the other side gets them.
    case mode
    /// Both sides lost it; the manifest forgets it.
    case forget
    /// The two sides disagree and the policy says what happens.
    case conflict
    /// Nothing is done, for a stated reason.
    case skip
}

/// How far an item is.
@nonexhaustive
public enum ItemState: String, Sendable, Hashable {
    /// Planned, in a dry run.
    case planned
    /// The transfer began at its first byte.
    case started
    /// The transfer resumes from a checkpoint.
    case resumed
    /// Finished and recorded.
    case done
    /// Ended with an error.
    case failed
    /// Skipped, for a stated reason.
    case skipped
}

/// One step of one item.
public struct ItemEvent: Sendable, Hashable {
    /// What the run does to it.
    public var action: ItemAction
    /// How far it is.
    public var state: ItemState
    /// The key relative to the remote's prefix.
    public var key: String
    /// The key in a form that is safe to print.
    public var displayKey: String
    /// The size in bytes of the content concerned.
    public var size: Int64
    /// Bytes moved over the network for this item in this run, so far.
    public var bytesTransferred: Int64
    /// Bytes that a checkpoint spared.
    public var bytesResumed: Int64
    /// What went wrong or why nothing was done, and what to do; safe to print.
    public var message: String?
    /// The service's id of the failed request, for its support; safe to print.
    public var requestID: String?
    /// True for symbolic links, special files and osssync's own names, which are never mirrored.
    public var isNeverMirrored = false
    /// The path at which the local version of a conflict was kept; nil if none was.
    ///
    /// The event of the download that takes its place has it, of state `done`: the name is chosen
    /// when the file is moved aside. The item's event of action `conflict` comes before that.
    public var keptAs: String?

    /// Why a pull keeps a file that changed here.
    package static let keptText = "changed locally; a pull keeps it (--force replaces it)"
    /// The same, where the bucket has no other version.
    package static let keptAloneText =
        "changed locally and deleted in the bucket; the file is kept (a push uploads it)"
    /// Why a freed file does not come back.
    package static let lostText =
        "it was freed, and is not in the bucket, which should have the "
        + "only copy; 'osssync pull' of it gives it up"

    /// Makes an event.
    public init(
        action: ItemAction,
        state: ItemState,
        key: String,
        displayKey: String? = nil,
        size: Int64,
        bytesTransferred: Int64,
        bytesResumed: Int64,
        message: String?,
        requestID: String?
    ) {
        self.action = action
        self.state = state
        self.key = key
        self.displayKey = displayKey ?? displayText(key.utf8)
        self.size = size
        self.bytesTransferred = bytesTransferred
        self.bytesResumed = bytesResumed
        self.message = message
        self.requestID = requestID
    }
}

/// How far a run is; totals grow while the plan is still being made.
public struct RunProgress: Sendable, Hashable {
    /// True once every listing has been read to its end.
    public var isPlanComplete: Bool
    /// Items to do, as far as known.
    public var itemsPlanned: Int
    /// Items finished, failed or skipped.
    public var itemsFinished: Int
    /// Bytes to move, as far as known.
    public var bytesPlanned: Int64
    /// Bytes moved or spared by checkpoints.
    public var bytesFinished: Int64
    /// Bytes that checkpoints spared.
    public var bytesResumed: Int64
    /// Bytes of those that the store copied, which are not sent.
    public var bytesCopied: Int64 = 0
    /// Items that failed so far; their bytes are no longer among those to move.
    public var failed = 0
    /// Keys that were compared so far.
    public var keysCompared = 0
    /// Keys that the manifest has, which tells how far the plan is; 0 for a first run.
    public var keysRecorded = 0
    /// The transfers under way, the longest running first; at most 16.
    public var active: [ActiveTransfer]

    /// Makes a progress report.
    public init(
        isPlanComplete: Bool,
        itemsPlanned: Int,
        itemsFinished: Int,
        bytesPlanned: Int64,
        bytesFinished: Int64,
        bytesResumed: Int64,
        active: [ActiveTransfer]
    ) {
        self.isPlanComplete = isPlanComplete
        self.itemsPlanned = itemsPlanned
        self.itemsFinished = itemsFinished
        self.bytesPlanned = bytesPlanned
        self.bytesFinished = bytesFinished
        self.bytesResumed = bytesResumed
        self.active = active
    }
}

/// One transfer under way.
public struct ActiveTransfer: Sendable, Hashable {
    /// Download or upload.
    public var action: ItemAction
    /// The key relative to the remote's prefix.
    public var key: String
    /// The key in a form that is safe to print.
    public var displayKey: String
    /// The size in bytes of the whole.
    public var size: Int64
    /// Bytes that are where they belong, those of checkpoints included.
    public var bytesFinished: Int64
    /// Bytes that a checkpoint spared.
    public var bytesResumed: Int64
    /// Bytes per second; nil if that was not measured.
    public var rate: Int64?
    /// What it waits for, if a reporter found that it does not move.
    public var waiting: String?

    /// Makes a report of one transfer.
    public init(
        action: ItemAction,
        key: String,
        displayKey: String? = nil,
        size: Int64,
        bytesFinished: Int64,
        bytesResumed: Int64
    ) {
        self.action = action
        self.key = key
        self.displayKey = displayKey ?? displayText(key.utf8)
        self.size = size
        self.bytesFinished = bytesFinished
        self.bytesResumed = bytesResumed
    }
}

/// Why a run ended before everything was done, without anything being wrong.
@nonexhaustive
public enum RunLimit: String, Sendable, Hashable {
    /// ``RunOptions/maximumTransfer``.
    case transfer = "max-transfer"
    /// ``RunOptions/maximumDuration``.
    case duration = "max-duration"
}

/// What happened in a whole run.
public struct RunSummary: Sendable, Hashable {
    /// The run's number in the manifest; 0 for a dry run.
    public var runID: Int64 = 0
    /// The way it went.
    public var direction: SyncDirection
    /// The paths that the run was limited to; none for a run of the whole mirror.
    public var paths: [String] = []
    /// Files downloaded or objects uploaded.
    public var transferred = 0
    /// Those of them that are versions which a conflict kept beside its file.
    public var conflictCopies = 0
    /// Bytes moved over the network as content of those, and of transfers that were interrupted.
    public var bytes: Int64 = 0
    /// Bytes moved for items that failed.
    public var bytesFailed: Int64 = 0
    /// Bytes that checkpoints spared; of a dry run, that they will spare.
    public var bytesResumed: Int64 = 0
    /// Bytes of changed files that the store copied from the version before, so that they were not
    /// sent; of a dry run, as many of `bytes` as may be copied.
    public var bytesCopied: Int64 = 0
    /// Files or objects deleted.
    public var deleted = 0
    /// Items made from content that was there already.
    public var renamed = 0
    /// Items found equal on both sides and recorded.
    public var adopted = 0
    /// Items of which only the permissions were carried to the other side.
    public var modes = 0
    /// Items that needed nothing.
    public var unchanged = 0
    /// Items changed on both sides.
    public var conflicts = 0
    /// Items that ended with an error.
    public var failed = 0
    /// Items skipped as unsafe or impossible.
    public var skipped = 0
    /// Objects that were gone when they were asked for, though the listing had them.
    public var vanished = 0
    /// Local changes that a pull kept.
    public var localChanges = 0
    /// Files whose content is not the recorded one though their size and time are, found by
    /// comparing content; they were left as they are.
    public var damaged = 0
    /// What only the directory has and was left there, without ``notMirrored``.
    public var onlyLocal = 0
    /// What no run mirrors: symbolic links, special files, reserved names on either side, and
    /// recorded files in a directory that is left out because of a file in it.
    public var notMirrored = 0
    /// Why those are not mirrored.
    package var notMirroredKinds: Set<NotMirroredKind> = []
    /// What only the remote has and was left there.
    public var onlyRemote = 0
    /// What was deleted in the directory and kept in the remote.
    public var deletedHere = 0
    /// What was deleted in the remote and kept in the directory.
    public var deletedThere = 0
    /// Names that the filters left out, of objects and of files; an excluded directory is one.
    public var excluded = 0
    /// What a run that carries out a saved plan would have done without it, and left.
    public var notInPlan = 0
    /// Bytes of the items that both sides have at its end, within its paths.
    package var bytesInBoth: Int64 = 0
    /// Objects that are not what the listing had, by their sizes or tags.
    ///
    /// The object was replaced meanwhile, or the store contradicts itself; the next listing shows
    /// which.
    package var unlistedSizes = 0
    /// True if files or directories went away while the directory was read: under another name they
    /// may be there unseen, which the next run finds.
    public var directoryChanged = false
    /// How long the run took.
    public var seconds: Double = 0
    /// HTTP requests sent, retries included.
    public var requests = 0
    /// Failed requests that were retried.
    public var retries = 0
    /// Answers that asked for fewer requests.
    public var throttled = 0
    /// How long requests waited after such answers, all together.
    public var throttledSeconds: Double = 0
    /// Why deletions were held back, nil if they were not; safe to print.
    public var deletionsHeldBack: String?

    /// Why the run ended before everything was done, nil if it did not; safe to print.
    public var stopped: String?
    /// The limit of the options that ended the run, nil for none; ``stopped`` is its name then.
    public var reachedLimit: RunLimit?
    /// Items under way when a run ended early; what was transferred of them is kept.
    public var interrupted = 0
    /// Items that a run which ended early had planned and not begun; its deletions, which come
    /// last, are not among them.
    public var notTried = 0
    /// Bytes of planned transfers that are not done: of items that failed, were interrupted or were
    /// not tried; 0 for a dry run.
    public var bytesLeft: Int64 = 0
    /// Bytes of unfinished transfers that checkpoints keep, which the next run does not move again.
    public var bytesKept: Int64 = 0
    /// False if the run ended before it had planned everything, so that there is more to do.
    public var isPlanComplete = true

    /// Makes an empty summary.
    public init(direction: SyncDirection) {
        self.direction = direction
    }

    /// What is known of the shards of a cut mirror; nil for one that is not cut.
    package var shards: ShardCounts?

    /// Items of the directory that differ from the remote or are not in it, and were left so.
    public var keptLocal: Int { onlyLocal + localChanges + deletedThere }

    /// Items of the remote that are not in the directory, and were left there.
    public var keptRemote: Int { onlyRemote + deletedHere }

    /// True if everything that was asked for is done.
    ///
    /// What vanished from the remote is what a pull would not have fetched a moment later; a push
    /// would have sent it.
    public var isComplete: Bool { stopped == nil && isWithoutProblems }

    /// True if nothing went wrong so far; a run that reached a limit of its options left the rest
    /// to the next one.
    public var isWithoutProblems: Bool {
        (stopped == nil || reachedLimit != nil) && failed == 0 && conflicts == 0 && skipped == 0
            && damaged == 0
            && deletionsHeldBack == nil && (shards?.isDone ?? true || reachedLimit != nil)
            && (direction == .pull || vanished == 0)
    }

    /// True if both sides are equal now, but for what the user's filters name; of a limited run,
    /// what lies at and beneath its paths.
    ///
    /// A complete run need not leave them so: without being asked to, it deletes nothing, a pull
    /// sends nothing, and a push fetches nothing. The counts say what differs.
    public var isInStep: Bool {
        isComplete && vanished == 0 && localChanges == 0 && onlyLocal == 0 && onlyRemote == 0
            && deletedHere == 0 && deletedThere == 0 && notInPlan == 0 && notMirrored == 0
            && !directoryChanged && unlistedSizes == 0
            && shards.map { $0.isInStep && $0.deletionsWaiting == 0 } ?? true
    }
}

/// What a run reports to its caller.
///
/// A run reports in three steps:
/// 1. `started`, once the directory and the manifest are open; before it only a `warning` if
///    another run is waited for.
/// 2. `item` for each step of a transfer, a deletion or a skip, between them `progress`, `warning`
///    and `retry`.
/// 3. `finished` with the summary, as the last event, also if the run ends early.
///
/// Not guaranteed: an order among the events of different items, or one thread. A run that can't be
/// started, and a dry run that fails, throw without `finished`.
@nonexhaustive
public enum SyncEvent: Sendable {
    /// The run began, in this directory; the text of the remote is safe to print.
    case started(direction: SyncDirection, directory: String, remote: String)
    /// One step of one item.
    case item(ItemEvent)
    /// How far the run is; at most a few times a second.
    case progress(RunProgress)
    /// A name that a filter leaves out, if the options ask for it; of a directory that is left out
    /// with all it holds only its own. The rule says where it is written, and is safe to print.
    case excluded(key: String, displayKey: String, rule: String)
    /// Something the user should know that is no failure.
    case warning(message: String)
    /// A request failed and is retried.
    case retry(RetryEvent)
    /// The end.
    case finished(RunSummary)
}
