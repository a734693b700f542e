internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What the disk changed behind everybody's back: its object is perhaps the last good copy.
///
/// `verify` and `--checksum` mark the row. The planner keeps the object of a marked row; here, a
/// new file is kept from passing for an undamaged one because it has another name.
struct DamagedFiles: ItemWorker {
    let parts: ItemParts

    /// Reports what the disk changed, and marks its row: later runs keep the object as this one
    /// does.
    ///
    /// It holds back only deletions at or beneath its name; what a disk does not give, and was not
    /// known to be damaged, holds back all.
    func reportDamage(_ entry: JoinedEntry, _ reason: SkipReason) async {
        context.tracker.count { $0.damaged += 1 }
        ledger.countSkippedName(entry.key)
        var (reason, isEdited) = (reason, false)
        if case .unreadable = reason {
            ledger.noteReadFailure(of: entry.base)
            // An edit is sent as soon as it can be read; until then, it was not deleted.
            isEdited = entry.isEdited
            if isEdited { reason = .unreadable(isObjectRecorded: nil) }
        }
        if let base = entry.base, !base.isDamaged, base.crc64 != nil, !context.options.isDryRun {
            do {
                if isEdited {
                    try await context.session.damaged.noteUnread([entry.key])
                } else {
                    try await context.session.damaged.mark(base)
                }
            } catch {
                fail(.skip, entry.key, size: 0, ItemFailure(any: error))
            }
        }
        let size = entry.local?.identity?.size ?? 0
        let message = reason.message(inShards: context.shard != nil)
        context.keptItem(.skip, .skipped, entry.key, size: size, message: message)
    }

    /// The same of a file whose content the disk does not give any more: the object is perhaps the
    /// last good copy, also if that has the name which the file had.
    func reportUnreadable(_ entry: JoinedEntry) async {
        guard entry.base == nil, let file = entry.local?.identity, !context.options.isDryRun else {
            return await reportDamage(entry, entry.unreadable)
        }
        do {
            let rows = try await context.manifest.rows(
                .entries(inode: file.inode, size: file.size),
                limit: Self.rowsOfOneFile
            )
            for row in rows where row.isOf(file) && !row.isDamaged {
                try await context.session.damaged.mark(row)
                ledger.countSkippedName(row.key)
            }
        } catch {
            return fail(.upload, entry.key, size: file.size, ItemFailure(any: error))
        }
        await reportDamage(entry, entry.unreadable)
    }

    private static let rowsOfOneFile = 1_000

    /// False if a file must not be sent, which is reported then.
    func isBeyondDoubt(
        _ entry: JoinedEntry,
        _ file: FileIdentity,
        _ path: RelativePath
    ) async -> Bool {
        do {
            guard let key = try await suspect(entry, file, path) else { return true }
            noteUnsent(entry)
            context.tracker.abandonedItem(bytes: file.size)
            await reportDamage(entry.withoutBase, .damagedCopy(of: key))
        } catch {
            let failure = ItemFailure(any: error)
            context.tracker.abandonedItem(bytes: file.size)
            noteUnsent(entry)
            fail(
                .upload,
                entry.key,
                size: file.size,
                failure.isVanished ? .sourceKeepsChanging : failure
            )
        }
        return false
    }

