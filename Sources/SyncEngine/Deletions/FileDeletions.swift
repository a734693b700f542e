internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Deletes the files and directories whose objects are gone, or gives files their new names.
///
/// Each object is asked for right before its file goes, so that no answer is old then, and a
/// question that has to be repeated holds back its own file only.
struct FileDeletions: Sendable {
    let context: RunContext
    let executor: ItemExecutor
    let watch: DirectoryWatch
    let renames: [ObjectKey: LocalRenames.Proven]
    /// True if what is gone may have been deleted by an earlier pass of the same plan.
    let isRepeated: Bool
    private var recheck: DeletionRecheck { DeletionRecheck(context: context, executor: executor) }

    /// What became of one page of the plan.
    private struct Outcome {
        /// The keys whose rows are to be forgotten.
        var forgotten: Set<ObjectKey> = []
        var renamed: [ManifestChange] = []
        /// Directories whose markers are gone.
        var directories: Set<ObjectKey> = []
        /// Directories that are perhaps empty now.
        var emptied: Set<RelativePath> = []

        mutating func add(_ end: (isSettled: Bool, parent: RelativePath?), _ key: ObjectKey) {
            if end.isSettled { forgotten.insert(key) }
            if let parent = end.parent { emptied.insert(parent) }
        }
    }

    /// False if the next run has to look after directories that could not be removed.
    func run() async throws -> Bool {
        var isComplete = true
        let going = context.closed.going
        let planned = RowSelection.deletionsBackwards(run: context.run, side: .local)
        try Task.checkCancellation()
        for try await batch in context.manifest.pages(planned, limit: context.limits.batch) {
            try await watch.check()
            let outcome = try await delete(batch)
            // The rows go last and together. One that outlives its file is harmless, the next run
            // finds both sides without it and forgets it; and while the rows and the plan are there
            // a killed run's empty directories are found again. A row lost in a power cut before
            // its file would leave a file that looks like the user's own.
            let pruner = DirectoryPruner(context: context)
            let unneeded = outcome.forgotten.union(going)
            for (path, failure) in try await pruner.prune(outcome.emptied, forgetting: unneeded) {
                executor.fail(.deleteLocal, path.key, size: 0, failure)
                isComplete = false
            }
            try await context.synchronize()
            try await context.manifest.record(
                outcome.forgotten.map { .forget($0) } + outcome.renamed
            )
            if let stop = executor.ledger.stop { throw stop }
            try Task.checkCancellation()
        }
        if !going.isEmpty {
            try await context.manifest.record(going.map { .forget($0) })
            context.closed.noteForgotten()
        }
        return isComplete
    }

    /// Deletes what is in `batch`: the files in any order, and then the directories, of which those
    /// within others come first.
    private func delete(_ batch: [PlannedDeletion]) async throws -> Outcome {
        let outcome = Mutex(Outcome())
        try await executor.forEach(batch) { deletion in
            let isGone = await recheck.isGone(deletion)
            if Task.isCancelled { return }
            if let rename = renames[deletion.key] {
                guard isGone, let new = await self.rename(deletion, rename) else {
                    await executor.downloads.download(rename.source.entry, .replace)
                    return
                }
                let row = rename.row(new.identity, permissions: new.permissions)
                let parent = try? context.path(of: deletion.key).parent
                outcome.withLock {
                    $0.renamed.append(.upsert(row))
                    $0.forgotten.insert(deletion.key)
                    if let parent { $0.emptied.insert(parent) }
                }
            } else if isGone, deletion.identity == nil {
                outcome.withLock { _ = $0.directories.insert(deletion.key) }
            } else if isGone {
                let end = await deleteFile(deletion)
                outcome.withLock { $0.add(end, deletion.key) }
            }
        }
        let keys = outcome.withLock { $0.directories }
        for deletion in batch where keys.contains(deletion.key) && !Task.isCancelled {
            if executor.ledger.stop != nil { break }
            let end = await deleteFile(deletion)
            outcome.withLock { $0.add(end, deletion.key) }
        }
        return outcome.withLock { $0 }
    }

    /// Gives a file the name of the new key that has its content; nil if it keeps its own.
    private func rename(
        _ deletion: PlannedDeletion,
        _ rename: LocalRenames.Proven
    ) async -> (identity: FileIdentity, permissions: UInt32?)? {
        guard let expected = deletion.identity else { return nil }
        let directory = context.directory
        let key = rename.source.entry.key
        do {
            let (old, new) = (try context.path(of: deletion.key), try context.path(of: key))
            try await IgnoreFile.noteRemoval(of: deletion.key, in: directory, context.disk)
            await DirectoriesAbove(executor.parts).make(above: new)
            let renamed = try await context.closed.writing([old, new]) { () throws(LocalError) in
                try rename.carryOut(old, expected, to: new, in: directory)
            }
            context.tracker.count { $0.renamed += 1 }
            context.tracker.finishedItem(bytes: rename.source.object.size)
            context.renamed(deletion.key, to: key, size: rename.source.object.size)
            return renamed
        } catch {
            let failure =
                (error as? LocalError).map(ItemFailure.init(ofChange:)) ?? ItemFailure(any: error)
            executor.fail(.deleteLocal, deletion.key, size: deletion.size, failure)
            return nil
        }
    }

    /// Whether the row is to be forgotten, and the directory that is perhaps empty now.
    private func deleteFile(
        _ deletion: PlannedDeletion
    ) async -> (isSettled: Bool, parent: RelativePath?) {
        let (directory, trashName) = (context.directory, context.trashName)
        let keepsInTrash = context.options.keepsRemoved
        // What failed may have left it empty, too.
        var parent: RelativePath?
        do {
            let path = try context.path(of: deletion.key)
            parent = path.parent
            try await IgnoreFile.noteRemoval(of: deletion.key, in: directory, context.disk)
            let isRepeated = isRepeated
            let pruner = DirectoryPruner(context: context)
            let mode = try await pruner.keptMode(deletion)
            let isRemoved = try await context.closed.writing([path]) { () throws(LocalError) in
                if isRepeated, try directory.identity(of: path) == .absent { return true }
                guard let identity = deletion.identity else {
                    return try pruner.remove(path, keeping: mode)
                }
                if keepsInTrash {
                    try directory.moveToTrash(path, expected: identity, run: trashName)
                } else {
                    try directory.remove(path, expected: identity)
                }
                return true
            }
            guard isRemoved else { return (true, nil) }
            context.tracker.count { $0.deleted += 1 }
            context.deleted(.deleteLocal, deletion.key, size: deletion.size, isKept: keepsInTrash)
            return (true, parent)
        } catch let error as LocalError {
            let failure = ItemFailure(ofChange: error)
            executor.fail(.deleteLocal, deletion.key, size: deletion.size, failure)
        } catch {
            let message = (error as? UnsafeKey)?.message ?? TransferError(any: error).message
            executor.skip(deletion.key, size: deletion.size, message: message)
        }
        return (false, parent)
    }
}
