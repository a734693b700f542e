internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Uploads of files, with the copies in the bucket that save some of them.
struct FileUploads: ItemWorker {
    let parts: ItemParts

    private var damage: DamagedFiles { DamagedFiles(parts) }
    private var markers: DirectoryMarkers { DirectoryMarkers(parts) }
    private var permissions: Permissions { Permissions(parts) }
    private var smallRenames: SmallRenames { SmallRenames(parts) }
    private var sources: CopySources { CopySources(parts) }

    /// How often a file that changes while it is read is tried.
    private static let sourceAttempts = 3

    /// The file's content goes to the object: from an object that has it already, else by upload.
    ///
    /// `earlier` are rows that a new small file may have had before it was renamed.
    func upload(_ entry: JoinedEntry, earlier: [ManifestEntry] = []) async {
        guard let file = entry.local?.identity else { return }
        guard ledger.fullBucket == nil else {
            noteUnsent(entry)
            ledger.countUntried(1)
            return context.tracker.abandonedItem(bytes: file.size)
        }
        let path: RelativePath
        do {
            path = try context.path(of: entry)
        } catch {
            noteUnsent(entry)
            skip(entry.key, size: file.size, message: error.message)
            return
        }
        guard await markers.areSent(above: entry.key) else {
            noteUnsent(entry)
            context.tracker.abandonedItem(bytes: file.size)
            guard !Task.isCancelled else {
                return fail(.upload, entry.key, size: file.size, .cancelled)
            }
            let failure = ItemFailure.local(message: Self.unmarkedMessage)
            let deferred = RunLedger.DeferredUpload(entry: entry, failure: failure)
            if parts.privateMarkers.isPostponed(above: entry.key),
                ledger.add(deferred, to: \.uploads)
            {
                return
            }
            return skip(entry.key, size: file.size, message: Self.unmarkedMessage)
        }
        guard await damage.isBeyondDoubt(entry, file, path) else { return }
        guard entry.remote == nil, let other = await FilePlaces(parts).otherSpelling(path) else {
            return await upload(entry, file, path, earlier)
        }
        while !parts.likeNames.begin() { await parts.likeNames.ended() }
        defer { parts.likeNames.end() }
        do {
            guard try await isTaken(entry) else {
                return await upload(entry, file, path, earlier)
            }
            skipOneName(entry, size: file.size, OneName.other(other))
        } catch {
            noteUnsent(entry)
            context.tracker.abandonedItem(bytes: file.size)
            fail(.upload, entry.key, size: file.size, error)
        }
    }

    private static let unmarkedMessage =
        "not sent, because the permissions of a directory above it could not be sent, without "
        + "which other machines let more users in"

    private func upload(
        _ entry: JoinedEntry,
        _ file: FileIdentity,
        _ path: RelativePath,
        _ earlier: [ManifestEntry]
    ) async {
        var (replaced, earlier) = (entry.remote?.etag, earlier)
        for row in earlier where await isOneObject(entry, row) {
            return skipOneName(entry, size: row.size, .former(row.key))
        }
        if entry.remote == nil, entry.local?.isLink != true, sources.mayHaveCopies(file.size) {
            switch await copyRemote(entry, file, path) {
            case .settled: return
            case .outdated(let copy): replaced = copy
            case .bare(let copy, let row): (replaced, earlier) = (copy, [row])
            case .none: break
            }
        }
        do {
            if !replacesDamaged { try await requireReadable(entry) }
            try await keepReplaced(entry)
        } catch {
            // Its object is gone: another writer's doing, as if it had changed.
            let failure = error.isVanished ? .alreadyExists(error.answer) : error
            context.tracker.abandonedItem(bytes: file.size)
            noteUnsent(entry)
            return failKept(.upload, entry.key, size: file.size, failure)
        }
        await send(entry, file, path, earlier, replaced: replaced)
    }

