internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Downloads of files, with the copies on the disk that save some of them.
struct FileDownloads: ItemWorker {
    let parts: ItemParts

    private var contents: ContentComparison { ContentComparison(parts) }
    private var markers: DirectoryMarkers { DirectoryMarkers(parts) }
    private var directories: DirectoriesAbove { DirectoriesAbove(parts) }
    private var places: FilePlaces { FilePlaces(parts) }
    private var sources: CopySources { CopySources(parts) }

    /// An object that was fetched to be compared.
    struct Fetched: Sendable {
        let download: FinishedDownload
        let transfer: TransferCounter
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
        if context.session.hasFoldedNames, entry.local == nil,
            let collision = await places.nameCollision(path)
        {
            context.tracker.abandonedItem(bytes: object.size)
            return fail(.download, entry.key, size: object.size, ItemFailure(collision))
        }
        if let obstacle = await places.obstacle(of: entry, at: path) {
            context.tracker.abandonedItem(bytes: object.size)
            if case .shadowedByDirectory = obstacle, await markers.adoptMarker(entry) { return }
            return skipName(entry, obstacle)
        }
        if parts.privateMarkers.isRefused(above: entry.key) {
            context.tracker.abandonedItem(bytes: object.size)
            return skip(entry.key, size: object.size, message: Self.refusedMessage)
        }
        await directories.make(above: path)
        if fetched == nil, await !markers.haveAnswered(above: entry.key) {
            context.tracker.abandonedItem(bytes: object.size)
            return skip(entry.key, size: object.size, message: Self.unansweredMessage)
        }
        // What was fetched already is kept where it cannot get its name.
        if let refusal = await places.placeRefusal(path, replaces: entry.local != nil),
            fetched == nil
        {
            context.tracker.abandonedItem(bytes: object.size)
            return fail(.download, entry.key, size: object.size, ItemFailure(ofChange: refusal))
        }
        if entry.key != IgnoreFile.key, !path.isLink, entry.base == nil, entry.local == nil,
            sources.mayHaveCopies(object.size), await copyLocal(entry, object, path)
        {
            return
        }
        if fetched == nil, context.store.failures.lacksRoom(for: object.size) {
            context.tracker.abandonedItem(bytes: object.size)
            let message = "the disk has no room for it, as for ten others"
            return await waitForRoom(entry, backup, .diskFull(message: message))
        }
        guard let failure = await transfer(entry, object, path, backup, fetched) else {
            if deletes { ledger.noteNew(entry, below: context.limits.smallestSearchable) }
            return
        }
        if case .diskFull = failure {
            context.store.failures.lackedRoom(for: object.size)
            return await waitForRoom(entry, backup, failure)
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

    private func waitForRoom(
        _ entry: JoinedEntry,
        _ backup: BackupPolicy,
        _ failure: ItemFailure
    ) async {
        let short = RunLedger.ShortOfRoom(entry: entry, backup: backup, failure: failure)
        if !ledger.add(short, to: \.shortOfRoom) { await failForRoom(short) }
    }

    private static let unansweredMessage =
        "not downloaded, because the permissions of a directory above it could not be read, and "
        + "more users may enter that than should"
    static let refusedMessage =
        "not downloaded, because a directory above it belongs to another user, and more users may "
        + "enter it than may enter the recorded one"

    /// Why nothing can be put in the place of an entry; nil if nothing is known.
    func refusal(of entry: JoinedEntry) async -> LocalError? {
        guard let path = try? context.path(of: entry) else { return nil }
        return await places.placeRefusal(path, replaces: entry.local != nil)
    }

    private static func notThere(_ failure: ItemFailure) -> ItemFailure {
        .storage(
            message: "the listing has it as in the last run, but the service says that there is no "
                + "such object: its listing may write names with blanks or '+' in another way",
            answer: failure.answer
        )
    }

    /// True if this run may delete files.
    var deletes: Bool {
        context.tracker.direction != .push && context.policy.deletes
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
                let name = finished.partialName
                try await IgnoreFile.check(name, in: context.directory, context.disk)
            } else if IgnoreFile.isOfDirectory(entry.key) {
                let (content, key) = (finished.received, entry.key)
                try await IgnoreFile
                    .noteDownload(content, of: key, in: context.directory, context.disk)
            }
            if try await markers.makeDirectory(entry, finished.metadata) {
                await context.removePartial(finished.partialName)
                context.tracker.end(transfer)
                return nil
            }
            let fallback = object.lastModified ?? context.environment.now()
            let keepsMetadata = context.options.keepsFileMetadata
            var publication = Publication(
                partialName: finished.partialName,
                path: path,
                modified: (keepsMetadata ? finished.modified : nil) ?? fallback,
                expected: Self.expected(entry),
                backup: backup,
                permissions: keepsMetadata ? finished.permissions : nil,
                ready: finished.ready
            )
            let unsentMode = describe(entry, in: &publication)
            await publications.submit(
                PendingPublication(
                    publication: publication,
                    key: entry.key,
                    action: .download,
                    object: finished.object,
                    listedSize: object.size,
                    checksum: finished.checksum,
                    received: finished.received,
                    lastModified: finished.lastModified ?? object.lastModified,
                    storageClass: object.storageClass,
                    isThroughLink: object.isThroughLink,
                    unsentMode: unsentMode,
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

    /// Says what is known of the file that is replaced.
    ///
    /// - Returns: The recorded permissions, if it has others, which are still to be sent.
    private func describe(
        _ entry: JoinedEntry,
        in publication: inout Publication
    ) -> UInt32? {
        guard let row = entry.base, let file = entry.local?.identity else { return nil }
        let judges = context.policy.judgesInodes
        publication.recordedPermissions = row.mode
        let isOne = row.inode == file.inode && !row.isOlder(than: entry.local?.birth)
        publication.replacesRecorded = !judges || row.inode == 0 || isOne
        let isOwn = !row.isLink && !row.isThroughLink && publication.backup == .replace
        let unsent = judges && isOwn && entry.local?.permissions != row.mode ? row.mode : nil
        publication.keepsPermissions = unsent != nil
        return unsent
    }

    /// What the plan saw at the path; anything else there belongs to the user.
    static func expected(_ entry: JoinedEntry) -> ExpectedTarget {
        entry.local?.identity.map { .file($0) } ?? .absent
    }

    /// Makes a new key's file from an unchanged one with the same content, if there is one.
    private func copyLocal(
        _ entry: JoinedEntry,
        _ object: RemoteObject,
        _ path: RelativePath
    ) async -> Bool {
        do {
            guard let (row, metadata) = try await sources.localSource(entry, object) else {
                return false
            }
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
            let partial = try directory.partials.create(size: size)
            do throws(LocalError) {
                _ = try directory.partials.copyContents(
                    of: file,
                    intoPartial: partial.file,
                    size: size,
                    unless: interruption
                )
                let whole = ByteRange(offset: 0, length: size)
                let checksum = try partial.file.checksum(of: whole, unless: interruption)
                return (partial.name, partial.file, checksum, rights)
            } catch {
                // Nothing refers to it yet; a later run sweeps what cannot be removed now.
                try? directory.partials.remove(partial.name)
                throw error
            }
        }
        guard try await contents.isCopy(copy, found, of: metadata) else {
            try await context.disk.run { () throws(LocalError) in
                try directory.partials.remove(name)
            }
            return false
        }
        let keepsMetadata = context.options.keepsFileMetadata
        let modified = ModificationTime.of(
            userMetadata: keepsMetadata ? metadata.userMetadata : [:],
            lastModified: metadata.lastModified
        )
        let mode = keepsMetadata ? FileMode.of(metadata) : nil
        var publication = Publication(
            partialName: name,
            path: path,
            modified: modified ?? row.localModified,
            expected: Self.expected(entry),
            backup: .replace,
            permissions: mode.map { .ofObject($0) } ?? (keepsMetadata ? .ofCopy(rights) : nil)
        )
        let unsentMode = describe(entry, in: &publication)
        await publications.submit(
            PendingPublication(
                publication: publication,
                key: entry.key,
                action: .copyLocal,
                object: PinnedObject(etag: object.etag, size: size, crc64: found),
                listedSize: object.size,
                checksum: found,
                lastModified: metadata.lastModified ?? object.lastModified,
                storageClass: object.storageClass,
                isThroughLink: object.isThroughLink,
                unsentMode: unsentMode,
                transfer: nil,
                hasCheckpoint: false
            )
        )
        return true
    }

    /// Notes what was fetched, and then removes it: a kill in between costs no second fetch.
    func drop(_ fetched: Fetched, _ key: ObjectKey) async throws {
        let download = fetched.download
        let content = FetchedContent(
            key: key,
            size: download.object.size,
            etag: download.object.etag,
            crc64: download.received
        )
        try await context.manifest.record(.note(content))
        ledger.keepFetchedContents()
        if download.hasCheckpoint { try await context.manifest.record(.finishDownload(key)) }
        await context.removePartial(download.partialName)
        context.tracker.end(fetched.transfer)
    }
}
