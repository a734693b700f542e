package import SyncModel

/// What is to be done about one key.
///
/// The cases are closed: whoever acts on them has a full switch.
///
/// 1. `MergeJoin` brings the key's three sides together: manifest, directory and remote.
/// 2. `PrefixConflicts` handles keys that can't all exist here, such as `a` beside `a/b`.
/// 3. `decide` looks up the three sides, the direction and the policy in one table.
///
/// None of the three does I/O or knows a clock.
///
/// Not guaranteed: that it is still true when it is carried out. The `JoinedEntry` says what was
/// seen, and whoever acts checks it again: an upload replaces only the listed version, a
/// publication or deletion only the file that the walk saw.
package indirect enum Decision: Sendable, Hashable {
    /// Nothing, and nothing is wrong.
    case nothing(QuietReason)
    /// The object's content goes to the file, over what the walk saw there.
    case download(DownloadReason)
    /// The file's content goes to the object.
    case upload(UploadReason)
    /// The content decides between two decisions. "Cannot tell" counts as different. Nested at
    /// most twice.
    case compare(Comparison, same: Decision, different: Decision)
    /// Both sides hold the same content: the row is written from what they are now.
    case adopt
    /// The file has the recorded content: the row gets its mtime and inode. Nothing else is done,
    /// for the reason given.
    case refresh(QuietReason)
    /// Only the permissions go to the other side, and the row gets what the file is.
    case carryMode(ModeTarget)
    /// The marker becomes a directory and gets a row.
    case makeDirectory
    /// The empty directory becomes a marker object and gets a row.
    case uploadMarker
    /// The file, or the directory if it is empty then, is removed with the other deletions at the
    /// end. Directories that this leaves empty go with it, but for those with a row of their own:
    /// their marker would look deleted here.
    case deleteLocal(DeletionReason)
    /// The object is deleted with the other deletions at the end.
    case deleteRemote(DeletionReason)
    /// The row is removed.
    case forget
    /// Pull: the file was changed and stays; reported as a local change.
    case keepLocalChange
    case conflict(ConflictKind, ConflictResolution)
    /// Like ``download(_:)`` or ``makeDirectory``, but a directory of that name is still there, or
    /// a file in the place of one that it needs.
    ///
    /// That may go with the deletions of this run. If it is gone afterwards, the download is done,
    /// else it is a skip for ``SkipReason/shadowedByDirectory`` or
    /// ``SkipReason/blockedByFile(_:)``.
    case downloadAfterDeletions(DownloadReason)
    case skip(SkipReason)
}

/// How the content of two versions is compared.
package enum Comparison: Sendable, Hashable {
    /// The file is read; its CRC-64 against the row's.
    case fileWithRow(CRC64)
    /// The file is read; its MD5 against the ETag if that has the form of one. If they differ or
    /// it has not, its CRC-64 against the object's, which one HEAD tells.
    case fileWithObject(ETag)
    /// One HEAD; the object's CRC-64 against the row's.
    case objectWithRow(CRC64)

    package var readsFile: Bool {
        switch self {
        case .fileWithRow, .fileWithObject: true
        case .objectWithRow: false
        }
    }
}

/// The closed table: base, local and remote, by direction and policy, to one decision.
///
/// **Touched files.** A file whose size is the row's but whose mtime, inode or ctime moved was
/// perhaps edited, perhaps copied back by a restore. It is never transferred on suspicion: the
/// decision is a comparison of its CRC-64 with the row's, of which one branch is the cell "same"
/// and the other the cell "changed". Where "same" asks for nothing, the row is refreshed, so that
/// the next run need not read the file again. Where both cells come to the same effect, nothing is
/// compared.
/// Where the row has no CRC-64, the file is compared with the object if that is still the recorded
/// one; otherwise it counts as changed, which never loses it.
///
/// **`--checksum`** compares the content of every unchanged-looking file, too. One whose content
/// is as recorded costs a read and no transfer. Other content under the recorded size and times is
/// damage: it is reported, and replaces no object that is as recorded without `--force`. The remote
/// needs no such care: its ETag changes with its content.
///
/// **Damaged rows.** What was found damaged stays in doubt, whatever becomes of the file: its
/// object, as long as it is the recorded one, is neither replaced nor deleted until the file has
/// the recorded content again, or without `--force`.
///
/// **Changed tags** are not always changed content: an object rewritten in other parts has another
/// ETag. Equal content is never a conflict and not worth a transfer, so where sizes are equal and
/// the tags are not both MD5s the object's CRC-64 is asked for first.
///
/// **What vanished while filters left it out** counts as never recorded, and goes nowhere: a laptop
/// that excludes a folder, removes it for its room and includes it again is to get it back.
package func decide(_ entry: JoinedEntry, _ policy: DecisionPolicy) -> Decision {
    guard entry.hasVanishedUnseen else { return decideSeen(entry, policy) }
    var policy = policy
    policy.deletesExtra = false
    return decideSeen(entry.withoutBase, policy)
}

