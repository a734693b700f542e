internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What the end of a round does of the deletions that the runs of its shards have left.
extension MirrorRun {
    /// Deletes what the last run of this shard has planned.
    ///
    /// `emptied` are directories of this shard that deletions in others have perhaps left empty.
    func finishShard(
        confirms: Bool,
        emptied: Set<RelativePath>
    ) async throws(TransferError) -> RunSummary {
        guard session.known.isSame, !session.isManifestRebuilt else {
            throw TransferError(code: .refused, message: DeletionRefusal.directoryChanged.message)
        }
        return try await perform(countsAsSuccess: false) { executor in
            let watch = try await DirectoryWatch(executor.context)
            try await RunDeletions(executor: executor).deletePlanned([:], watch, isRepeated: true)
            let pruner = DirectoryPruner(context: executor.context)
            for (path, failure) in try await pruner.prune(emptied, forgetting: []) {
                executor.fail(.deleteLocal, path.key, size: 0, failure)
            }
            await executor.publications.flush()
            if let stop = executor.ledger.stop { throw stop }
            if confirms, executor.ledger.failedItems == 0 {
                try await RebuiltManifest.confirm(direction, filter, executor.context.manifest)
            }
            try await watch.check()
        }
    }
}

extension MirrorRun {
    /// Makes what earlier runs of the shard have planned and not done the plan of `run`, also where
    /// an earlier one that was to carry it out was killed.
    func adoptDeletions(_ run: RunID) async throws(ManifestError) {
        let manifest = session.manifest
        while let earlier = try await manifest.lastPlannedRun(before: run) {
            for side in [DeletionSide.local, .remote] {
                let planned = RowSelection.deletions(run: earlier, side: side)
                for try await page in manifest.pages(planned, limit: settings.limits.batch) {
                    try await manifest.record(page.map { .planDeletion($0, run) })
                }
            }
            try await manifest.clearPlannedDeletions(run: earlier)
        }
    }
}
