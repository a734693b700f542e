internal import SyncModel
internal import SyncPlanner

/// What is done with one item and why, as every report describes it.
///
/// A decision has two readers: `Dispatcher` with `ItemExecutor` carries it out, and this describes
/// it. What a dry run shows, `status` counts and `explain` says comes from here.
struct PlanOutline: Sendable, Hashable {
    /// What is done; of a conflict, what follows from it.
    enum Step: Sendable, Hashable {
        case leave(QuietReason)
        /// Both sides are equal.
        case adopt
        /// Nothing but the row changes; with `isNew` it gets one.
        case record(isNew: Bool)
        case receive
        case send
        /// What is done is known once a content was read.
        case compare(Comparison, same: Decision, different: Decision)
        case carryMode(ModeTarget)
        case deleteLocal
        case deleteRemote
        case keepLocalChange
        case skip
        /// A conflict that changes nothing.
        case leaveBoth
    }

    let step: Step
    /// Of what is transferred, compared or deleted.
    let size: Int64
    /// Why that is done.
    let cause: String
    /// What the sides disagree about and what is done about it; nil without a conflict.
    let conflict: String?

    var reason: String { conflict ?? cause }

    init(_ item: PlannedItem, _ policy: DecisionPolicy) {
        self.init(item.decision, item.entry, policy)
    }

    init(_ decision: Decision, _ entry: JoinedEntry, _ policy: DecisionPolicy) {
        let (received, sent) = (entry.remote?.size ?? 0, entry.local?.identity?.size ?? 0)
        var conflict: String?
        switch decision {
        case .nothing(let quiet), .refresh(let quiet):
            (step, size, cause) = (.leave(quiet), 0, quiet.message)
        case .download(let why), .downloadAfterDeletions(let why):
            let isDirectory = RelativePath.isDirectory(entry.key)
            (step, size) = (.receive, received)
            cause = isDirectory ? Self.newDirectory : why.message
        case .upload(let why): (step, size, cause) = (.send, sent, why.message)
        case .compare(let comparison, let same, let different):
            step = .compare(comparison, same: same, different: different)
            size = max(received, sent)
            let equal = PlanOutline(same, entry, policy).reason
            let other = PlanOutline(different, entry, policy).reason
            cause = "must be read to be sure; if it is equal: \(equal); if not: \(other)"
        case .carryMode(let target):
            (step, size, cause) = (.carryMode(target), 0, Self.cause(target, entry, policy))
        case .adopt:
            (step, size, cause) = (.adopt, received, "both sides are equal, which is recorded")
        case .makeDirectory where entry.local == nil:
            (step, size, cause) = (.receive, received, Self.newDirectory)
        case .makeDirectory: (step, size, cause) = (.record(isNew: true), 0, "a directory")
        case .uploadMarker: (step, size, cause) = (.send, sent, Self.cause(ofMarker: entry))
        case .deleteLocal(let why):
            (step, size, cause) = (.deleteLocal, sent, why.message(deletesObject: false))
        case .deleteRemote(let why):
            (step, size, cause) = (.deleteRemote, received, why.message(deletesObject: true))
        case .forget:
            (step, size, cause) = (.record(isNew: false), 0, "neither side has it any more")
        case .keepLocalChange:
            (step, size, cause) = (.keepLocalChange, 0, entry.reasonOfKeeping(policy.direction))
        case .skip(let why): (step, size, cause) = (.skip, 0, why.message)
        case .conflict(let kind, let resolution):
            conflict = Self.reason(kind, resolution, entry.key, policy)
            let keepsBoth = Self.keepsRules(resolution, entry.key)
            let next = keepsBoth ? nil : decision.following
            let outline = next.map { PlanOutline($0, entry, policy) }
            step = outline?.step ?? .leaveBoth
            size = outline?.size ?? entry.sizeOfEither
            cause = outline?.cause ?? ""
        }
        self.conflict = conflict
    }

    /// Nil if nothing is done and nothing is wrong.
    var action: ItemAction? {
        guard conflict == nil else { return .conflict }
        return switch step {
        case .leave, .adopt, .record, .leaveBoth: nil
        case .receive: .download
        case .send: .upload
        case .compare: .adopt
        case .carryMode(.neither), .keepLocalChange, .skip: .skip
        case .carryMode(.object), .carryMode(.file): .mode
        case .deleteLocal: .deleteLocal
        case .deleteRemote: .deleteRemote
        }
    }
}

// MARK: - In words

extension PlanOutline {
    private static let newDirectory = "a new directory"

    /// What a conflict is and what is done about it.
    static func reason(
        _ kind: ConflictKind,
        _ resolution: ConflictResolution,
        _ key: ObjectKey,
        _ policy: DecisionPolicy
    ) -> String {
        guard keepsRules(resolution, key) else {
            return kind.message + "; " + resolution.message(kind, policy)
        }
        let advice =
            switch policy.direction {
            case .pull: "use --on-conflict remote, or osssync push --on-conflict local"
            case .push: "use --on-conflict local, or osssync pull --on-conflict remote"
            case .sync: "use --on-conflict local or --on-conflict remote"
            }
        return kind.message + "; the rules of this machine stay in effect and neither is changed: "
            + advice
    }

    /// True where two versions of the ignore file cannot both be kept: neither is touched.
    static func keepsRules(_ resolution: ConflictResolution, _ key: ObjectKey) -> Bool {
        resolution == .downloadKeepingLocal && key == IgnoreFile.key
    }

    /// Why a directory gets a marker.
    private static func cause(ofMarker entry: JoinedEntry) -> String {
        if case .directory(isEmpty: false)? = entry.local?.kind, entry.base == nil {
            return "a directory with permissions of its own"
        }
        return entry.base == nil ? "an empty directory" : "a directory whose marker is gone"
    }

    private static func cause(
        _ target: ModeTarget,
        _ entry: JoinedEntry,
        _ policy: DecisionPolicy
    ) -> String {
        switch target {
        case .object: "permissions changed"
        case .file where entry.local?.isDirectory == true:
            "the marker was written anew, or was never asked for permissions; if it has others, "
                + "they are set"
        case .file:
            "the object was written anew with the same content; if it has other permissions, they "
                + "are set"
        case .neither: entry.reasonOfKeeping(policy.direction)
        }
    }
}

extension JoinedEntry {
    /// The object's, or else the file's.
    var sizeOfEither: Int64 { remote?.size ?? local?.identity?.size ?? 0 }

    /// Why what changed here stays as it is.
    func reasonOfKeeping(_ direction: SyncDirection) -> String {
        guard let object = remote else { return ItemEvent.keptAloneText }
        return direction != .pull && object.needsRestore
            ? "its permissions changed, and its object is archived, so they are not sent"
            : ItemEvent.keptText
    }
}
