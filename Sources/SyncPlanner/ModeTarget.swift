package import SyncModel

/// Which side gets the permissions of the other one.
package enum ModeTarget: Sendable, Hashable {
    /// The object's metadata get those of the file.
    case object
    /// The file gets those that the object's metadata say, if they say others than before.
    case file
    /// Neither: a pull keeps what was changed here, and so does a push whose object is archived.
    case neither
}

/// What is done where content and ETag are as recorded and the permissions perhaps are not; nil if
/// nothing.
///
/// The listing tells no permissions, but the time at which an object was written: one that was
/// written later with the same tag has other metadata.
package func carriedMode(
    _ base: ManifestEntry,
    _ local: LocalEntry,
    _ object: RemoteObject,
    _ policy: DecisionPolicy
) -> ModeTarget? {
    guard policy.carriesModes, policy.judgesInodes, let found = local.permissions,
        !mayBeOthers(local, base)
    else { return nil }
    let isChanged = base.mode.map { $0 != found } ?? false
    let isRewritten = policy.direction != .push && isRewritten(object, since: base)
    guard isChanged || isRewritten, !base.isLink, !base.isThroughLink else { return nil }
    // No store writes an archived object anew.
    guard !object.needsRestore else { return isChanged ? .neither : nil }
    let target: ModeTarget? =
        switch policy.direction {
        case .push: .object
        case .sync: isChanged ? .object : .file
        // What was changed here stays, and a push sends it.
        case .pull: isRewritten || policy.replacesLocalChanges ? .file : .neither
        }
    return policy.possible(target)
}

/// True for a file that another user may have put in the place of the recorded one.
func mayBeOthers(_ local: LocalEntry, _ base: ManifestEntry) -> Bool {
    guard local.mayBeOthers, let file = local.identity else { return false }
    return base.inode != 0 && (file.inode != base.inode || base.isOlder(than: local.birth))
}

/// The same of a directory and its marker, whose row has the time of the object only once that was
/// asked for its permissions.
///
/// A marker without any leaves the directory as it is, and so does a directory as `mkdir` makes it
/// the marker.
func carriedDirectoryMode(
    _ base: ManifestEntry,
    _ local: LocalEntry,
    _ object: RemoteObject,
    _ policy: DecisionPolicy
) -> ModeTarget? {
    guard policy.carriesModes, let found = local.permissions else { return nil }
    // What another user made in its place opens nothing elsewhere, and gets no files.
    if local.mayBeOthers, let mode = base.mode, found & ~mode != 0 {
        // Where everybody may read already, a file is no more open in it than before.
        let opensMore = found & ~mode & 0o055 != 0
        return policy.direction == .push || !opensMore ? nil : .neither
    }
    let isChanged =
        policy.ordinaryDirectory != nil
        && base.mode.map { $0 != found } ?? !policy.isOrdinary(found)
    let isUnasked =
        base.lastModified == nil ? object.lastModified != nil : isRewritten(object, since: base)
    let target: ModeTarget? =
        switch policy.direction {
        case .push: isChanged ? .object : nil
        case .sync where isChanged && (base.mode != nil || !isUnasked): .object
        case .sync: isUnasked ? .file : nil
        case .pull where isUnasked || isChanged && policy.replacesLocalChanges: .file
        // What the directory had before the mirror is not a change of what that made.
        case .pull: isChanged && base.mode != nil ? .neither : nil
        }
    return policy.possible(target)
}

/// True if nothing but the permissions here differ from what is recorded.
package func changesMode(
    _ base: ManifestEntry,
    _ local: LocalEntry,
    _ object: RemoteObject,
    _ policy: DecisionPolicy
) -> Bool {
    let target =
        local.isDirectory
        ? carriedDirectoryMode(base, local, object, policy)
        : carriedMode(base, local, object, policy)
    return target == .object
}

/// True for a directory that would be another one if it were made anew.
package func hasOwnMode(_ local: LocalEntry, _ policy: DecisionPolicy) -> Bool {
    guard policy.carriesModes, local.isDirectory, let found = local.permissions else {
        return false
    }
    return !policy.isOrdinary(found)
}

extension DecisionPolicy {
    fileprivate func possible(_ target: ModeTarget?) -> ModeTarget? {
        target == .object && !sendsModes ? nil : target
    }

    /// True for permissions of a directory that nobody needs to have chosen.
    ///
    /// A process whose umask allows less finds the directories of others as the usual one makes
    /// them.
    func isOrdinary(_ permissions: UInt32) -> Bool {
        isOrdinaryDirectory(permissions, here: ordinaryDirectory)
    }
}

/// True for what `mkdir` gives where it gives `ordinary`, and where nothing is known of that.
package func isOrdinaryDirectory(_ permissions: UInt32, here ordinary: UInt32?) -> Bool {
    let usual: UInt32 = 0o755
    guard let ordinary else { return true }
    return permissions == ordinary || permissions == usual && ordinary & ~usual == 0
}

/// In whole seconds, because the listings of some stores tell fractions and their headers none.
private func isRewritten(_ object: RemoteObject, since base: ManifestEntry) -> Bool {
    guard let recorded = base.lastModified, let listed = object.lastModified else { return false }
    return listed.seconds > recorded.seconds
}
