internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// Removes what earlier runs left and no run needs.
struct Housekeeping: Sendable {
    /// Later than any trash.
    private static let always = Timestamp(seconds: .max)
    /// Pages of the bucket's trash that one run removes at most.
    private static let trashPages = 100

    let context: RunContext

    /// Before a run: what a killed one was deleting, partial files without a checkpoint, and all
    /// trash if a run of the whole mirror is to keep none.
    ///
    /// What cannot be removed is said and tried again by the next run; this one needs nothing of
    /// it gone.
    func sweepBefore() async throws {
        try await DirectoryPruner(context: context).finishEarlierRuns()
        var known: Set<String> = []
        try await context.manifest.forEachDownload(in: .all) { known.insert($0.partialName) }
        let directory = context.directory
        // What is in the trash need not be of the paths of a limited run.
        let keepsTrash =
            context.options.trashDays > 0 || context.paths.isLimited || !context.mayEmptyTrash
        let kept = known
        warn(
            of: await context.disk.run {
                Self.sweep(directory, keeping: kept, keepsTrash: keepsTrash)
            }
        )
    }

    /// During a run: trash that is older than it is kept, once the service has said what time it
    /// is.
    ///
    /// This machine's clock alone is not trusted: one run with a wrong clock would empty the trash.
    func sweepTrash() async {
        let days = Int64(context.options.trashDays)
        // With no days the run has begun without trash, and what it has now is not from earlier.
        guard days > 0, !context.paths.isLimited, context.mayEmptyTrash else { return }
        await context.clocks.wait()
        guard let now = context.clocks.earlier else { return }
        let limit = Timestamp(seconds: now.seconds - days * 86_400)
        let directory = context.directory
        warn(
            of: await context.disk.run {
                var failures: [LocalError] = []
                do throws(LocalError) {
                    try directory.trash.sweep(olderThan: limit) { failures.append($0) }
                } catch {
                    failures.append(error)
                }
                return failures
            }
        )
    }

    private func warn(of failures: [LocalError]) {
        guard let first = failures.first else { return }
        let others = failures.count > 1 ? " (and \(failures.count - 1) more)" : ""
        context.emit(
            .warning(
                message: "not everything that earlier runs left was removed: "
                    + "\(first.message)\(others)"
            )
        )
    }

    /// Why something stays.
    private static func sweep(
        _ directory: MirrorDirectory,
        keeping kept: Set<String>,
        keepsTrash: Bool
    ) -> [LocalError] {
        var failures: [LocalError] = []
        func attempt(_ work: () throws(LocalError) -> Void) {
            do throws(LocalError) { try work() } catch { failures.append(error) }
        }
        attempt { () throws(LocalError) in
            for name in try directory.partials.names() where !kept.contains(name) {
                attempt { () throws(LocalError) in try directory.partials.remove(name) }
            }
        }
        attempt { () throws(LocalError) in try directory.partials.removeTriedNames() }
        attempt { () throws(LocalError) in try directory.sweepStateFiles() }
        guard !keepsTrash else { return failures }
        attempt { () throws(LocalError) in
            try directory.trash.sweep(olderThan: Self.always) { failures.append($0) }
        }
        return failures
    }

    /// After a run in which nothing failed: a checkpoint that is still there belongs to a key that
    /// needs no transfer any more.
    ///
    /// The next run may need the upload of a key that this run skips. If an abort fails, that is
    /// reported and the next run tries again; this run still succeeds.
    func sweepAfter(
        _ direction: SyncDirection,
        sparing isSpared: (ObjectKey, _ size: Int64) -> Bool
    ) async throws {
        if direction != .push {
            try await context.manifest.forEachDownload(in: context.paths.ranges) { checkpoint in
                guard !isSpared(checkpoint.key, checkpoint.size) else { return }
                try await drop(checkpoint)
            }
        }
        if direction != .pull {
            try await context.manifest.forEachUpload(in: context.paths.ranges) { checkpoint in
                guard !isSpared(checkpoint.key, checkpoint.source.size) else { return }
                do {
                    try await drop(checkpoint)
                } catch let error as StorageError where !error.isCancelled {
                    context.warn(ofUpload: checkpoint.key, error)
                }
            }
        }
    }

    /// After a push or sync with a trash in the bucket: what is older there than it is kept.
    ///
    /// Also of other machines, by the names of their runs. What cannot be removed is said, and
    /// tried again by the next run.
    func sweepRemoteTrash() async throws {
        let days = Int64(context.options.trashDays)
        guard context.options.trash == .remote, context.tracker.direction != .pull,
            !context.paths.isLimited, let now = context.clocks.earlier
        else { return }
        let limit = Timestamp(seconds: now.seconds - days * 86_400)
        do {
            let trash = TrashedObjects(store: context.store, prefix: context.prefix)
            let report = try await trash.delete(before: limit, pages: Self.trashPages)
            guard let failure = report.failures.first else { return }
            context.emit(.warning(message: "the bucket's trash could not be emptied: \(failure)"))
        } catch let error as StorageError where !error.isCancelled {
            context.emit(
                .warning(message: "the bucket's trash could not be emptied: \(error.message)")
            )
        }
    }

    /// After a run that had no use for it nothing needs to know what objects were found to contain.
    func dropFetchedContents() async throws {
        guard context.tracker.summary.conflicts == 0,
            try await context.manifest.hasFetchedContents()
        else { return }
        try await context.manifest.dropFetchedContents()
    }

    func drop(_ checkpoint: DownloadCheckpoint) async throws {
        try await context.manifest.record(.finishDownload(checkpoint.key))
        try await context.onDisk { directory throws(LocalError) in
            try directory.partials.remove(checkpoint.partialName)
        }
    }

    func drop(_ checkpoint: UploadCheckpoint) async throws {
        try await MultipartUploads(context: context.transfer).abort(checkpoint)
        try await context.manifest.record(.finishUpload(checkpoint.key))
    }
}
