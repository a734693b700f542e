internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// A dry run: everything is listed, walked and compared, nothing is changed.
struct DryRun: RunStep {
    let setup: RunSetup

    init(_ setup: RunSetup) { self.setup = setup }

    func perform() async throws(TransferError) -> RunSummary {
        let started = settings.environment.monotonic()
        let before = SignalCounts(settings.storeObserver)
        let executor = ItemExecutor(ItemParts(setup))
        executor.context.attachSignal()
        defer { settings.storeObserver.detach() }
        setup.tellStart()
        setup.tellWarnings()
        var preview = Preview(executor: executor, kept: .none)
        var refusal: DeletionRefusal?
        var writer: PlanWriter?
        do {
            if case .save(let path, let command)? = options.plan {
                let disk = executor.context.disk
                writer = try await PlanWriter(path: path, command: command, settings, disk)
            }
            let rows = try await RecordedRows(paths, in: session.manifest)
            try await FilterRecord(setup).update(hasRows: rows.count > 0, records: false)
            preview.kept = try await setup.keptTransfers(partSize: options.partSize)
            let coverage = try await PlanSource(setup).plan(rows: rows, executor) { item in
                guard let shown = try await preview.show(item) else { return }
                try await writer?.add(item, shown.action, outcome: shown.outcome)
            }
            try await preview.finish(coverage)
            let room = RoomMaking(executor: executor)
            await room.warn(try await room.start())
            let deletions = RunDeletions(executor: executor)
            let names = try await deletions.namesInDoubt(preview.deleted)
            let held = preview.heldBack(by: names)
            let count = executor.context.tracker.summary.deleted - held
            var check = try await deletions.deletionGuard(coverage, rows: rows, deletions: count)
            check.renames = preview.renames + preview.renamesThere.count
            if let outcome = settings.shard?.outcome {
                // All shards together are judged.
                outcome.note(
                    ShardOutcome.Found(check: check, waiting: 0, mayConfirm: false, recorded: 0)
                )
            } else if case .refused(let found) = check.verdict {
                refusal = found
            }
            let onlyCopy = executor.ledger.onlyCopy
            let message =
                refusal?.message ?? RunDeletions.heldBack(held, beneath: names, onlyCopy)
            if refusal == nil { preview.showDeletions(heldBackBy: names) }
            let renames = preview.renames
            executor.context.tracker.count { summary in
                summary.deleted = refusal == nil ? summary.deleted - held - renames : 0
                summary.deletionsHeldBack = message
                // As in the run itself, which ends with it.
                if refusal?.isSafetyRefusal == true { summary.stopped = message }
            }
        } catch {
            throw TransferError(any: error)
        }
        var summary = executor.context.tracker.summary
        summary.seconds = (settings.environment.monotonic() - started).inSeconds
        SignalCounts(settings.storeObserver).add(to: &summary, since: before)
        setup.onEvent(.finished(summary))
        if let refusal, refusal.isSafetyRefusal {
            throw TransferError(code: .refused, message: refusal.message)
        }
        do {
            try await writer?.finish()
        } catch {
            throw TransferError(any: error)
        }
        return summary
    }
}
