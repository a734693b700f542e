internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// The permissions of directories, which their markers have.
///
/// 1. A listing tells none: each marker is asked for once, when it is met first or was written
///    anew. Its row has the time of the object from then on.
/// 2. `directoryMode` decides which side gets those of the other one, for runs and dry runs.
/// 3. A directory has the permissions of its marker from then on; that its owner may not write
///    there is set at the end of the run, by `ClosedDirectories`.
///
/// What could not be settled has a row without the time of the object, by which the next run asks
/// again.
extension Permissions {
    /// Which side gets the permissions of the other one.
    enum DirectoryMode: Sendable, Hashable {
        case none
        case object(UInt32)
        case directory(UInt32)
    }

    /// What becomes of a directory and its marker, and the permissions that the marker stands for
    /// here.
    func directoryMode(
        _ entry: JoinedEntry,
        _ marker: ObjectMetadata?
    ) async throws(ItemFailure) -> (mode: DirectoryMode, meant: UInt32?) {
        let (directory, stored) = (context.directory, FileMode.of(marker, .directory))
        let meant: UInt32?
        do {
            meant = try await context.disk.run { () throws(LocalError) in
                try stored.map { (mode) throws(LocalError) in
                    try directory.permissions(ofMarker: mode)
                }
            }
        } catch {
            throw ItemFailure(any: error)
        }
        guard let found = entry.local?.permissions else {
            // One that was just made, or one whose permissions follow from where it is.
            let isNew = entry.local == nil
            return (isNew ? meant.map { .directory($0) } ?? .none : .none, meant)
        }
        guard found != meant else { return (.none, meant) }
        let isOrdinary = isOrdinaryDirectory(found, here: context.policy.ordinaryDirectory)
        let isOwn = entry.base?.mode.map { $0 != found } ?? !isOrdinary
        let taken = meant.map { DirectoryMode.directory($0) } ?? .none
        switch context.tracker.direction {
        case .pull:
            return (isOwn && !context.options.replacesLocalChanges ? .none : taken, meant)
        case .sync where !isOwn:
            return (taken, meant)
        case .push where meant != nil && isOrdinary && entry.base?.mode == nil:
            // Ordinary permissions here do not give others access there.
            return (.none, found)
        case .push where meant == nil && isOrdinary,
            .push where context.policy.ordinaryDirectory == nil,
            .sync where context.policy.ordinaryDirectory == nil:
            return (.none, meant)
        case .push, .sync:
            return (.object(found), meant)
        }
    }

    /// The marker of a directory, with what it says of that; nil if it is gone, or kept under
    /// another name.
    func marker(_ key: ObjectKey) async throws(ItemFailure) -> ObjectMetadata? {
        do throws(ItemFailure) {
            return try await head(key)
        } catch {
            guard error.isVanished else { throw error }
            return nil
        }
    }

    /// Both sides have the directory: records it, and gives one of them the permissions of the
    /// other one.
    ///
    /// `entry` has nothing here if this run made it. False if that failed.
    @discardableResult
    func settleDirectory(_ found: JoinedEntry, _ action: ItemAction) async -> Bool {
        do {
            let entry = try await asMadeHere(found)
            let isCarried = try await settle(entry)
            if action != .mode { reportDirectory(found) }
            // What this run made has its permissions from the start.
            if isCarried, entry.local != nil {
                reportMode(entry)
            } else if action == .mode {
                leave(.unchanged, entry)
            }
            return true
        } catch {
            fail(action, found.key, size: 0, ItemFailure(any: error))
            return false
        }
    }

    /// The entry without the directory, if a run made that and was killed before it had its
    /// permissions.
    private func asMadeHere(_ entry: JoinedEntry) async throws -> JoinedEntry {
        guard entry.local?.permissions == 0o700, case .directory? = entry.local?.kind else {
            return entry
        }
        let (directory, path) = (context.directory, try RelativePath(key: entry.key))
        let isUnasked = try await context.disk.run { () throws(LocalError) in
            try directory.isUnasked(path)
        }
        guard isUnasked else { return entry }
        return JoinedEntry(key: entry.key, base: nil, local: nil, remote: entry.remote)
    }