private func decideSeen(_ entry: JoinedEntry, _ policy: DecisionPolicy) -> Decision {
    if entry.key.isEmpty { return .nothing(.prefixItself) }
    let isEscaped = policy.escapes(entry.key)
    if let reason = impossibility(of: entry, policy.links, isEscaped: isEscaped) {
        if reason == .unsafeName(.reserved) {
            // An older version may have recorded one; neither side loses anything for that.
            return entry.base == nil ? .nothing(.reservedName) : .forget
        }
        if entry.remote == nil, entry.local == nil { return .forget }
        return isForeign(entry, policy) ? .nothing(.onlyRemote) : .skip(reason)
    }
    if entry.key.isDirectoryMarker, !isEscaped { return decideDirectory(entry, policy) }
    if entry.remote?.kind == .symlink,
        policy.direction != .push || entry.base != nil || entry.local != nil
    {
        // The listing describes a link that is followed by its target.
        return .skip(.linkObject)
    }
    // A row of a file says nothing of the stored link that has its key now.
    let isOfLink = entry.local?.isLink == true || entry.key.isOfLink
    guard let base = entry.base, policy.links != .store || base.isLink || !isOfLink
    else { return FileTable(entry, policy).decideUnrecorded() }
    return FileTable(entry, policy).decideRecorded(base)
}

/// True only if ``decide(_:_:)`` says of a file that both sides are as recorded.
///
/// Said without making an entry of the three. False says nothing.
func isUnchanged(
    _ base: ManifestEntry,
    _ local: LocalEntry,
    _ remote: RemoteObject,
    _ policy: DecisionPolicy
) -> Bool {
    guard !policy.comparesContent, !base.isLeftOut, remote.kind != .symlink, !local.isDirectory,
        remote.isThroughLink == base.isThroughLink, base.isLink == local.isLink,
        remote.size <= RemoteObject.largestSize,
        LocalChange(of: local, since: base, judgesInodes: policy.judgesInodes) == .same,
        RemoteChange(of: remote, since: base) == .same, !base.isDamaged,
        carriedMode(base, local, remote, policy) == nil
    else { return false }
    let key = base.key
    return !key.isDirectoryMarker && !concernsIgnoreFile(key) && RelativePath.isSafe(key)
        && isValidUTF8(key.bytes)
}

/// The table's cells for a key that is a file's.
private struct FileTable {
    let entry: JoinedEntry
    let policy: DecisionPolicy

    init(_ entry: JoinedEntry, _ policy: DecisionPolicy) {
        self.entry = entry
        self.policy = policy
    }

    private var writesLocal: Bool { policy.direction != .push }
    private var writesRemote: Bool { policy.direction != .pull }

    func decideUnrecorded() -> Decision {
        switch (entry.local?.identity, entry.remote) {
        case (nil, nil):
            return .nothing(.unchanged)
        case (nil, .some):
            if writesLocal { return download(.new) }
            guard policy.deletesExtra else { return .nothing(.onlyRemote) }
            return entry.likeDamaged == nil || policy.replacesLocalChanges
                ? .deleteRemote(.extra) : .skip(.damagedElsewhere)
        case (.some, nil):
            if writesRemote { return upload(.new) }
            return policy.deletesExtra ? .deleteLocal(.extra) : .nothing(.onlyLocal)
        case (let file?, let remote?):
            return fileAgainstObject(file, remote, different: conflict(.bothNew))
        }
    }

