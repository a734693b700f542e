internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner

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
        _ displaced: Displacement,
        _ fetched: Fetched? = nil
    ) async {
        guard let object = entry.remote else { return }
        let path: RelativePath
        do {
            path = try RelativePath(key: entry.key)
        } catch {
            skip(entry.key, size: object.size, message: error.message)
            return
        }
        if context.looksForFoldedNames, entry.local == nil, let taken = await takenName(path) {
            return fail(.download, entry.key, size: object.size, ItemFailure(taken))
        }
        if entry.local == nil, await isDirectory(path) {
            return await carryOut(.skip(.shadowedByDirectory), entry)
        }
        if entry.key != IgnoreFile.key, entry.base == nil, entry.local == nil,
            await copyLocal(entry, object, path)
        {
            return
        }
        guard let failure = await transfer(entry, object, path, displaced, fetched) else { return }
        if case .diskFull = failure {
            let short = RunLedger.ShortOfRoom(
                entry: entry,
                displaced: displaced,
                failure: failure
            )
            if deletes, ledger.deferForRoom(short) { return }
            return await failForRoom(short)
        }
        // The file is to go, but only a listing without its object may say so.
        if failure == .vanished, entry.local != nil, context.options.deletesKnown {
            ledger.countVanishedFile()
        }
        fail(.download, entry.key, size: object.size, failure)
    }

    /// True if this run may delete files.
    private var deletes: Bool {
        context.tracker.direction != .push
            && (context.options.deletesKnown || context.options.deletesExtra)
    }

    /// Why the object's content could not be fetched; nil if it waits for its place.
    func transfer(
        _ entry: JoinedEntry,
        _ object: RemoteObject,
        _ path: RelativePath,
        _ displaced: Displacement,
        _ fetched: Fetched? = nil
    ) async -> ItemFailure? {
        let isRules = entry.key == IgnoreFile.key
        let transfer =
            fetched?.transfer
            ?? context.tracker.begin(.download, key: entry.key, size: object.size)
        let downloader = Downloader(means: context.means, key: entry.key, transfer: transfer)
        do {
            if isRules { try IgnoreFile.check(object) }
            let finished: FinishedDownload
            if let fetched {
                finished = fetched.download
            } else {
                finished = try await downloader.run(object)
            }
            if isRules { try await IgnoreFile.check(finished.partialName, context) }
            if try await makeDirectory(entry, finished.metadata) {
                await context.removePartial(finished.partialName)
                context.tracker.end(transfer)
                return nil
            }
            let fallback = object.lastModified ?? context.environment.now()
            await publications.submit(
                PendingPublication(
                    publication: Publication(
                        partialName: finished.partialName,
                        path: path,
                        modified: finished.modified ?? fallback,
                        expected: Self.expected(entry),
                        displaced: displaced
                    ),
                    key: entry.key,
                    action: .download,
                    object: finished.object,
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
            context.tracker.end(transfer)
            return error
        }
    }

    /// What the plan saw at the path; anything else there is somebody's work.
    static func expected(_ entry: JoinedEntry) -> ExpectedTarget {
        entry.local?.identity.map { .file($0) } ?? .absent
    }

    /// True where something that is excluded, or came since the walk, is in the way of a new file:
    /// seen before its content is fetched.
    private func isDirectory(_ path: RelativePath) async -> Bool {
        let directory = context.directory
        let state = try? await context.disk.run { () throws(LocalError) in
            try directory.identity(of: path)
        }
        if case .directory = state { return true }
        return false
    }

    /// True if the copied file has the content of the new key's object.
    ///
    /// What the service says of that object alone decides. That its tag is the one of the object
    /// that the file was made from proves nothing: a tag need not be a digest, and then two objects
    /// may share it.
    func isCopy(
        _ copy: OpenFile,
        _ checksum: CRC64,
        of metadata: ObjectMetadata
    ) async throws -> Bool {
        if context.store.dialect.computesChecksum, let expected = metadata.crc64 {
            return checksum == expected
        }
        return try await context.means.hasContent(copy, checksum: checksum, of: metadata)
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
            if deletes, ledger.deferRename(rename) { return true }
            return try await copyLocal(entry, object, path, from: row, metadata)
        } catch {
            // A copy is a shortcut: whatever is wrong with it, the download will tell or mend.
            return false
        }
    }

    /// The row whose unchanged file has the content of a new key, and the headers of its object.
    func localSource(
        _ entry: JoinedEntry,
        _ object: RemoteObject
    ) async throws -> (row: ManifestEntry, metadata: ObjectMetadata)? {
        guard object.size > 0 else { return nil }
        let rows = try await candidates(for: object)
        guard !rows.isEmpty else { return nil }
        var candidates: [RenameCandidate] = []
        for row in rows {
            let file = try await identity(of: row.key)
            candidates.append(RenameCandidate(row: row, file: file, isVanished: false))
        }
        let source: RenameCandidate
        var metadata: ObjectMetadata?
        switch renames.localSource(for: object, among: candidates) {
        case .none: return nil
        case .copy(let candidate): source = candidate
        case .checksum(let possible):
            metadata = try await head(entry.key)
            guard let checksum = metadata?.crc64, metadata?.etag == object.etag,
                let match = renames.match(checksum, among: possible)
            else { return nil }
            source = match
        }
        if metadata == nil { metadata = try await head(entry.key) }
        guard let metadata, metadata.etag == object.etag else { return nil }
        return (source.row, metadata)
    }

    private func candidates(for object: RemoteObject) async throws -> [ManifestEntry] {
        let limit = renames.maximumCandidates
        let identical = try await context.manifest.entries(
            etag: object.etag,
            size: object.size,
            limit: limit
        )
        guard identical.isEmpty, object.size >= renames.smallestWorthAsking else {
            return identical
        }
        return try await context.manifest.entries(size: object.size, limit: limit)
    }

    private func copyLocal(
        _ entry: JoinedEntry,
        _ object: RemoteObject,
        _ path: RelativePath,
        from row: ManifestEntry,
        _ metadata: ObjectMetadata
    ) async throws -> Bool {
        let directory = context.directory
        let sourcePath = try RelativePath(key: row.key)
        let size = object.size
        let (name, copy, found, permissions) = try await context.reading { interruption in
            let file = try directory.openForReading(sourcePath)
            let permissions = try file.permissions()
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
                return (partial.name, partial.file, checksum, permissions)
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
        let modified = ModificationTime.of(
            userMetadata: metadata.userMetadata,
            lastModified: metadata.lastModified
        )
        await publications.submit(
            PendingPublication(
                publication: Publication(
                    partialName: name,
                    path: path,
                    modified: modified ?? row.localModified,
                    expected: Self.expected(entry),
                    displaced: .replace,
                    permissions: permissions
                ),
                key: entry.key,
                action: .copyLocal,
                object: PinnedObject(etag: object.etag, size: size, crc64: found),
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

    /// The file of a key as it is now, nil if there is none.
    func identity(of key: ObjectKey) async throws -> FileIdentity? {
        let path = try RelativePath(key: key)
        let directory = context.directory
        let state = try await context.disk.run { () throws(LocalError) in
            try directory.identity(of: path)
        }
        if case .file(let identity) = state { return identity }
        return nil
    }

    func head(_ key: ObjectKey) async throws(ItemFailure) -> ObjectMetadata {
        let (store, objectKey) = (context.store, context.objectKey(key))
        return try await context.withConnection { () throws(StorageError) in
            try await store.head(objectKey, versionID: nil)
        }
    }
}