    /// The directory of a new marker was made, or was there.
    func reportDirectory(_ entry: JoinedEntry) {
        if entry.local == nil {
            context.tracker.count { $0.transferred += 1 }
            context.doneItem(.download, entry.key, size: 0)
        } else {
            context.tracker.count { $0.adopted += 1 }
            context.item(.adopt, .done, entry.key, size: 0)
        }
    }

    /// Gives one side the permissions of the other one; false if the marker should have got those
    /// of the directory, and that failed.
    @discardableResult
    func carryDirectoryMode(_ entry: JoinedEntry, to target: ModeTarget) async -> Bool {
        do {
            let isMade = try await asMadeHere(entry).local == nil
            let isSent = target == .object && !isMade
            if target == .neither, !isMade {
                keepLocalChange(entry)
            } else if isSent, let mode = entry.local?.permissions {
                let sent = try await sendDirectoryMode(entry, mode)
                switch sent {
                case .written: reportMode(entry)
                case .refused(let failure):
                    keepRefused(entry, failure)
                    return !closesMore(entry)
                case .notKept, .replaced: leave(.unchanged, entry)
                }
                return sent != .replaced
            } else if isMade, context.tracker.direction == .push {
                // Its permissions are not what anybody wants.
                leave(.unchanged, entry)
            } else {
                return await settleDirectory(entry, .mode)
            }
            return true
        } catch {
            fail(.mode, entry.key, size: 0, ItemFailure(any: error))
            return false
        }
    }

    /// Says once that markers may not be read; false if something else failed.
    func tellsUnread(_ failure: ItemFailure) -> Bool {
        guard failure.answer?.status == 403 else { return false }
        if ledger.tellsOnce(.markers) {
            context.emit(
                .warning(
                    message: "the permissions of directories are neither restored nor compared, "
                        + "and new ones can be entered only by their owner: \(failure.message)"
                )
            )
        }
        return true
    }

    /// True for a directory that is here and whose marker was answered, and has been written since:
    /// it may let fewer users in now, and gets no files until that is known.
    private func wasAnswered(_ entry: JoinedEntry) -> Bool {
        entry.local != nil && entry.base?.lastModified != nil && context.tracker.direction != .push
    }

    /// True if a side got other permissions.
    private func settle(_ entry: JoinedEntry) async throws -> Bool {
        let found: ObjectMetadata?
        do throws(ItemFailure) {
            found = try await marker(entry.key)
        } catch {
            guard tellsUnread(error) else { throw error }
            // Nor does a directory that was here before its marker get files.
            let isNew = entry.base == nil && entry.local != nil
            guard !wasAnswered(entry), !isNew || context.tracker.direction == .push else {
                throw ItemFailure.placeRefused(message: error.message)
            }
            // Asked for again in each run: other credentials may be allowed to.
            await record(entry, mode: entry.base?.mode, at: nil)
            return false
        }
        var time = entry.remote?.lastModified
        // A replica that lags behind; a store that lists what it has not says so in the next run.
        if found == nil, let object = entry.remote, await !shortensMarkers() {
            let isLasting = ledger.noteVanished(object)
            guard isLasting, !wasAnswered(entry) else {
                if !wasAnswered(entry) { await record(entry, mode: entry.base?.mode, at: nil) }
                throw ItemFailure.vanished(nil)
            }
            time = nil
        }
        let (mode, meant) = try await directoryMode(entry, found)
        switch mode {
        case .none where entry.local == nil:
            let (directory, path) = (context.directory, try RelativePath(key: entry.key))
            let opened = try await context.disk.run { () throws(LocalError) in
                try directory.openUnasked(path)
            }
            let isOrdinary = opened == context.policy.ordinaryDirectory
            await record(entry, mode: isOrdinary ? opened : nil, at: time)
            return false
        case .none:
            await record(entry, mode: meant ?? ordinaryMode(entry), at: time)
            return false
        case .object(let mode):
            await record(entry, mode: meant, at: entry.remote?.lastModified)
            let sent = try await sendDirectoryMode(entry, mode)
            if case .refused(let failure) = sent { keepRefused(entry, failure) }
            return sent == .written
        case .directory(let permissions):
            return try await set(permissions, of: entry)
        }
    }

