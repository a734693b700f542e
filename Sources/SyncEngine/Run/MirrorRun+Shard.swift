internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What a run of a shard does in the place of deletions, and what the end of a round does then.
extension MirrorRun {
    /// Leaves what is planned to be deleted in the manifest, for the step that proves all shards.
    func leave(
        _ check: DeletionGuard,
        _ held: String?,
        _ renames: [ObjectKey: LocalRenames.Proven],
        to outcome: ShardOutcome,
        _ parts: Parts,
        _ coverage: PlanCoverage
    ) async throws {
        let executor = parts.executor
        var check = check
        // A file cannot change its name here without a deletion.
        check.renames = 0
        try await LocalRenames(executor: executor).download([LocalRenames.Proven](renames.values))
        await RoomMaking(executor: executor).fail()
        check.failedItems = parts.ledger.failedItems
        outcome.note(
            ShardOutcome.Found(
                check: check,
                waiting: parts.ledger.waiting(\.downloads).items.count,
                mayConfirm: try await mayConfirm(parts, coverage),
                recorded: try await session.manifest.entryCount()
            )
        )
        if let held { parts.context.tracker.count { $0.deletionsHeldBack = held } }
        DeferredDownloads(executor: executor).skip()
    }

    /// Deletes what the last run of this shard has planned.
    ///
    /// `emptied` are directories of this shard that deletions in others have perhaps left empty.
    func finishShard(
        confirms: Bool,
        emptied: Set<RelativePath>
    ) async throws(SyncError) -> RunSummary {
        guard session.known.isSame, !session.isManifestRebuilt else {
            throw SyncError(code: .refused, message: DeletionRefusal.directoryChanged.message)
        }
        return try await perform(countsAsSuccess: false) { parts in
            let watch = try await DirectoryWatch(parts.context)
            try await deletePlanned(parts, [:], watch, isRepeated: true)
            let pruner = DirectoryPruner(context: parts.context)
            for (path, failure) in try await pruner.prune(emptied, forgetting: []) {
                parts.executor.fail(.deleteLocal, path.key, size: 0, failure)
            }
            await parts.publications.flush()
            if let stop = parts.ledger.stop { throw stop }
            if confirms, parts.ledger.failedItems == 0 {
                try await RebuiltManifest.confirm(direction, filter, parts.context.manifest)
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