    private func send(
        _ entry: JoinedEntry,
        _ file: FileIdentity,
        _ path: RelativePath,
        _ earlier: [ManifestEntry],
        replaced: ETag?
    ) async {
        var details = UploadDetails(
            context.options.properties,
            keepsFileMetadata: context.options.keepsFileMetadata
        )
        (details.isNew, details.replaced) = (replaced == nil, replaced)
        let former = await smallRenames.beforeRename(earlier, of: file)
        details.source = former?.object
        let transfer = context.tracker.begin(.upload, key: entry.key, size: file.size)
        var failure: ItemFailure?
        defer {
            context.tracker.end(
                transfer,
                isFailed: failure != nil,
                isInterrupted: failure == .cancelled
            )
        }
        // An upload that begins drops what an earlier one recorded.
        let known = await copies(entry, of: file, replacing: replaced).parts
        for attempt in 1...Self.sourceAttempts {
            let start = context.environment.now()
            details.copies = known.map { PartCopies($0, context.transfer.refusedCopies) }
            let uploader = Uploader(
                context: context.transfer,
                key: entry.key,
                path: path,
                transfer: transfer,
                details: details
            )
            do {
                let finished = try await uploader.run()
                if details.copies?.areRefused == true {
                    await RefusedPartCopies.record(in: context.manifest, context.environment.now())
                }
                await recordUpload(entry, finished, transfer, former, readSince: start)
                return
            } catch {
                if error == .sourceKeepsChanging, attempt < Self.sourceAttempts {
                    transfer.startOver()
                    continue
                }
                failure = error
                if waitsForDeletions(entry, error) { return }
                noteUnsent(entry)
                if case .sourceDamaged = error { return await damage.reportUnreadable(entry) }
                fail(.upload, entry.key, size: file.size, Self.explained(error))
                return
            }
        }
    }

    /// Copies the object that the upload will replace, if the run keeps any.
    private func keepReplaced(_ entry: JoinedEntry) async throws(ItemFailure) {
        guard let object = entry.remote else { return }
        let keeper = ObjectKeeper(context: context)
        try await keeper.keep(entry.key, object.etag, size: object.size)
    }

    /// A local file that vanished since the walk is a change like any other.
    private static func explained(_ failure: ItemFailure) -> ItemFailure {
        failure.isVanished ? .sourceKeepsChanging : failure
    }

    private func recordUpload(
        _ entry: JoinedEntry,
        _ finished: FinishedUpload,
        _ transfer: TransferCounter,
        _ former: BeforeRename?,
        readSince start: Timestamp
    ) async {
        let keptClass = entry.remote?.storageClass ?? former?.object?.storageClass
        var row = ManifestEntry(
            key: entry.key,
            size: finished.source.size,
            etag: finished.etag,
            crc64: finished.checksum,
            lastModified: finished.lastModified,
            storageClass: writtenClass ?? keptClass ?? .standard,
            localModified: recordedTime(finished.source, since: start),
            inode: finished.source.inode,
            isLink: entry.local?.isLink == true,
            changed: finished.source.recordedChange,
            mode: finished.permissions
        )
        // Sent again, because the bucket lost it, it is as little this machine's as before.
        if let base = entry.base {
            row.isFetched = base.isFetched && base.isOf(finished.source)
        }
        var changes: [ManifestChange] = [.upsert(row)]
        if let parts = finished.parts { changes.append(.keepParts(parts)) }
        if finished.hasCheckpoint { changes.append(.finishUpload(entry.key)) }
        await record(changes, .upload, entry)
        if let old = smallRenames.oldRow(former, finished) {
            ledger.noteMoved(old, to: entry.key)
            context.tracker.count { $0.renamed += 1 }
        } else {
            context.tracker.count { $0.countTransfer(of: entry.key) }
        }
        context.doneItem(
            .upload,
            entry.key,
            size: finished.source.size,
            transfer,
            replaced: entry.remote.map { _ in
                context.options.trash == .remote ? .objectKept : .object
            }
        )
    }

    /// The class that this run writes objects with, if it was chosen.
    private var writtenClass: StorageClass? {
        context.options.properties.storageClass.map { StorageClass(name: $0) }
    }
}

// MARK: - Stores that fold names

extension FileUploads {
    /// True if a file was given another spelling of its name, and the store takes both for one: the
    /// listing has no object of the new name, and there is one.
    ///
    /// What is sent would replace that object, and the deletion of the old name would delete it.
    private func isOneObject(_ entry: JoinedEntry, _ row: ManifestEntry) async -> Bool {
        // Strings are equal if they are the same characters, however these are composed.
        guard entry.remote == nil, entry.key != row.key,
            entry.key.text.lowercased() == row.key.text.lowercased()
        else { return false }
        return (try? await head(entry.key))?.etag == row.etag
    }

    /// True if the store has an object of a name that its listing does not have: of a file whose
    /// name it takes for the same one.
    ///
    /// Not every such store refuses to replace that object by a new one.
    private func isTaken(_ entry: JoinedEntry) async throws(ItemFailure) -> Bool {
        do {
            _ = try await head(entry.key)
            return true
        } catch {
            let failure = ItemFailure(any: error)
            // Without permission to ask, nothing is known.
            if case .storage(_, _, _, .forbidden) = failure { return false }
            guard failure.isVanished else { throw failure }
            return false
        }
    }

