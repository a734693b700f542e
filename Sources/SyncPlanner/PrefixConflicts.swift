package import SyncModel

/// A key with what is to be done about it.
package struct PlannedItem: Sendable, Hashable {
    package let entry: JoinedEntry
    package let place: PathConflict
    package let decision: Decision

    package init(entry: JoinedEntry, place: PathConflict, decision: Decision) {
        self.entry = entry
        self.place = place
        self.decision = decision
    }
}

/// Decides every key, holding back those whose name may turn out to be a directory's.
///
/// In byte order `a-x` and `a.txt` come between `a` and `a/b`, so whether `a` can be a file is
/// known only later. An entry is held while keys that begin with its bytes arrive; those that are
/// held at one moment therefore each begin with the one before and are longer: never more than a
/// key has bytes. Items come out in key order but for held ones, which come at the latest when the
/// keys beneath them end. A file in the place of a directory comes before the first key beneath
/// that needs the directory.
///
/// A push reads from a directory, which cannot hold both, and the bucket can. There it keeps a file
/// that is new on this side and a directory that is new on the other, which are as much of a
/// conflict as two files are: of a bucket with both, no machine could have the whole.
package struct PrefixConflicts: Sendable {
    private let policy: DecisionPolicy
    private var held: [Held] = []
    private var output: [PlannedItem] = []
    private var position = 0

    private struct Held: Sendable {
        let entry: JoinedEntry
        let decision: Decision
        /// What the names above leave it.
        let place: PathConflict
        var state = State.waiting
        /// Keys beneath are in the directory now.
        var hasEntries = false
        /// Some of them stay there or come there.
        var keepsEntries = false

        enum State: Sendable {
            case waiting
            /// Was given out, and perhaps goes with the deletions.
            case clears
            /// Was given out and stays.
            case blocks
        }
    }

    package init(policy: DecisionPolicy) {
        self.policy = policy
    }

    /// Takes the next entry; keys ascend strictly, as ``MergeJoin`` yields them.
    package mutating func add(_ entry: JoinedEntry) {
        let decision = decide(entry, policy)
        release { !entry.key.mayBelongBeneath($0.entry.key) }
        guard policy.direction != .push else { return addToPush(entry, decision) }
        if policy.escapes(entry.key) {
            output.append(PlannedItem(entry: entry, place: .free, decision: decision))
            return
        }
        let place = settleAncestors(of: entry, decision)
        if case .blocked = place {
            output.append(item(entry, decision, at: place))
            return
        }
        let canBeDirectoryName =
            !entry.key.isDirectoryMarker && (entry.local != nil || decision.createsLocal)
        if canBeDirectoryName {
            held.append(Held(entry: entry, decision: decision, place: place))
        } else {
            output.append(item(entry, decision, at: place))
        }
    }

    /// Holds what only one side has, and what was never recorded: until keys beneath its name come
    /// that only the other side has.
    private mutating func addToPush(_ entry: JoinedEntry, _ decision: Decision) {
        let isTheirs = decision == .nothing(.onlyRemote) && entry.base == nil
        for index in held.indices where isBeneath(entry, index) {
            let isOther = held[index].entry.local == nil ? entry.local != nil : isTheirs
            if isOther { held[index].keepsEntries = true }
        }
        // An empty object may be the marker of a directory, from which a store took the slash.
        let isFile = isTheirs && entry.remote?.size != 0
        let isOfOneSide = isFile || decision == .upload(.new) && entry.base == nil
        if isOfOneSide, !entry.key.isDirectoryMarker, !policy.escapes(entry.key) {
            held.append(Held(entry: entry, decision: decision, place: .free))
        } else {
            output.append(item(entry, decision, at: .free))
        }
    }

    /// All held keys are beginnings of this one, so one byte tells.
    private func isBeneath(_ entry: JoinedEntry, _ index: Int) -> Bool {
        entry.key.bytes[held[index].entry.key.bytes.count] == UInt8(ascii: "/")
    }

    /// Says that no entry before `key` follows; true if none is held any more.
    ///
    /// Entries in between that are not added are unchanged, and none of the others lies beneath
    /// them.
    package mutating func pass(to key: ObjectKey) -> Bool {
        release { !key.mayBelongBeneath($0.entry.key) }
        return held.isEmpty
    }

    /// Says that no entry follows.
    package mutating func finish() {
        release { _ in true }
    }

    /// The next decided item; nil if more entries are needed.
    package mutating func next() -> PlannedItem? {
        guard position < output.count else {
            output.removeAll(keepingCapacity: true)
            position = 0
            return nil
        }
        defer { position += 1 }
        return output[position]
    }

    private mutating func release(where isPast: (Held) -> Bool) {
        while let last = held.last, isPast(last) {
            held.removeLast()
            guard last.state == .waiting else { continue }
            guard policy.direction != .push else {
                output.append(item(last.entry, last.decision, at: placeInBucket(of: last)))
                continue
            }
            if last.entry.local != nil || !(last.hasEntries || last.keepsEntries) {
                output.append(item(last.entry, last.decision, at: last.place))
            } else {
                let clears = !last.keepsEntries && policy.deletes
                output.append(item(last.entry, last.decision, at: .shadowed(clears: clears)))
            }
        }
    }

    private func placeInBucket(of held: Held) -> PathConflict {
        guard held.keepsEntries else { return .free }
        guard held.entry.local != nil else { return .beside }
        return resolution(of: .bothNew, policy) == .upload ? .free : .obstacle
    }

    /// Tells the held entries that `entry` lies beneath of it; the place that they leave it.
    private mutating func settleAncestors(
        of entry: JoinedEntry,
        _ decision: Decision
    ) -> PathConflict {
        var place = PathConflict.free
        for index in held.indices {
            guard isBeneath(entry, index) else { continue }
            if held[index].entry.local == nil {
                if entry.local != nil { held[index].hasEntries = true }
                if Self.keepsEntry(entry, decision) { held[index].keepsEntries = true }
            } else if decision.createsLocal {
                settleObstacle(at: index)
                let key = held[index].entry.key
                place = held[index].state == .clears ? .awaiting(key) : .blocked(by: key)
            }
        }
        return place
    }

    /// True if the entry is in the directory after the run, whatever the deletions remove.
    private static func keepsEntry(_ entry: JoinedEntry, _ decision: Decision) -> Bool {
        if decision.createsLocal { return true }
        guard let local = entry.local, !decision.clearsLocal else { return false }
        // A directory beside an object that is skipped is there for its entries only.
        if case .skip = decision { return !local.isDirectory }
        return true
    }

    private mutating func settleObstacle(at index: Int) {
        guard held[index].state == .waiting else { return }
        let planned = item(held[index].entry, held[index].decision, at: .obstacle)
        held[index].state = planned.decision.clearsLocal ? .clears : .blocks
        output.append(planned)
    }

    /// `decision` is the one of a place that is free.
    private func item(
        _ entry: JoinedEntry,
        _ decision: Decision,
        at place: PathConflict
    ) -> PlannedItem {
        let settled = place == .free ? decision : decide(entry, policy, at: place)
        return PlannedItem(entry: entry, place: place, decision: settled)
    }
}

extension ObjectKey {
    /// True if keys from this one on may lie beneath `name`: it begins with it, and does not come
    /// after `name/`.
    func mayBelongBeneath(_ name: ObjectKey) -> Bool {
        guard bytes.count > name.bytes.count, bytes[name.bytes.count] <= UInt8(ascii: "/") else {
            return false
        }
        return hasPrefix(name)
    }
}
