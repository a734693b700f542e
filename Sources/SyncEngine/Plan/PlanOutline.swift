internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// A decision in the words of a report: what would be done with one item, and why.
struct PlanOutline: Sendable, Hashable {
    /// Nil if nothing is done and nothing is wrong.
    let action: ItemAction?
    /// Of what is transferred, compared or deleted.
    let size: Int64
    let reason: String

    init(_ item: PlannedItem, _ policy: DecisionPolicy) {
        self.init(item.decision, item.entry, policy)
    }

    private init(_ decision: Decision, _ entry: JoinedEntry, _ policy: DecisionPolicy) {
        let (received, sent) = (entry.remote?.size ?? 0, entry.local?.identity?.size ?? 0)
        switch decision {
        case .nothing(let quiet), .refresh(let quiet):
            (action, size, reason) = (nil, 0, quiet.message)
        case .download(let why), .downloadAfterDeletions(let why):
            (action, size, reason) = (.download, received, why.message)
        case .upload(let why): (action, size, reason) = (.upload, sent, why.message)
        case .compare(_, let same, let different):
            (action, size) = (.adopt, max(received, sent))
            let equal = PlanOutline(same, entry, policy).reason
            let other = PlanOutline(different, entry, policy).reason
            reason = "must be read to be sure; if it is equal: \(equal); if not: \(other)"
        case .carryMode(.object): (action, size, reason) = (.mode, 0, "permissions changed")
        case .carryMode(.file):
            (action, size) = (.mode, 0)
            reason =
                entry.local?.isDirectory == true
                ? "the marker was written anew, or was never asked for permissions; if it has "
                    + "others, they are set"
                : "the object was written anew with the same content; if it has other "
                    + "permissions, they are set"
        case .adopt: (action, size, reason) = (nil, 0, "both sides are equal, which is recorded")
        case .makeDirectory:
            (action, size, reason) = (entry.local == nil ? .download : nil, 0, "a directory")
        case .uploadMarker:
            (action, size, reason) = (.upload, 0, Self.reason(ofMarker: entry))
        case .deleteLocal(let why):
            (action, size, reason) = (.deleteLocal, sent, why.message(deletesObject: false))
        case .deleteRemote(let why):
            (action, size, reason) = (.deleteRemote, received, why.message(deletesObject: true))
        case .forget: (action, size, reason) = (nil, 0, "neither side has it any more")
        case .keepLocalChange, .carryMode(.neither):
            (action, size) = (.skip, 0)
            reason = "changed here; the file is kept without --force"
        case .conflict(let kind, let resolution):
            (action, size) = (.conflict, max(received, sent))
            reason = "\(kind.message); \(resolution.message(kind, policy))"
        case .skip(let why): (action, size, reason) = (.skip, 0, why.message)
        }
    }

    /// Why a directory gets a marker.
    static func reason(ofMarker entry: JoinedEntry) -> String {
        if case .directory(isEmpty: false)? = entry.local?.kind, entry.base == nil {
            return "a directory with permissions of its own"
        }
        return entry.base == nil ? "an empty directory" : "a directory whose marker is gone"
    }
}