    func decideRecorded(_ base: ManifestEntry) -> Decision {
        let remote = RemoteChange(of: entry.remote, since: base)
        let local = LocalChange(
            of: entry.local,
            since: base,
            judgesInodes: policy.judgesInodes
        )
        if base.isDamaged, remote == .same, let doubt = doubt(local) { return doubt }
        if let like = entry.likeDamaged, local == .absent, remote == .same, writesRemote,
            !policy.replacesLocalChanges
        {
            return .skip(.likeDamagedAndGone(like))
        }
        switch local {
        case .absent: return absent(remote)
        case .changed: return changed(remote)
        case .shortened: return damaged(base, remote)
        case .touched: return touched(base, remote, isSuspected: !base.isDamaged)
        case .same:
            return policy.comparesContent || base.isDamaged
                ? touched(base, remote, isSuspected: false) : same(base, remote)
        }
    }

    /// What becomes of the recorded object of a damaged file that is gone or was written since.
    ///
    /// It is perhaps the last good copy. Nil where the table may go on.
    private func doubt(_ local: LocalChange) -> Decision? {
        guard writesRemote, !policy.replacesLocalChanges else { return nil }
        return switch local {
        case .absent: .skip(.damagedAndGone)
        case .changed: .skip(.damagedAndChanged)
        case .same, .touched, .shortened: nil
        }
    }

    private func absent(_ remote: RemoteChange) -> Decision {
        switch (remote, policy.direction) {
        case (.absent, _): .forget
        case (.same, .pull): download(.missing)
        case (.same, .push), (.same, .sync):
            policy.deletes ? .deleteRemote(.known) : .nothing(.deletedLocally)
        case (.changed, .pull): download(.missing)
        case (.changed, .push): conflict(.localGoneRemoteChanged)
        case (.changed, .sync): download(.changed)
        }
    }

    private func same(_ base: ManifestEntry, _ remote: RemoteChange) -> Decision {
        switch (remote, policy.direction) {
        case (.same, _):
            // Whether it is a link is part of the row.
            if entry.remote?.isThroughLink != base.isThroughLink
                || entry.local?.isLink != base.isLink
            {
                .adopt
            } else {
                // It was seen on both sides, which the row is to say.
                base.isLeftOut ? .refresh(.unchanged) : unchanged(base)
            }
        case (.changed, .pull), (.changed, .sync): newVersion(base, different: download(.changed))
        case (.changed, .push): newVersion(base, different: conflict(.remoteNewer))
        case (.absent, .pull), (.absent, .sync):
            policy.deletes ? .deleteLocal(.known) : .nothing(.deletedRemotely)
        case (.absent, .push): base.isThroughLink ? .skip(.linkIsGone) : upload(.missing)
        }
    }

    /// Content and tag are as recorded.
    private func unchanged(_ base: ManifestEntry) -> Decision {
        guard let local = entry.local, let object = entry.remote,
            let target = carriedMode(base, local, object, policy)
        else { return .nothing(.unchanged) }
        return .carryMode(target)
    }

    private func changed(_ remote: RemoteChange) -> Decision {
        switch (remote, policy.direction) {
        case (.same, .pull):
            policy.replacesLocalChanges ? download(.replacesLocalChange) : .keepLocalChange
        case (.same, .push), (.same, .sync): upload(.changed)
        case (.changed, _): bothChanged(conflict(.bothChanged))
        case (.absent, .pull):
            policy.deletes ? conflict(.localChangedRemoteGone) : .keepLocalChange
        case (.absent, .push): upload(.changed)
        case (.absent, .sync): conflict(.localChangedRemoteGone)
        }
    }

    /// The file has other content than recorded, under the recorded size and times, or since it was
    /// found so.
    ///
    /// Nobody edits like that: what the disk or the memory did must not replace the object. Where
    /// the object changed, too, both are kept as in any conflict.
    private func damaged(_ base: ManifestEntry, _ remote: RemoteChange) -> Decision {
        if policy.replacesLocalChanges { return changed(remote) }
        return switch (remote, policy.direction) {
        case (.same, _): .skip(.damaged(isObjectThere: true))
        // There may be a good copy elsewhere, under the name that another machine gave it.
        case (.absent, _): .skip(.damaged(isObjectThere: false))
        case (.changed, _):
            // What the disk did is no version that may be preferred.
            resolution(of: .bothChanged, policy) == .upload
                ? bothChanged(.skip(.damaged(isObjectThere: true))) : changed(remote)
        }
    }

