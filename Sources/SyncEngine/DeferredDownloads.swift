internal import LocalStorage
internal import SyncModel
internal import SyncPlanner

/// Downloads whose places are free only once the run's deletions were carried out: of a file where
/// a directory was, and beneath a directory where a file was.
struct DeferredDownloads: Sendable {
    let executor: ItemExecutor

    private var context: TransferContext { executor.context }

    /// Keeps an item for ``run()``.
    ///
    /// What there is no room for in memory is left to the next run, and is no doubt for the
    /// deletions of this one, which would never come else.
    func add(_ item: PlannedItem) {
        let obstacle: SkipReason =
            if case .awaiting(let file) = item.place {
                .blockedByFile(file)
            } else {
                .shadowedByDirectory
            }
        guard !executor.ledger.deferDownload(item.entry, behind: obstacle) else { return }
        executor.skipWithoutDoubt(
            item.entry.key,
            size: item.entry.remote?.size ?? 0,
            message: "too many files become directories or the reverse in this run; run again"
        )
    }

    /// Carries them out, where the deletions left the places free.
    func run() async throws {
        var files: [JoinedEntry] = []
        var directories = Dispatcher(executor: executor, queue: nil)
        for deferred in executor.ledger.deferred {
            try Task.checkCancellation()
            guard await isFree(deferred) else {
                skip(deferred)
                continue
            }
            if deferred.entry.key.isDirectoryMarker {
                try await directories.makeDirectory(deferred.entry)
            } else {
                files.append(deferred.entry)
            }
        }
        try await directories.flush()
        try await executor.forEach(files) { entry in
            executor.announce(ItemExecutor.Work(entry: entry, decision: .download(.new)))
            await executor.download(entry, .replace)
        }
    }

    /// Reports them, because nothing was deleted.
    func skip() {
        for deferred in executor.ledger.deferred { skip(deferred) }
    }

    private func skip(_ deferred: RunLedger.Deferred) {
        let entry = deferred.entry
        executor.skip(
            entry.key,
            size: entry.remote?.size ?? 0,
            message: deferred.obstacle.message
        )
    }

    /// Whether what was in the way is gone; whatever else is there, the download finds out.
    private func isFree(_ deferred: RunLedger.Deferred) async -> Bool {
        let obstacle =
            if case .blockedByFile(let file) = deferred.obstacle {
                file
            } else {
                deferred.entry.key
            }
        guard let path = try? RelativePath(key: obstacle) else { return false }
        let directory = context.directory
        let state = try? await context.disk.run { () throws(LocalError) in
            try directory.identity(of: path)
        }
        switch (deferred.obstacle, state) {
        case (.blockedByFile, .directory), (_, .absent): return true
        case (.blockedByFile, _), (_, .directory): return false
        default: return true
        }
    }
}
