internal import OSSBucket
internal import ObjectStorage
internal import SyncEngine
internal import SyncModel

/// What pushes and syncs keep in the bucket of objects that they delete or replace.
extension DirectoryMirror {
    /// The trash of all machines; only what this mirror's runs put there can be emptied.
    package func remoteTrash() throws(TransferError) -> BucketTrash {
        try engine(connectionLimit: 1).trash
    }

    /// Copies objects back from the trash in the bucket, where there are none now, and downloads
    /// their files.
    ///
    /// What is there, in the bucket or in the directory, stays unless the request replaces it: then
    /// it goes to the trash first, an object by a proven copy.
    ///
    /// - Parameters:
    ///   - request: What comes back, and where.
    ///   - origin: Where it comes back from; objects that are in the bucket now are only
    ///     downloaded, to another path.
    ///   - options: Those of the pull that downloads it; nil to change only the bucket, and only
    ///     by what this machine's runs removed.
    ///   - onFile: Called with each object from any thread.
    /// - Returns: What came back.
    /// - Throws: `TransferError`; `locked` while another run is active.
    package func restoreObjects(
        _ request: RestoreRequest,
        from origin: ObjectOrigin = .trash,
        downloading options: RunOptions?,
        onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        let limit = RunOptions.standard.connectionLimit
        var request = request
        request.isUndo = options == nil
        var (report, paths) = try await engine(connectionLimit: limit)
            .restoreObjects(
                request,
                from: origin,
                links: options?.links ?? .skip,
                names: options?.names ?? .skip,
                fetch: try fetching(request),
                onFile: onFile
            )
        guard let given = options, !request.isDryRun, request.outside == nil, !paths.isEmpty else {
            return report
        }
        var options = given.restoring
        let replaces = request.replaces || request.replacesFiles
        options.replacesLocalChanges = replaces
        if replaces { options.conflictPolicy = .remote }
        options.paths = paths
        // What has such a name is restored as such.
        if paths.contains(where: LocalMirror.isEscaped) { options.names = .escape }
        let summary = try await run(.pull, options: options) { event in
            guard case .item(let item) = event, [.failed, .skipped].contains(item.state),
                let message = item.message, !replaces || item.action != .conflict
            else { return }
            onFile(RestoredFile(notDownloaded: item, message))
        }
        // One that is replaced has an item of its own.
        let conflicts = replaces ? 0 : summary.conflicts
        let missing = summary.failed + summary.skipped + conflicts
        report.failed += missing
        // Each was told as an object that is there again.
        report.restored = max(report.directories, report.restored - missing)
        return report
    }

    /// True if the bucket keeps versions of its objects, by the first 1,000 beneath the remote.
    func keepsVersions() async throws(TransferError) -> Bool {
        try await bucketClient().keepsVersions(beneath: remote.prefix) == true
    }

    /// Copies back versions, where there is nothing now, and downloads the files.
    func restoreVersions(
        _ request: RestoreRequest,
        _ choice: PastStore.Choice,
        downloading options: RunOptions,
        onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(TransferError) -> RestoreReport {
        let origin = ObjectOrigin.versions(PastStore(try bucketClient().store, choice))
        return try await restoreObjects(request, from: origin, downloading: options, onFile: onFile)
    }

    /// What downloads an object to a path.
    private func fetching(_ request: RestoreRequest) throws(TransferError) -> ObjectFetch {
        let client = try bucketClient()
        try requirePassword()
        return { key, past, path in
            var options = DownloadOptions()
            options.ifExists = request.replaces ? .replace : .fail
            options.streams = Self.streamsOfCopies
            let source = try self.opened(DownloadSource.object(client, key: key, in: past))
            let download = try ResumableDownload(from: source, to: path, options: options)
            _ = try await download.run()
        }
    }

    private static let streamsOfCopies = 4
}

extension RunOptions {
    /// Those of a pull that fetches what is restored: it deletes nothing, leaves nothing out, and
    /// what it replaces goes to the trash, whatever pulls do otherwise.
    var restoring: RunOptions {
        var options = self
        (options.deletesKnown, options.deletesExtra) = (false, false)
        (options.deletesExcluded, options.filter) = (false, FileFilter())
        (options.maximumTransfer, options.maximumDuration) = (nil, nil)
        (options.keepsReplaced, options.allowsEmpty) = (true, true)
        options.freed = .comeBack
        if options.trash == .none { options.trash = .local }
        if options.trashDays == 0 { options.trashDays = RunOptions.standard.trashDays }
        return options
    }
}