    /// Content decides between the cells "same" and "changed".
    private func touched(
        _ base: ManifestEntry,
        _ remote: RemoteChange,
        isSuspected: Bool
    ) -> Decision {
        let unaltered = same(base, remote)
        let altered = altered(base, remote, isSuspected: isSuspected)
        if case .upload = unaltered, case .upload = altered { return altered }
        let settled: Decision
        let isOthers =
            policy.judgesInodes && entry.local.map { mayBeOthers($0, base) } ?? false
        // What was damaged and is whole again has no mark any more. What another user may have put
        // there does not become the recorded file.
        if isSuspected || base.isDamaged, !isOthers, case .nothing(let reason) = unaltered {
            settled = .refresh(reason)
        } else {
            settled = unaltered
        }
        if base.size == 0 { return settled }
        if let recorded = base.crc64 {
            return .compare(.fileWithRow(recorded), same: settled, different: altered)
        }
        if remote == .same {
            return .compare(.fileWithObject(base.etag), same: settled, different: altered)
        }
        // Without a recorded checksum only the mtime can vouch for the file.
        return isSuspected ? altered : unaltered
    }

    private func altered(
        _ base: ManifestEntry,
        _ remote: RemoteChange,
        isSuspected: Bool
    ) -> Decision {
        guard isSuspected else { return damaged(base, remote) }
        return policy.knowsDirectory ? changed(remote) : decideUnrecorded()
    }

    /// The object has another tag than the row, the file is as recorded.
    private func newVersion(_ base: ManifestEntry, different: Decision) -> Decision {
        guard let remote = entry.remote, remote.size == base.size else { return different }
        if base.size == 0 { return .adopt }
        if let recorded = base.etag.md5Digest, let listed = remote.etag.md5Digest {
            // Two MD5s that differ prove it, unless a KMS key made them: a download is then merely
            // unneeded, but a conflict must be certain.
            if case .download = different, recorded != listed { return different }
        }
        if let crc64 = base.crc64 {
            return .compare(.objectWithRow(crc64), same: .adopt, different: different)
        }
        if case .conflict = different {
            return .compare(.fileWithObject(remote.etag), same: .adopt, different: different)
        }
        return different
    }

    private func bothChanged(_ different: Decision) -> Decision {
        guard let file = entry.local?.identity, let object = entry.remote else { return different }
        return fileAgainstObject(file, object, different: different)
    }

    private func fileAgainstObject(
        _ file: FileIdentity,
        _ remote: RemoteObject,
        different: Decision
    ) -> Decision {
        if file.size != remote.size { return different }
        if file.size == 0 { return .adopt }
        return .compare(.fileWithObject(remote.etag), same: .adopt, different: different)
    }

    private func download(_ reason: DownloadReason) -> Decision {
        needsRestore ?? .download(reason)
    }

    private func upload(_ reason: UploadReason) -> Decision {
        if entry.key.bytes.count > policy.maximumKeyLength {
            return .skip(
                .keyTooLong(length: entry.key.bytes.count, maximum: policy.maximumKeyLength)
            )
        }
        if let size = entry.local?.identity?.size, size > PartLayout.maximumObjectSize {
            return .skip(.fileTooLarge(size: size))
        }
        return .upload(reason)
    }

    private func conflict(_ kind: ConflictKind) -> Decision {
        let resolution = resolution(of: kind, policy)
        switch resolution {
        case .download, .downloadKeepingLocal:
            return needsRestore ?? .conflict(kind, resolution)
        case .upload:
            if case .skip(let reason) = upload(.changed) { return .skip(reason) }
            return .conflict(kind, resolution)
        case .deleteLocal, .deleteRemote, .leaveBoth, .stopRun:
            return .conflict(kind, resolution)
        }
    }

    /// What cannot be read is neither downloaded nor, for that reason, deleted anywhere.
    private var needsRestore: Decision? {
        guard let remote = entry.remote, remote.needsRestore else { return nil }
        return .skip(
            .needsRestore(remote.storageClass, isOngoing: remote.restoreState == .ongoing)
        )
    }
}
