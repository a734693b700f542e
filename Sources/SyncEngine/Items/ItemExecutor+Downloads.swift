internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

extension ItemExecutor {
    var renames: RenameLookup {
        RenameLookup(
            smallestWorthAsking: context.limits.smallestWorthAsking,
            maximumCandidates: 8,
            judgesInodes: context.judgesInodes
        )
    }

    /// The object's content goes to the file: from a file that has it already, else by download.
    func download(
        _ entry: JoinedEntry,
        _ backup: BackupPolicy,
        _ fetched: Fetched? = nil
    ) async {
        guard let object = entry.remote else { return }
        let path: RelativePath
        do {
            path = try context.path(of: entry)
        } catch {
            skip(entry.key, size: object.size, message: error.message)
            return
        }
        if context.looksForFoldedNames, entry.local == nil,
            let collision = await nameCollision(path)
        {
            context.tracker.abandonedItem(bytes: object.size)
            return fail(.download, entry.key, size: object.size, ItemFailure(collision))
        }
        if let obstacle = await obstacle(of: entry, at: path) {
            context.tracker.abandonedItem(bytes: object.size)
            return await carryOut(.skip(obstacle), entry)
        }
        // What was fetched already is kept where it cannot get its name.
        if let refusal = await placeRefusal(path, replaces: entry.local != nil), fetched == nil {
            context.tracker.abandonedItem(bytes: object.size)
            return fail(.download, entry.key, size: object.size, ItemFailure(ofChange: refusal))
        }
        if entry.key != IgnoreFile.key, !path.isLink, entry.base == nil, entry.local == nil,
            mayHaveCopies(object.size), await copyLocal(entry, object, path)
        {
            return
        }
        guard let failure = await transfer(entry, object, path, backup, fetched) else { return }
        if case .diskFull = failure {
            let short = RunLedger.ShortOfRoom(
                entry: entry,
                backup: backup,
                failure: failure
            )
            if deletes, ledger.add(short, to: \.shortOfRoom) { return }
            return await failForRoom(short)
        }
        if failure.isVanished, ledger.noteVanished(object) {
            return fail(.download, entry.key, size: object.size, Self.notThere(failure))
        }
        // The file is to go, but only a listing without its object may say so.
        if failure.isVanished, entry.local != nil, context.options.deletesKnown {
            ledger.countVanishedFile()
        }
        fail(.download, entry.key, size: object.size, failure)
    }

    private static func notThere(_ failure: ItemFailure) -> ItemFailure {
        .storage(
            message: "the listing has it as in the last run, but the service says that there is no "
                + "such object: its listing may write names with blanks or '+' in another way",
            answer: failure.answer
        )
    }

    /// True if this run may delete files.
    private var deletes: Bool {
        context.tracker.direction != .push
            && (context.options.deletesKnown || context.options.deletesExtra)
    }

    /// False where nothing is to be looked up: rows of small files are not found by their content,
    /// and in a new mirror a copy of what came in this run costs as many requests as a small object
    /// itself.
    func mayHaveCopies(_ size: Int64) -> Bool {
        let limits = context.limits
        return size >= limits.smallestSearchable
            && (context.earlier.hasEntries || size >= limits.smallestWorthAsking)
    }

    /// Why the object's content could not be fetched; nil if it waits for its place.
    func transfer(
        _ entry: JoinedEntry,
        _ object: RemoteObject,
        _ path: RelativePath,
        _ backup: BackupPolicy,
        _ fetched: Fetched? = nil
    ) async -> ItemFailure? {
        let isRules = entry.key == IgnoreFile.key
        let transfer =
            fetched?.transfer
            ?? context.tracker.begin(.download, key: entry.key, size: object.size)
        let downloader = Downloader(context: context.transfer, key: entry.key, transfer: transfer)
        do {
            if isRules { try IgnoreFile.check(object) }
            let finished: FinishedDownload
            if let fetched {
                finished = fetched.download
            } else {
                finished = try await downloader.run(object)
            }
            if isRules {
                let (name, manifest) = (finished.partialName, context.manifest)
                try await IgnoreFile.check(name, in: context.directory, context.disk, manifest)
            }
            if try await makeDirectory(entry, finished.metadata) {
                await context.removePartial(finished.partialName)
                context.tracker.end(transfer)
                return nil
            }
            let fallback = object.lastModified ?? context.environment.now()
            let keepsMetadata = context.options.keepsFileMetadata
            await publications.submit(
                PendingPublication(
                    publication: Publication(
                        partialName: finished.partialName,
                        path: path,
                        modified: (keepsMetadata ? finished.modified : nil) ?? fallback,
                        expected: Self.expected(entry),
                        backup: backup,
                        permissions: keepsMetadata ? finished.permissions : nil,
                        ready: finished.ready
                    ),
                    key: entry.key,
                    action: .download,
                    object: finished.object,
                    listedSize: object.size,
                    checksum: finished.checksum,
                    received: finished.received,
                    lastModified: finished.lastModified ?? object.lastModified,
                    storageClass: object.storageClass,
                    isThroughLink: object.isThroughLink,
                    transfer: transfer,
                    hasCheckpoint: finished.hasCheckpoint
                )
            )
            return nil
        } catch {
            context.tracker.end(transfer, isFailed: true, isInterrupted: error == .cancelled)
            return error
        }
    }

    /// What the plan saw at the path; anything else there belongs to the user.
    static func expected(_ entry: JoinedEntry) -> ExpectedTarget {
        entry.local?.identity.map { .file($0) } ?? .absent
    }

