package import SyncModel

/// What other keys mean for a key's place in the directory.
///
/// A bucket can hold `a` and `a/b`, a directory cannot. What is there already stays; where neither
/// is, the directory comes.
package enum PathConflict: Sendable, Hashable {
    /// No other key is in the way.
    case free
    /// A directory of this name is there or needed. If `clears`, this run perhaps deletes all its
    /// entries, and nothing beneath is in the remote.
    case shadowed(clears: Bool)
    /// The file of this key, which stays, is where a directory is needed.
    case blocked(by: ObjectKey)
    /// The file of this key, which this run perhaps deletes, is where a directory is needed.
    case awaiting(ObjectKey)
    /// The key's own file is where a directory is needed.
    case obstacle
    /// Push: this directory has something beneath the name of the object.
    case beside
}

/// ``decide(_:_:)`` where other keys matter.
package func decide(
    _ entry: JoinedEntry,
    _ policy: DecisionPolicy,
    at place: PathConflict
) -> Decision {
    switch place {
    case .free:
        return decide(entry, policy)
    case .blocked(let key):
        return decide(entry, policy).withoutCreating(.skip(.blockedByFile(key)))
    case .shadowed(let clears):
        let decision = decide(entry, policy)
        if clears, case .download(let reason) = decision { return .downloadAfterDeletions(reason) }
        return decision.withoutCreating(.skip(.shadowedByDirectory))
    case .awaiting:
        return decide(entry, policy).afterDeletions
    case .obstacle:
        return decideObstacle(entry, policy)
    case .beside:
        return .skip(.besideDirectory)
    }
}

/// What becomes of a file where keys beneath its name need a directory.
///
/// An object of its name settles it: the file is the mirror's as before, and the keys beneath are
/// left alone. Without one, the file goes only as any other does that the remote lost: with
/// `--delete`, at the end of the run, counted by the guards; the keys beneath come after that.
private func decideObstacle(_ entry: JoinedEntry, _ policy: DecisionPolicy) -> Decision {
    let decision = decide(entry, policy)
    return entry.remote != nil || decision.clearsLocal
        ? decision : .skip(.blocksDirectory(isNew: entry.base == nil))
}

extension Decision {
    /// True if carrying it out can put a file or directory at the key's path.
    package var createsLocal: Bool {
        switch self {
        case .download, .makeDirectory, .downloadAfterDeletions: true
        case .conflict(_, let resolution):
            resolution == .download || resolution == .downloadKeepingLocal
        case .compare(_, let same, let different): same.createsLocal || different.createsLocal
        case .nothing, .upload, .adopt, .refresh, .carryMode, .uploadMarker, .deleteLocal,
            .deleteRemote, .forget, .keepLocalChange, .skip:
            false
        }
    }

    /// The decision where a file is in the way that the run's deletions perhaps remove.
    fileprivate var afterDeletions: Decision {
        switch self {
        case .download(let reason): .downloadAfterDeletions(reason)
        case .makeDirectory: .downloadAfterDeletions(.new)
        default: self
        }
    }

    /// The decision with `other` wherever it would create something.
    fileprivate func withoutCreating(_ other: Decision) -> Decision {
        guard createsLocal else { return self }
        if case .compare(let comparison, let same, let different) = self {
            return .compare(
                comparison,
                same: same.withoutCreating(other),
                different: different.withoutCreating(other)
            )
        }
        return other
    }

    /// True if perhaps nothing of the key is left in the directory after the run's deletions;
    /// whether that is so is seen then.
    package var clearsLocal: Bool {
        switch self {
        case .deleteLocal, .forget, .nothing(.impliedDirectory): true
        case .conflict(_, let resolution): resolution == .deleteLocal
        case .compare(_, let same, let different): same.clearsLocal || different.clearsLocal
        case .nothing, .download, .upload, .adopt, .refresh, .carryMode, .makeDirectory,
            .uploadMarker, .deleteRemote, .keepLocalChange, .downloadAfterDeletions, .skip:
            false
        }
    }
}