    /// The damaged file that this one comes from and is no better than, nil if there is none: its
    /// content must not pass for that of a file that was never looked at.
    ///
    /// 1. A file of the size and the time or inode of a damaged one is compared, as recorded or as
    ///    they are since it was touched; but not one that only got the inode of one that was
    ///    removed.
    /// 2. What some row records with that size and time is sound, under any name: a rename or copy
    ///    of a file that only has them in common with the damaged one.
    /// 3. Other content under the inode, size and time of a row is damage of that row's file, which
    ///    was not found before it was renamed.
    /// 4. A file is no copy of damaged ones that are in their places and have other content.
    /// 5. What was repaired meanwhile is in its place, and tells nothing of the damaged file, which
    ///    may have got another name before, or may be put back.
    /// 6. A recorded file that still has its inode was edited in its place, or a damaged one was
    ///    copied over it, with its time: the inode tells nothing there.
    ///
    /// As long as one is refused, no row of its size and time loses its object: it may be the last
    /// good copy of what was renamed.
    func suspect(
        _ entry: JoinedEntry,
        _ file: FileIdentity,
        _ path: RelativePath
    ) async throws -> ObjectKey? {
        guard !context.session.damaged.isEmpty, !context.options.replacesLocalChanges,
            file.size > 0
        else { return nil }
        let isInPlace = entry.base?.inode == file.inode
        // Of a file of which this state has recorded nothing, or an older version, another one may
        // have found that it is damaged in its place.
        let found = try await context.session.damaged.rows(like: file).filter {
            $0.key != entry.key || entry.base?.isDamaged != true
        }
        // An edit that a repair kept beside the good content is one, whatever inode it has.
        let repaired = try await context.session.damaged.repairedRows(like: file).filter {
            !entry.key.isConflictCopy || $0.mayHaveTime(of: file)
        }
        let touched = try await context.session.damaged.touchedRows(like: file).filter {
            $0.key != entry.key
        }
        guard !found.isEmpty || !repaired.isEmpty || !touched.isEmpty else { return nil }
        let birth = try await birth(of: path)
        let recorded = (found + repaired).filter {
            $0.mayHaveTime(of: file) || !isInPlace && !$0.isOlder(than: birth)
        }
        let rows = recorded + touched
        guard let first = rows.first else { return nil }
        let content = try await content(of: path, file)
        let alike = try await context.session.damaged.rowsAlike(file)
        if let content, (rows + (alike ?? [])).contains(where: { $0.crc64 == content }) {
            return nil
        }
        let origin = (alike ?? []).first { row in
            context.policy.judgesInodes && row.inode == file.inode && row.key != entry.key
                && row.crc64 != nil && row.mayHaveTime(of: file) && !row.isOlder(than: birth)
        }
        if let origin, !context.options.isDryRun,
            // It may have been recorded anew since the rows were read.
            let row = try await context.manifest.entry(origin.key), !row.isDamaged,
            row.inode == origin.inode, row.crc64 == origin.crc64
        {
            try await context.session.damaged.mark(row)
        }
        let isOfRepaired = !repaired.isEmpty && !recorded.isEmpty
        if let content, origin == nil, !isOfRepaired,
            try await areOthers(recorded, file, content),
            try await areOthers(touched, file, content, wereTouched: true)
        {
            return nil
        }
        if let alike {
            for row in alike { ledger.countSkippedName(row.key) }
        } else {
            ledger.countSkipped()
        }
        return origin?.key ?? first.key
    }

    /// True if all damaged files are in their places, and have neither the content nor the inode of
    /// a new one.
    private func areOthers(
        _ rows: [ManifestEntry],
        _ file: FileIdentity,
        _ content: CRC64,
        wereTouched: Bool = false
    ) async throws -> Bool {
        for row in rows {
            guard !row.isLink, let damaged = try await identity(of: row.key),
                damaged.size == row.size, wereTouched || row.mayHaveTime(of: damaged),
                !context.policy.judgesInodes
                    || (wereTouched || damaged.inode == row.inode) && damaged.inode != file.inode,
                try await damagedContent(row.key, damaged) != content
            else { return false }
        }
        return true
    }

    private func birth(of path: RelativePath) async throws -> Timestamp? {
        try await context.onDisk { directory throws(LocalError) in
            try directory.birth(of: path)
        }
    }

    /// The checksum of a damaged file as it is, which is read once.
    private func damagedContent(_ key: ObjectKey, _ file: FileIdentity) async throws -> CRC64? {
        if let known = context.session.damaged.content(of: file) { return known }
        let content = try await content(of: context.path(of: key), file)
        if let content { context.session.damaged.note(content, of: file) }
        return content
    }

    /// The checksum of a file; nil if the disk does not give what it holds.
    private func content(of path: RelativePath, _ file: FileIdentity) async throws -> CRC64? {
        do {
            return try await checksum(of: path, expected: file)
        } catch  where ItemFailure.isOfDamagedSource(error) {
            ledger.noteReadFailure(of: nil)
            return nil
        }
    }
}

extension JoinedEntry {
    /// True for a file whose size or time is not that of its row.
    ///
    /// Another inode or time of change alone comes with a copy or a `chmod`, too.
    fileprivate var isEdited: Bool {
        guard let base, let file = local?.identity else { return false }
        return base.size != file.size || !base.mayHaveTime(of: file)
    }

    /// Why nothing becomes of an entry whose file cannot be read.
    var unreadable: SkipReason {
        .unreadable(
            isObjectRecorded: base.flatMap { base in
                remote.map { RemoteChange(of: $0, since: base) == .same }
            }
        )
    }
}
