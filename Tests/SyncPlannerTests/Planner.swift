import SyncModel
import SyncPlanner

/// What planning asks for or yields.
enum PlanStep: Sendable, Hashable {
    /// Nothing can be said before this side was fed, finished or abandoned.
    case needs(Side)
    case item(PlannedItem)
    /// Nothing follows.
    case finished
}

/// The whole of planning as a value: three sorted streams in, one decision for each key out.
///
/// The engine drives the same two values, with its filter between them.
///
/// Memory is what was fed and not used yet, and at most one held entry for each byte of a key.
struct Planner: Sendable {
    private var join = MergeJoin()
    private var conflicts: PrefixConflicts
    private var isDrained = false

    init(policy: DecisionPolicy) {
        conflicts = PrefixConflicts(policy: policy)
    }

    /// False if a side was abandoned: then the keys after its last one were not judged, and no
    /// deletion may follow.
    var coversEverything: Bool { join.coversEverything }

    mutating func feed(remote elements: [RemoteObject]) throws(PlanError) {
        try join.feed(remote: elements)
    }

    mutating func feed(base elements: [ManifestEntry]) throws(PlanError) {
        try join.feed(base: elements)
    }

    mutating func feed(local elements: [LocalEntry]) throws(PlanError) {
        try join.feed(local: elements)
    }

    /// Says that a side has been fed to its proven end.
    mutating func finish(_ side: Side) {
        join.finish(side)
    }

    /// Says that a side ends before its true end; see ``MergeJoin/abandon(_:)``.
    mutating func abandon(_ side: Side) {
        join.abandon(side)
    }

    mutating func next() throws(PlanError) -> PlanStep {
        while true {
            if let item = conflicts.next() { return .item(item) }
            if isDrained { return .finished }
            switch try join.next() {
            case .needs(let side): return .needs(side)
            case .joined(let entry): conflicts.add(entry)
            case .finished:
                conflicts.finish()
                isDrained = true
            }
        }
    }
}
