package import SyncModel

/// What other keys mean for a key's place in the directory.
///
/// A bucket can hold `a` and `a/b`, a directory cannot. The directory wins.
package enum Place: Sendable, Hashable {
    /// No other key is in the way.
    case free
    /// A directory of this name is there or needed. If `clears`, this run perhaps deletes all its
    /// entries, and nothing beneath is in the remote.
    case shadowed(clears: Bool)
    /// The file of this key, which stays, is where a directory is needed.
    case blocked(by: ObjectKey)
    /// The key's own file is where a directory is needed.
    case obstacle
}

/// ``decide(_:_:)`` where other keys matter.
package func decide(
    _ entry: JoinedEntry,
    _ policy: DecisionPolicy,
    at place: Place
) -> Decision {
    switch place {
    case .free:
        return decide(entry, policy)
    case .blocked(let key):
        return decide(entry, policy).withoutCreating(.skip(.blockedByFile(key)))
    case .shadowed(let clears):
        let decision = decide(entry, policy)
        if clears, case .download(let reason) = decision { return .downloadAfterDeletions(reason) }
        if clears, case .resolveLink = decision { return .resolveLink }
        return decision.withoutCreating(.skip(.shadowedByDirectory))
    case .obstacle:
        return decideObstacle(entry, policy)
    }
}

/// Whether a file gives way to a directory of its name.
///
/// Only a file that is exactly as recorded does, or one whose loss was asked for by a flag; it
/// goes to the trash in any case. Content is not read here, because the keys beneath wait for the
/// answer: a touched file is refreshed in this run and gives way in the next. So is one without a
/// row that is perhaps the object's: a kill while it gave way leaves just that.
private func decideObstacle(_ entry: JoinedEntry, _ policy: DecisionPolicy) -> Decision {
    guard let base = entry.base else { return decideUnrecordedObstacle(entry, policy) }
    guard policy.filesGiveWay else { return .skip(.blocksDirectory) }
    switch LocalChange(of: entry.local, since: base, judgesInodes: policy.judgesInodes) {
    case .absent, .same:
        return .replaceByDirectory
    case .touched:
        if replacesChanges(policy) { return .replaceByDirectory }
        guard base.size != 0 else { return .refresh }
        guard let recorded = base.crc64 else { return .skip(.blocksDirectory) }
        return .compare(
            .fileWithRow(recorded),
            same: .refresh,
            different: .skip(.blocksDirectory)
        )
    case .changed:
        return replacesChanges(policy) ? .replaceByDirectory : .skip(.blocksDirectory)
    }
}

private func decideUnrecordedObstacle(
    _ entry: JoinedEntry,
    _ policy: DecisionPolicy
) -> Decision {
    guard let remote = entry.remote else {
        let isExtra = policy.direction == .pull && policy.deletesExtra && policy.filesGiveWay
        return isExtra ? .replaceByDirectory : .skip(.blocksDirectory)
    }
    guard remote.kind != .symlink, let file = entry.local?.identity, file.size == remote.size
    else { return .skip(.blocksDirectory) }
    if file.size == 0 { return .adopt }
    return .compare(
        .fileWithObject(remote.etag),
        same: .adopt,
        different: .skip(.blocksDirectory)
    )
}

private func replacesChanges(_ policy: DecisionPolicy) -> Bool {
    policy.direction == .pull && policy.replacesLocalChanges
}

extension Decision {
    /// True if carrying it out can put a file or directory at the key's path.
    package var createsLocal: Bool {
        switch self {
        case .download, .makeDirectory, .resolveLink, .downloadAfterDeletions: true
        case .conflict(_, let resolution):
            resolution == .download || resolution == .downloadKeepingLocal
        case .compare(_, let same, let different): same.createsLocal || different.createsLocal
        case .nothing, .upload, .adopt, .refresh, .uploadMarker, .deleteLocal, .deleteRemote,
            .forget, .keepLocalChange, .replaceByDirectory, .skip:
            false
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
    var clearsLocal: Bool {
        switch self {
        case .deleteLocal, .forget, .nothing(.impliedDirectory): true
        case .conflict(_, let resolution): resolution == .deleteLocal
        case .compare(_, let same, let different): same.clearsLocal || different.clearsLocal
        case .nothing, .download, .upload, .adopt, .refresh, .makeDirectory,
            .uploadMarker, .deleteRemote, .keepLocalChange, .resolveLink, .replaceByDirectory,
            .downloadAfterDeletions, .skip:
            false
        }
    }
}
