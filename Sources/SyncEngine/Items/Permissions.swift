internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Permissions that changed without the content.
struct Permissions: ItemWorker {
    let parts: ItemParts

    /// Gives one side the permissions of the other one, and the row what both are now.
    ///
    /// `start` is a moment before the file was read; nil if it was not.
    func carryMode(
        _ entry: JoinedEntry,
        to target: ModeTarget,
        readSince start: Timestamp?
    ) async {
        if entry.local?.isDirectory == true {
            await carryDirectoryMode(entry, to: target)
            return
        }
        guard let base = entry.base, let file = entry.local?.identity else { return }
        let row = refreshed(base, entry, file, readSince: start)
        do {
            switch target {
            case .object: try await sendMode(entry, row)
            case .file: try await takeMode(entry, row, file)
            case .neither:
                if row != base { await record([.upsert(row)], .mode, entry) }
                keepLocalChange(entry)
            }
        } catch {
            fail(.mode, entry.key, size: 0, ItemFailure(any: error))
        }
    }

    private func sendMode(_ entry: JoinedEntry, _ row: ManifestEntry) async throws {
        guard let mode = entry.local?.permissions else { return }
        switch try await send(mode, row) {
        case .replaced: leaveReplaced(entry)
        case .refused(let failure): keepRefused(entry, failure)
        case .dropped(let row):
            await record([.upsert(row)], .mode, entry)
            leave(.unchanged, entry)
        case .kept(let row):
            await record([.upsert(row)], .mode, entry)
            reportMode(entry)
        }
    }

    /// What became of permissions that an object was to get.
    enum Sent: Sendable {
        case kept(ManifestEntry)
        /// Recorded all the same: it would be tried in each run.
        case dropped(ManifestEntry)
        /// The object is another version by now.
        case replaced
        /// The store, or the key, copies no object in its place; nil if it was not asked any more.
        case refused(ItemFailure?)
    }

    /// Gives an object the permissions `mode`.
    ///
    /// The first copy at a store is looked at: one that drops the permissions drops everything else
    /// that other tools put there, too, and no further object is to lose it.
    func send(_ mode: UInt32, _ row: ManifestEntry) async throws -> Sent {
        let areKept = try await keepsCopies()
        guard areKept != false else { return .dropped(row.replacing(mode: mode)) }
        guard ledger.asksForCopies else { return .refused(nil) }
        let copier = RemoteCopier(context: context)
        let shared = try await shared(mode, row.key)
        let copy: RemoteCopier.Copied?
        do {
            copy = try await copier.rewrite(row, mode: shared, looks: areKept == nil)
        } catch is BucketCopy.Unproven {
            context.emit(
                .warning(
                    message: "the permissions of '\(row.key.display)' are not mirrored: it is too "
                        + "large for a copy by one request, and the store does not show that its "
                        + "copies in parts have the same content"
                )
            )
            return .dropped(row.replacing(mode: mode))
        } catch {
            let failure = ItemFailure(any: error)
            guard failure.isRefusedOperation else { throw error }
            ledger.countCopy(isRefused: true)
            return .refused(failure)
        }
        ledger.countCopy(isRefused: false)
        guard let copy else { return .replaced }
        await learn(from: copy, knowing: areKept)
        if !copy.hasMetadata {
            context.emit(
                .warning(message: "'\(row.key.display)' has lost its metadata in the bucket")
            )
        }
        let changed = row.replacing(
            lastModified: copy.lastModified,
            mode: mode,
            etag: copy.etag
        )
        return copy.hasMetadata ? .kept(changed) : .dropped(changed)
    }

    /// The contents are mirrored, so this is not a failure, and nothing is in doubt.
    ///
    /// `failure` is nil where the store was not asked any more.
    func keepRefused(_ entry: JoinedEntry, _ failure: ItemFailure?) {
        keepLocalChange(entry, "its permissions cannot be sent")
        guard let failure, ledger.tellsOnce(.refusals) else { return }
        context.emit(
            .warning(
                message: "permissions that changed alone are not sent, the first are those of "
                    + "'\(entry.key.display)', because objects may not be copied in their places, "
                    + "which needs the rights to read and to write: \(failure.message). A file "
                    + "that changes takes its permissions along; --no-metadata leaves out all"
            )
        )
    }

