internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

extension MirrorRun {
    /// A dry run: everything is listed, walked and compared, nothing is changed.
    func preview() async throws(SyncError) -> RunSummary {
        let started = settings.environment.monotonic()
        let before = SignalCounts(settings.storeObserver)
        let parts = parts(RunID(0))
        attachSignal(parts)
        defer { settings.storeObserver.detach() }
        onEvent(
            .started(
                direction: direction,
                directory: settings.directory,
                remote: settings.displayRemote
            )
        )
        emitWarnings()
        var preview = Preview(executor: parts.executor, kept: .none)
        var refusal: DeletionRefusal?
        var writer: PlanWriter?
        do {
            if case .save(let path, let command)? = options.plan {
                let disk = parts.context.disk
                writer = try await PlanWriter(path: path, command: command, settings, disk)
            }
            let rows = try await RecordedRows(paths, in: session.manifest)
            preview.kept = try await keptTransfers(partSize: options.partSize)
            let coverage = try await plan(rows: rows, parts) { item in
                guard let shown = try await preview.show(item) else { return }
                try await writer?.add(item, shown.action, outcome: shown.outcome)
            }
            try await preview.finish(coverage)
            let room = RoomMaking(executor: parts.executor)
            await room.warn(try await room.start())
            let names = try await namesInDoubt(parts)
            let held = preview.heldBack(by: names)
            let deletions = parts.context.tracker.summary.deleted - held
            var check = try await deletionGuard(parts, coverage, rows: rows, deletions: deletions)
            check.renames = preview.renames
            if let outcome = settings.shard?.outcome {
                // All shards together are judged.
                outcome.note(
                    ShardOutcome.Found(check: check, waiting: 0, mayConfirm: false, recorded: 0)
                )
            } else if case .refused(let found) = check.verdict {
                refusal = found
            }
            let message = refusal?.message ?? Self.heldBack(held, beneath: names)
            if refusal == nil { preview.showDeletions(heldBackBy: names) }
            let renames = preview.renames
            parts.context.tracker.count { summary in
                summary.deleted = refusal == nil ? summary.deleted - held - renames : 0
                summary.deletionsHeldBack = message
                // As in the run itself, which ends with it.
                if refusal?.isSafetyRefusal == true { summary.stopped = message }
            }
        } catch {
            throw SyncError(any: error)
        }
        var summary = parts.context.tracker.summary
        summary.seconds = seconds(since: started)
        SignalCounts(settings.storeObserver).add(to: &summary, since: before)
        onEvent(.finished(summary))
        if let refusal, refusal.isSafetyRefusal {
            throw SyncError(code: .refused, message: refusal.message)
        }
        do {
            try await writer?.finish()
        } catch {
            throw SyncError(any: error)
        }
        return summary
    }

    /// What unfinished transfers of the paths have moved, for uploads with parts of `partSize`.
    func keptTransfers(partSize: Int64) async throws -> KeptTransfers {
        try await KeptTransfers(
            in: session.manifest,
            paths.ranges,
            settings.store.dialect,
            partSize: partSize
        )
    }
}
