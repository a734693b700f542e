internal import ManifestStore
internal import SyncModel
internal import SyncPlanner

extension MirrorRun {
    func deletionGuard(
        _ parts: Parts,
        _ findings: Findings,
        rows: Int,
        deletions: Int
    ) async throws(ManifestError) -> DeletionGuard {
        let isUnconfirmed = try await RebuiltManifest.isUnconfirmed(
            direction,
            filter,
            session.manifest
        )
        let cap: DeletionCap =
            switch options.deletionLimit {
            case .count(let count): .count(count)
            case .percent(let share): .percent(share)
            }
        return DeletionGuard(
            direction: Direction(direction),
            deletions: deletions,
            rows: rows,
            listedObjects: findings.listedObjects,
            walkedEntries: findings.walkedEntries,
            isListingProven: findings.isListingProven,
            isScanProven: findings.isScanProven,
            failedItems: parts.ledger.failedItems,
            skippedItems: parts.ledger.skippedItems,
            vanishedItems: parts.ledger.vanishedItems,
            isSameRemote: true,
            isSameDirectory: deletions == 0
                || (session.known.isSame && !parts.executor.issues.hasForeignMounts),
            isManifestRebuilt: session.isManifestRebuilt
                || (isUnconfirmed && options.deletesExtra && !options.allowsRebinding),
            allowsEmpty: options.allowsEmpty,
            cap: cap
        )
    }

    /// Carries out what was planned for after the transfers, if the guards allow it.
    func delete(
        _ parts: Parts,
        _ findings: Findings,
        rows: Int,
        _ watch: DirectoryWatch
    ) async throws {
        let (context, executor) = (parts.context, parts.executor)
        let held = try await holdBackBeneathNames(parts)
        let renames = try await LocalRenames(executor: executor).settle()
        if let stop = parts.ledger.stop { throw stop }
        try Task.checkCancellation()
        guard parts.ledger.cancelledItems == 0 else { throw CancellationError() }
        let planned = try await context.manifest.plannedDeletionCount(run: context.run)
        var judge = try await deletionGuard(
            parts,
            findings,
            rows: rows,
            deletions: planned.local + planned.remote + parts.ledger.vanishedFiles
        )
        judge.renames = renames.count
        switch judge.verdict {
        case .allowed:
            if let held { context.tracker.count { $0.deletionsHeldBack = held } }
            try await deletePlanned(parts, renames, watch)
            try await DeferredDownloads(executor: executor).run()
            try await RoomMaking(executor: executor).run()
            guard parts.ledger.cancelledItems == 0 else { throw CancellationError() }
            if options.deletesExtra, !session.isManifestRebuilt, parts.ledger.failedItems == 0,
                context.tracker.summary.skipped == 0 || options.allowsRebinding,
                session.known.unmounted.isEmpty,
                findings.isListingProven, findings.isScanProven,
                try await RebuiltManifest.isUnconfirmed(direction, filter, context.manifest)
            {
                try await RebuiltManifest.confirm(direction, filter, context.manifest)
            }
        case .refused(let refusal):
            try await context.manifest.clearPlannedDeletions(run: context.run)
            context.tracker.count { $0.deletionsHeldBack = refusal.message }
            if refusal.isSafetyRefusal {
                parts.ledger.stop(SyncError(code: .refused, message: refusal.message))
            }
            DeferredDownloads(executor: executor).skip()
            try await LocalRenames(executor: executor).download(
                [LocalRenames.Proven](renames.values)
            )
            await RoomMaking(executor: executor).fail()
        }
    }

    /// Drops what is planned at or beneath names that were skipped; what is said of it, if anything
    /// was.
    private func holdBackBeneathNames(_ parts: Parts) async throws -> String? {
        let context = parts.context
        let names = parts.ledger.skippedNames
        guard let first = names.first else { return nil }
        let before = try await context.manifest.plannedDeletionCount(run: context.run)
        guard before.local + before.remote > 0 else { return nil }
        try await context.manifest.dropPlannedDeletions(run: context.run, atOrBeneath: names)
        let after = try await context.manifest.plannedDeletionCount(run: context.run)
        let held = before.local + before.remote - after.local - after.remote
        guard held > 0 else { return nil }
        let others =
            switch names.count {
            case 1: ""
            case 2: " and 1 other name"
            default: " and \(names.count - 1) other names"
            }
        return (held == 1 ? "1 deletion was" : "\(held) deletions were")
            + " held back: at or beneath '\(first.display)'\(others), which had to be skipped."
    }
}
