internal import SyncModel

/// Which side gets the permissions of the other one.
package enum ModeTarget: Sendable, Hashable {
    /// The object's metadata get those of the file.
    case object
    /// The file gets those that the object's metadata say, if they say others than before.
    case file
}

/// What is done where content and ETag are as recorded and the permissions perhaps are not; nil if
/// nothing.
///
/// The listing tells no permissions, but the time at which an object was written: one that was
/// written later with the same tag has other metadata.
func carriedMode(
    _ base: ManifestEntry,
    _ local: LocalEntry,
    _ object: RemoteObject,
    _ policy: DecisionPolicy
) -> ModeTarget? {
    guard policy.carriesModes, policy.judgesInodes, let found = local.permissions else {
        return nil
    }
    let isChanged = base.mode.map { $0 != found } ?? false
    let isRewritten = policy.direction != .push && isRewritten(object, since: base)
    guard isChanged || isRewritten, !base.isLink, !base.isThroughLink, !object.needsRestore else {
        return nil
    }
    return switch policy.direction {
    case .push: .object
    case .sync: isChanged ? .object : .file
    // What was changed here stays, and a push sends it.
    case .pull: isRewritten || policy.replacesLocalChanges ? .file : nil
    }
}

/// In whole seconds, because the listings of some stores tell fractions and their headers none.
private func isRewritten(_ object: RemoteObject, since base: ManifestEntry) -> Bool {
    guard let recorded = base.lastModified, let listed = object.lastModified else { return false }
    return listed.seconds > recorded.seconds
}
