internal import LocalStorage
internal import SyncModel
internal import SyncPlanner

/// Downloads whose places are free only once the run's deletions were carried out: of a file where
/// a directory was, and beneath a directory where a file was.
struct DeferredDownloads: Sendable {
    let executor: ItemExecutor

    private var context: RunContext { executor.context }

    /// Carries them out, where the deletions left the places free.
    func run() async throws {
        var files: [JoinedEntry] = []
        var directories = Dispatcher(executor: executor, queue: nil)
        var waiting = executor.ledger.take(\.downloads)[...]
        defer { executor.ledger.countUntried(waiting.count) }
        while !waiting.isEmpty {
            try Task.checkCancellation()
            let deferred = waiting.removeFirst()
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
        try await executor.forEach(files, countsRest: true) { entry in
            executor.countAsPlanned(ItemExecutor.Work(entry: entry, decision: .download(.new)))
            await executor.downloads.download(entry, .replace)
        }
    }

    /// Reports them, because nothing was deleted.
    func skip() {
        for deferred in executor.ledger.take(\.downloads) { skip(deferred) }
    }

    private func skip(_ deferred: RunLedger.Deferred) {
        let entry = deferred.entry
        executor.skip(
            entry.key,
            size: entry.remote?.size ?? 0,
            message: deferred.obstacle.message
        )
    }

    /// Whether the obstruction is gone; the download detects anything else that is there.
    private func isFree(_ deferred: RunLedger.Deferred) async -> Bool {
        let obstacle =
            if case .blockedByFile(let file) = deferred.obstacle {
                file
            } else {
                deferred.entry.key
            }
        guard let path = try? RelativePath(key: obstacle) else { return false }
        let state = try? await context.state(of: path)
        switch (deferred.obstacle, state) {
        case (.blockedByFile, .directory), (_, .absent): return true
        case (.blockedByFile, _), (_, .directory): return false
        default: return true
        }
    }
}