    /// What a store takes for the name of a file.
    private enum OneName {
        /// The one that the file had.
        case former(ObjectKey)
        case other(String)
    }

    private func skipOneName(_ entry: JoinedEntry, size: Int64, _ name: OneName) {
        noteUnsent(entry)
        context.tracker.abandonedItem(bytes: size)
        let message: String
        switch name {
        case .former(let key):
            ledger.countSkippedName(key)
            message =
                "the store takes its name and '\(key.display)', which it had, for one, and has "
                + "one object for both; give it its old name again, or another one"
        case .other(let other):
            message =
                "the store takes this name and '\(other)' for one, and has one object for both; "
                + "rename one of them"
        }
        skip(entry.key, size: size, message: message)
    }
}

// MARK: - Copies in the bucket

extension FileUploads {
    /// What became of the attempt to make an object from another one.
    private enum RemoteCopy {
        case none
        case settled
        /// There is a copy with this tag, and meanwhile the file has other content.
        case outdated(ETag)
        /// A copy has nothing of the metadata of the row's object; it has this tag, if it was made.
        case bare(ETag?, ManifestEntry)
    }

    /// Makes a new key's object from one with the same content, if the bucket has one.
    private func copyRemote(
        _ entry: JoinedEntry,
        _ file: FileIdentity,
        _ path: RelativePath
    ) async -> RemoteCopy {
        let start = context.environment.now()
        do {
            guard let row = try await sources.remoteSource(entry, file, path) else { return .none }
            if await isOneObject(entry, row) {
                skipOneName(entry, size: row.size, .former(row.key))
                return .settled
            }
            guard try await permissions.keepsCopies() != false else { return .bare(nil, row) }
            return try await copyRemote(entry, file, from: row, readSince: start)
        } catch {
            // A copy is a shortcut: if it fails, the upload reports or fixes the cause.
            return .none
        }
    }

    private func copyRemote(
        _ entry: JoinedEntry,
        _ file: FileIdentity,
        from row: ManifestEntry,
        readSince start: Timestamp
    ) async throws -> RemoteCopy {
        let copier = RemoteCopier(context: context)
        let mode = entry.local?.permissions
        // Those that the object stands for here may be fewer than it has.
        var changed = mode == row.mode ? nil : mode
        if let own = changed { changed = try await permissions.shared(own, entry.key) }
        guard let copy = try await copier.copy(row, of: file, mode: changed, to: entry.key) else {
            return .none
        }
        let record = ManifestEntry(
            key: entry.key,
            size: row.size,
            etag: copy.etag,
            crc64: row.crc64,
            lastModified: copy.lastModified,
            storageClass: writtenClass ?? row.storageClass,
            localModified: recordedTime(file, since: start),
            inode: file.inode,
            changed: file.recordedChange,
            mode: mode
        )
        // Also of a copy that is outdated by now: without a row it would be another writer's.
        var changes: [ManifestChange] = [.upsert(record)]
        if let parts = await sentParts(of: row, as: record) { changes.append(.keepParts(parts)) }
        await self.record(changes, .copyRemote, entry)
        guard try await identity(of: entry.key) == file else { return .outdated(copy.etag) }
        await permissions.learn(from: copy, knowing: try await permissions.keepsCopies())
        guard copy.hasMetadata else { return .bare(copy.etag, row) }
        context.tracker.count { $0.renamed += 1 }
        ledger.noteMoved(row, to: entry.key)
        context.tracker.finishedItem(bytes: file.size)
        context.doneItem(.copyRemote, entry.key, size: file.size)
        return .settled
    }
}

extension FileUploads {
    /// Whether the file was written after an earlier run sent the object of it, and could not
    /// record that; nil for another writer's version.
    func isNewerThanEarlier(_ entry: JoinedEntry) async -> Bool? {
        guard !context.uploads.earlier.isEmpty,
            let object = entry.remote, let file = entry.local?.identity,
            let metadata = try? await head(entry.key), metadata.etag == object.etag,
            let token = metadata.userMetadata[StorageDialect.tokenMetadataName],
            context.uploads.isEarlier(token, of: entry.key, size: object.size),
            let sent = metadata.userMetadata[ModificationTime.metadataName]
                .flatMap({ ModificationTime.parse($0) })
        else { return nil }
        return sent.nanosecondsSince1970 < file.modified.nanosecondsSince1970
    }
}