    /// What other machines are told of a file or directory with these permissions.
    func shared(_ mode: UInt32, _ key: ObjectKey) async throws -> UInt32 {
        let (directory, path) = (context.directory, try context.path(of: key))
        return await context.disk.run { directory.sharedPermissions(mode, of: path) }
    }

    /// Whether copies have the metadata that they were asked to have; nil if none has shown it yet.
    func keepsCopies() async throws(ManifestError) -> Bool? {
        guard !context.store.dialect.computesChecksum else { return true }
        return try await KeptModes.ofCopies.areKnown(to: context.manifest)
    }

    /// Notes what a copy shows of the store.
    func learn(from copy: RemoteCopier.Copied, knowing areKept: Bool?) async {
        guard areKept == nil || !copy.hasMetadata else { return }
        await KeptModes.ofCopies.record(copy.hasMetadata, in: context.manifest)
        guard !copy.hasMetadata, ledger.tellsOnce(.copies) else { return }
        context.emit(
            .warning(
                message: "this store does not keep the metadata of copies: renamed files are sent "
                    + "anew, and permissions that change are not mirrored"
            )
        )
    }

    private func takeMode(
        _ entry: JoinedEntry,
        _ row: ManifestEntry,
        _ file: FileIdentity
    ) async throws {
        let seen = row.replacing(lastModified: entry.remote?.lastModified)
        let allowed = try await permissionsOfObject(entry)
        guard let mode = takenMode(entry, allowed) else {
            // Somebody may have given both sides the same permissions.
            let isSame = allowed != nil && allowed == entry.local?.permissions
            await record([.upsert(seen.replacing(mode: isSame ? allowed : nil))], .mode, entry)
            return isOwn(entry) && !isSame ? keepLocalChange(entry) : leave(.unchanged, entry)
        }
        let (directory, path) = (context.directory, try context.path(of: entry))
        let found: (identity: FileIdentity, permissions: UInt32)
        do {
            found = try await context.disk.run { () throws(LocalError) in
                try directory.setPermissions(mode, of: path, expected: file)
            }
        } catch LocalError.targetChanged {
            return leave(.unchanged, entry)
        } catch {
            // It is said once: the time of the object is recorded.
            context.emit(
                .warning(
                    message: "the permissions of '\(entry.key.display)' could not be set: "
                        + ItemFailure(any: error).message
                )
            )
            await record([.upsert(seen)], .mode, entry)
            return leave(.unchanged, entry)
        }
        let changed = seen.replacing(
            changed: found.identity.recordedChange,
            mode: found.permissions
        )
        await record([.upsert(changed)], .mode, entry)
        reportMode(entry)
    }

    /// The permissions that the file gets from its object, which was written anew; nil if it has
    /// them, or has its own.
    func modeOfObject(_ entry: JoinedEntry) async throws -> UInt32? {
        if entry.local?.isDirectory == true {
            switch try await directoryMode(entry, marker(entry.key)).mode {
            case .none: return nil
            case .object(let mode), .directory(let mode): return mode
            }
        }
        return takenMode(entry, try await permissionsOfObject(entry))
    }

    private func isOwn(_ entry: JoinedEntry) -> Bool {
        entry.base?.mode.map { $0 != entry.local?.permissions } ?? false
    }

    /// What the file gets of what its object allows; nil for nothing.
    private func takenMode(_ entry: JoinedEntry, _ allowed: UInt32?) -> UInt32? {
        guard let found = entry.local?.permissions, allowed != found,
            !isOwn(entry) || context.options.replacesLocalChanges
        else { return nil }
        return allowed
    }

    /// What the object says of a file here; nil if nothing, or if it is another version by now.
    private func permissionsOfObject(_ entry: JoinedEntry) async throws -> UInt32? {
        guard let base = entry.base else { return nil }
        let metadata = try await head(entry.key)
        guard metadata.etag == base.etag else {
            context.tracker.count { $0.unlistedSizes += 1 }
            return nil
        }
        guard let mode = FileMode.of(metadata) else { return nil }
        return try await context.onDisk { directory throws(LocalError) in
            try directory.permissions(ofObject: mode)
        }
    }

    /// Another writer's version by now, which the next run sees in its listing.
    private func leaveReplaced(_ entry: JoinedEntry) {
        context.tracker.count { $0.unlistedSizes += 1 }
        leave(.unchanged, entry)
    }

    func reportMode(_ entry: JoinedEntry) {
        context.tracker.count { $0.modes += 1 }
        context.item(.mode, .done, entry.key, size: 0, message: "permissions changed")
    }
}