    /// The row of a directory and its marker.
    func row(
        _ entry: JoinedEntry,
        mode: UInt32?,
        at time: Timestamp?,
        _ etag: ETag? = nil
    ) -> ManifestEntry? {
        entry.remote.map { object in
            ManifestEntry(
                marker: entry.key,
                etag: etag ?? object.etag,
                lastModified: time,
                storageClass: object.storageClass,
                mode: mode
            )
        }
    }

    private func record(_ entry: JoinedEntry, mode: UInt32?, at time: Timestamp?) async {
        guard let row = row(entry, mode: mode, at: time) else { return }
        await record([.upsert(row)], .mode, entry)
    }

    /// What became of the permissions of a marker.
    private enum SentMode: Hashable {
        case written
        /// There is nothing to send, or the store does not keep it.
        case notKept
        case refused(ItemFailure?)
        /// The marker is another writer's, or not there.
        case replaced
    }

    private func sendDirectoryMode(
        _ entry: JoinedEntry,
        _ mode: UInt32
    ) async throws -> SentMode {
        guard let row = row(entry, mode: mode, at: entry.remote?.lastModified),
            try await context.closed.areChosen(mode, entry.key)
        else { return .notKept }
        do {
            switch try await send(mode, row) {
            case .replaced: return .replaced
            case .refused(let failure):
                return try await rewrite(entry, mode) ?? .refused(failure)
            case .dropped(let row):
                await record([.upsert(row)], .mode, entry)
                return .notKept
            case .kept(let row):
                await record([.upsert(row)], .mode, entry)
                return .written
            }
        } catch {
            guard ItemFailure(any: error).isVanished else { throw error }
            // A store that keeps it under another name would be asked in each run.
            await record([.upsert(row)], .mode, entry)
            return await shortensMarkers() ? .notKept : .replaced
        }
    }

    /// Writes the marker of an entry anew where none may be copied in its place; nil if that is
    /// refused, too.
    ///
    /// What other tools noted on it is lost, which nothing here may read.
    private func rewrite(_ entry: JoinedEntry, _ mode: UInt32) async throws -> SentMode? {
        guard let object = entry.remote, object.size == 0 else { return nil }
        var request = context.markerRequest(entry, try await shared(mode, entry.key))
        (request.forbidsOverwrite, request.replaced) = (false, object.etag)
        do {
            let answer = try await context.store.put(
                request,
                body: .bytes([]),
                onProgress: { _ in }
            )
            if let row = row(entry, mode: mode, at: answer.lastModified, answer.etag) {
                await record([.upsert(row)], .mode, entry)
            }
            return .written
        } catch {
            let failure = ItemFailure(error)
            if failure.isAlreadyExists { return .replaced }
            guard failure.isRefusedOperation else { throw failure }
            return nil
        }
    }
}

// MARK: - Here

extension Permissions {
    /// Gives the directory the permissions of its marker; false if it has others by now than the
    /// plan saw, which the next run looks at.
    ///
    /// Its owner may write there until the end of the run.
    private func set(_ permissions: UInt32, of entry: JoinedEntry) async throws -> Bool {
        let path = try RelativePath(key: entry.key)
        let (directory, expected) = (context.directory, entry.local?.permissions)
        let open = permissions | 0o200
        let found = try await context.disk.run { () throws(LocalError) in
            try directory.setPermissions(open, ofDirectory: path, expected: expected)
        }
        guard let found else {
            await record(entry, mode: entry.base?.mode, at: nil)
            return false
        }
        let time = entry.remote?.lastModified
        guard found == open, found != permissions,
            let closed = row(entry, mode: permissions, at: time)
        else {
            await record(entry, mode: found, at: time)
            return true
        }
        await record(entry, mode: found, at: nil)
        if !context.closed.closeAtEnd(path, closed) {
            skipWithoutDoubt(
                entry.key,
                size: 0,
                message: "too many directories that their owner may not write to for one run; the "
                    + "next one sets its permissions"
            )
        }
        return true
    }

    /// Closes the directories that were opened for this run.
    func closeDirectories() async {
        let (rows, failures) = await context.closed.close()
        for (key, error) in failures { fail(.mode, key, size: 0, ItemFailure(error)) }
        guard !rows.isEmpty else { return }
        do {
            try await publications.recordDurably(rows.map { .upsert($0) })
        } catch {
            for row in rows { fail(.mode, row.key, size: 0, ItemFailure(any: error)) }
        }
    }
}