    /// True if the copied file has the content of the new key's object.
    ///
    /// Only what the service reports of that object decides. An ETag equal to that of the file's
    /// own object proves nothing: an ETag need not be a digest, and then two objects may share it.
    func isCopy(
        _ copy: OpenFile,
        _ checksum: CRC64,
        of metadata: ObjectMetadata
    ) async throws -> Bool {
        if context.store.dialect.computesChecksum, let expected = metadata.crc64 {
            return checksum == expected
        }
        return try await context.transfer.hasContent(copy, checksum: checksum, of: metadata)
    }

    /// Makes a new key's file from an unchanged one with the same content, if there is one.
    private func copyLocal(
        _ entry: JoinedEntry,
        _ object: RemoteObject,
        _ path: RelativePath
    ) async -> Bool {
        do {
            guard let (row, metadata) = try await localSource(entry, object) else { return false }
            let rename = RunLedger.PendingRename(
                entry: entry,
                object: object,
                row: row,
                metadata: metadata
            )
            if deletes, ledger.add(rename, to: \.renames) { return true }
            return try await copyLocal(entry, object, path, from: row, metadata)
        } catch {
            // A copy is a shortcut: if it fails, the download reports or fixes the cause.
            return false
        }
    }

    /// The row whose unchanged file has the content of a new key, and the headers of its object.
    func localSource(
        _ entry: JoinedEntry,
        _ object: RemoteObject
    ) async throws -> (row: ManifestEntry, metadata: ObjectMetadata)? {
        guard object.size > 0, mayHaveCopies(object.size) else { return nil }
        let rows = try await candidates(for: object)
        guard !rows.isEmpty else { return nil }
        var candidates: [RenameCandidate] = []
        for row in rows {
            let file = row.isLink ? nil : try await identity(of: row.key)
            candidates.append(RenameCandidate(row: row, file: file, isVanished: false))
        }
        let source: RenameCandidate
        var metadata: ObjectMetadata?
        switch renames.localSource(for: object, among: candidates) {
        case .none: return nil
        case .copy(let candidate): source = candidate
        case .checksum(let possible):
            metadata = try await head(entry.key, knownSize: object.size)
            guard let checksum = metadata?.crc64, metadata?.etag == object.etag,
                let match = renames.match(checksum, among: possible)
            else { return nil }
            source = match
        }
        if metadata == nil { metadata = try await head(entry.key, knownSize: object.size) }
        guard let metadata, metadata.etag == object.etag else { return nil }
        return (source.row, metadata)
    }

    private func candidates(for object: RemoteObject) async throws -> [ManifestEntry] {
        let limit = renames.maximumCandidates
        let identical = try await context.manifest.rows(
            .entries(etag: object.etag, size: object.size),
            limit: limit
        )
        guard identical.isEmpty, object.size >= renames.smallestWorthAsking else {
            return identical
        }
        return try await context.manifest.rows(.entries(size: object.size), limit: limit)
    }

    private func copyLocal(
        _ entry: JoinedEntry,
        _ object: RemoteObject,
        _ path: RelativePath,
        from row: ManifestEntry,
        _ metadata: ObjectMetadata
    ) async throws -> Bool {
        let directory = context.directory
        let sourcePath = try context.path(of: row.key)
        let size = object.size
        let (name, copy, found, rights) = try await context.reading { interruption in
            let file = try directory.openForReading(sourcePath)
            let rights = try file.rights()
            let partial = try directory.createPartial(size: size)
            do throws(LocalError) {
                _ = try directory.copyContents(
                    of: file,
                    intoPartial: partial.file,
                    size: size,
                    unless: interruption
                )
                let checksum = try directory.checksum(
                    of: partial.file,
                    range: ByteRange(offset: 0, length: size),
                    unless: interruption
                )
                return (partial.name, partial.file, checksum, rights)
            } catch {
                // Nothing refers to it yet; a later run sweeps what cannot be removed now.
                try? directory.removePartial(partial.name)
                throw error
            }
        }
        guard try await isCopy(copy, found, of: metadata) else {
            try await context.disk.run { () throws(LocalError) in
                try directory.removePartial(name)
            }
            return false
        }
        let keepsMetadata = context.options.keepsFileMetadata
        let modified = ModificationTime.of(
            userMetadata: keepsMetadata ? metadata.userMetadata : [:],
            lastModified: metadata.lastModified
        )
        let mode = keepsMetadata ? FileMode.of(metadata) : nil
        await publications.submit(
            PendingPublication(
                publication: Publication(
                    partialName: name,
                    path: path,
                    modified: modified ?? row.localModified,
                    expected: Self.expected(entry),
                    backup: .replace,
                    permissions: mode.map { .ofObject($0) }
                        ?? (keepsMetadata ? .ofCopy(rights) : nil)
                ),
                key: entry.key,
                action: .copyLocal,
                object: PinnedObject(etag: object.etag, size: size, crc64: found),
                listedSize: object.size,
                checksum: found,
                lastModified: metadata.lastModified ?? object.lastModified,
                storageClass: object.storageClass,
                isThroughLink: object.isThroughLink,
                transfer: nil,
                hasCheckpoint: false
            )
        )
        return true
    }

    /// The current file of a key, nil if there is none.
    func identity(of key: ObjectKey) async throws -> FileIdentity? {
        let path = try context.path(of: key)
        let directory = context.directory
        let state = try await context.disk.run { () throws(LocalError) in
            try directory.identity(of: path)
        }
        if case .file(let identity) = state { return identity }
        return nil
    }

    func head(_ key: ObjectKey, knownSize: Int64 = 0) async throws(ItemFailure) -> ObjectMetadata {
        try await context.transfer.metadata(key, knownSize: knownSize)
    }
}
