internal import SyncModel

/// The table for a key that ends in "/": a marker object, a directory, or both.
///
/// Directories have no content, so nothing is compared and no conflict arises. A directory with
/// entries is implied by them and counts as present only where the manifest or the remote has its
/// key; an empty one would be lost without a marker, and so would permissions that `mkdir` does not
/// give.
package func decideDirectory(_ entry: JoinedEntry, _ policy: DecisionPolicy) -> Decision {
    let decision = decideOrdinarily(entry, policy)
    guard !policy.keepsEmptyDirectories else { return decision }
    switch decision {
    case .makeDirectory, .uploadMarker, .deleteLocal(.extra), .deleteRemote(.extra), .adopt,
        .nothing(.onlyLocal), .nothing(.onlyRemote):
        return .nothing(.emptyDirectory)
    default: return decision
    }
}

private func decideOrdinarily(_ entry: JoinedEntry, _ policy: DecisionPolicy) -> Decision {
    let isEmpty =
        switch entry.local?.kind {
        case .directory(let isEmpty): isEmpty
        case .file, nil: false
        }
    let hasLocal = entry.local != nil
    let hasRemote = entry.remote != nil
    switch (entry.base != nil, hasLocal, hasRemote, policy.direction) {
    case (true, true, true, _):
        guard let base = entry.base, let local = entry.local, let object = entry.remote else {
            return .nothing(.unchanged)
        }
        if base.isLeftOut { return .refresh(.unchanged) }
        return carriedDirectoryMode(base, local, object, policy).map { .carryMode($0) }
            ?? .nothing(.unchanged)
    case (false, true, true, _): return .adopt
    case (true, false, false, _): return .forget
    case (false, false, false, _): return .nothing(.unchanged)

    case (_, false, true, .pull), (false, false, true, .sync): return .makeDirectory
    case (false, false, true, .push):
        return policy.deletesExtra ? .deleteRemote(.extra) : .nothing(.onlyRemote)
    case (true, false, true, .push), (true, false, true, .sync):
        return policy.deletes ? .deleteRemote(.known) : .nothing(.deletedLocally)

    case (false, true, false, .pull):
        guard isEmpty else { return .nothing(.impliedDirectory) }
        return policy.deletesExtra ? .deleteLocal(.extra) : .nothing(.onlyLocal)
    case (false, true, false, .push), (false, true, false, .sync):
        let isImplied = !isEmpty && entry.local.map { !hasOwnMode($0, policy) } ?? true
        return isImplied ? .nothing(.impliedDirectory) : uploadMarker(entry, policy)
    case (true, true, false, .push): return uploadMarker(entry, policy)
    case (true, true, false, .pull), (true, true, false, .sync):
        guard policy.deletes else { return .nothing(.deletedRemotely) }
        // With entries it stays as long as they do, and goes with the last of them.
        return isEmpty ? .deleteLocal(.known) : .forget
    }
}

private func uploadMarker(_ entry: JoinedEntry, _ policy: DecisionPolicy) -> Decision {
    let length = entry.key.bytes.count
    if length > policy.maximumKeyLength {
        return .skip(.keyTooLong(length: length, maximum: policy.maximumKeyLength))
    }
    return .uploadMarker
}
