internal import LocalStorage
internal import SyncModel
internal import SyncPlanner

/// What becomes of each key in one direction: the one place where decisions are made final.
///
/// A run, a dry run and `status` read the same plan, so that they cannot disagree:
///
/// 1. ``add(_:)`` takes the entries of the three sides, in key order;
/// 2. the planner decides each by its table, and resolves names that need the same path;
/// 3. ``next()`` yields the items. What the walk could not read is not changed, and a directory is
///    deleted only if nothing beneath it stays.
///
/// Whether two contents are equal is not known here: a comparison stays one until a worker made it.
struct RunPlan {
    private let policy: DecisionPolicy
    private let issues: ScanIssues
    private var decider: PrefixConflicts
    private(set) var reserved = ReservedObjects()
    private(set) var links: LinkObjects
    /// Directories to delete, each beneath the one before, until the keys beneath them have come.
    private var directories: [(item: PlannedItem, keepsEntries: Bool)] = []
    private var output: [PlannedItem] = []
    private var position = 0

    init(_ policy: DecisionPolicy, _ issues: ScanIssues) {
        (self.policy, self.issues) = (policy, issues)
        links = LinkObjects(policy.links)
        decider = PrefixConflicts(policy: policy)
    }

    /// Takes the next entry; keys ascend.
    mutating func add(_ entry: JoinedEntry) {
        decider.add(entry)
        advance()
    }

    /// Says that no entry before `key` follows; true if what comes next need not be added as long
    /// as it is unchanged and nothing else lies beneath it.
    ///
    /// The items that this settles come before what is passed over.
    mutating func pass(to key: ObjectKey) -> Bool {
        let isFree = decider.pass(to: key)
        advance()
        release { !key.hasPrefix($0) }
        return isFree && directories.isEmpty
    }

    /// Says that no entry follows.
    mutating func finish() {
        decider.finish()
        advance()
        release { _ in true }
    }

    /// The next item, after which a later call yields the one behind it; nil until more was added.
    mutating func next() -> PlannedItem? {
        guard position < output.count else {
            output.removeAll(keepingCapacity: true)
            position = 0
            return nil
        }
        defer { position += 1 }
        return output[position]
    }

    private mutating func advance() {
        while let found = decider.next() {
            reserved.note(found)
            let item = visible(found)
            links.note(item)
            let key = item.entry.key
            release { !key.hasPrefix($0) }
            // A file with an escaped name is in a directory of its own.
            if item.keepsEntry, !policy.escapes(key) {
                for index in directories.indices { directories[index].keepsEntries = true }
            }
            if case .deleteLocal = item.decision, item.entry.local?.isDirectory == true {
                directories.append((item, false))
            } else {
                output.append(item)
            }
        }
    }

    /// Gives out the directories whose keys have all come.
    private mutating func release(where isOver: (ObjectKey) -> Bool) {
        while let (item, keepsEntries) = directories.last, isOver(item.entry.key) {
            directories.removeLast()
            output.append(keepsEntries ? item.replacing(.nothing(.impliedDirectory)) : item)
        }
    }

    /// The item where the walk could not read: nothing is put there, and what is missing was not
    /// deleted by the user.
    ///
    /// What disappeared during the walk may have another name, which no walk saw: its object
    /// stays until the next run.
    private func visible(_ item: PlannedItem) -> PlannedItem {
        if case .deleteRemote = item.decision, issues.isLost(item.entry.key) {
            return item.replacing(.nothing(.hidden))
        }
        if item.entry.local?.isLink == true, !item.entry.key.isOfLink {
            // Nothing is written through it.
            return item.replacing(
                item.decision.keeping(
                    { !$0.createsLocal && !$0.clearsLocal },
                    else: .skip(.behindLink)
                )
            )
        }
        if let place = issues.placeOfLink(item.entry.key) {
            let isRecorded = item.entry.base != nil && item.decision == .nothing(.onlyRemote)
            let isHidden = place == .above && (item.decision.isDeletion || isRecorded)
            return item.decision.dependsOnWalk || isHidden
                ? item.replacing(.skip(.behindLink)) : item
        }
        guard let cover = issues.cover(of: item.entry.key) else { return item }
        if cover.reason == .freedPlace { return item.replacing(.nothing(.hidden)) }
        let skipped = Decision.skip(cover.replacesWhatWasThere ? .replaced : .hidden)
        if item.decision.dependsOnWalk { return item.replacing(skipped) }
        // What was mirrored and is not any more is no less than what could not be fetched.
        let isRecorded = cover.replacesWhatWasThere && item.entry.base != nil
        return switch item.decision {
        case .deleteRemote where isRecorded, .nothing(.deletedLocally) where isRecorded,
            .nothing(.onlyRemote) where isRecorded, .skip(.damagedAndGone) where isRecorded:
            item.replacing(skipped)
        // A link is counted itself, and a state is not.
        case .deleteRemote where cover.isOfMirror:
            item.replacing(.nothing(item.entry.base == nil ? .onlyRemote : .deletedLocally))
        case .forget, .deleteLocal, .deleteRemote: item.replacing(.nothing(.hidden))
        default: item
        }
    }
}

extension PlannedItem {
    func replacing(_ decision: Decision) -> PlannedItem {
        PlannedItem(entry: entry, place: place, decision: decision)
    }

    /// True if something of the key is in the directory after the run.
    fileprivate var keepsEntry: Bool {
        !decision.clearsLocal && (entry.local != nil || decision.createsLocal)
    }
}
