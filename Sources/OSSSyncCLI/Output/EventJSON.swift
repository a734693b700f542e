internal import OSSSync

/// The lines of `--json` for what happens in a run; `docs/cli.md` lists their fields.
enum EventJSON {
    static func start(direction: SyncDirection, directory: String, remote: String) -> JSONLine {
        [
            "event": "start", "direction": direction.rawValue, "directory": directory,
            "remote": remote,
        ]
    }

    /// Conflicts have an event of their own, with the fields of an item.
    static func item(_ item: ItemEvent) -> JSONLine {
        let hasFailed = item.state == .failed
        return [
            "event": item.action == .conflict ? "conflict" : "item",
            "action": item.action.rawValue,
            "key": JSONKey(item.key, item.displayKey),
            "size": item.size,
            "state": item.state.rawValue,
            "bytes_transferred": item.bytesTransferred,
            "bytes_resumed": item.bytesResumed,
            "error": hasFailed ? item.message ?? "" : nil,
            "reason": hasFailed ? nil : item.message,
            "kept_as": item.keptAs,
            "request_id": item.requestID,
        ]
    }

    static func plan(_ progress: RunProgress) -> JSONLine {
        [
            "event": "plan",
            "items": progress.itemsPlanned,
            "bytes": progress.bytesPlanned,
            "complete": progress.isPlanComplete,
        ]
    }

    static func progress(_ view: ProgressView) -> JSONLine {
        var line: JSONLine = ["event": "progress"]
        line.add(figures(of: view))
        return line
    }

    /// How far a run is.
    static func figures(of view: ProgressView) -> JSONLine {
        let progress = view.progress
        return [
            "items": progress.itemsPlanned,
            "items_finished": progress.itemsFinished,
            "bytes": progress.bytesPlanned,
            "bytes_finished": progress.bytesFinished,
            "bytes_resumed": progress.bytesResumed,
            "complete": progress.isPlanComplete,
            "failed": progress.failed,
            "rate": view.rate.map(wholeRate),
            "eta": view.remaining?.components.seconds,
            "elapsed": view.elapsed / .seconds(1),
            "waiting": view.waiting,
            "active": progress.active.map { active($0, view.activeRates[$0.displayKey]) },
        ]
    }

    private static func active(_ transfer: ActiveTransfer, _ rate: Double?) -> JSONLine {
        [
            "action": transfer.action.rawValue,
            "key": JSONKey(transfer.key, transfer.displayKey),
            "size": transfer.size,
            "bytes_finished": transfer.bytesFinished,
            "bytes_resumed": transfer.bytesResumed,
            "rate": rate.map(wholeRate),
        ]
    }

    static func excluded(_ key: String, shown: String, _ rule: String) -> JSONLine {
        ["event": "excluded", "key": JSONKey(key, shown), "rule": rule]
    }

    static func warning(_ message: String) -> JSONLine {
        ["event": "warning", "message": message]
    }

    static func retry(_ retry: RetryEvent) -> JSONLine {
        [
            "event": "retry",
            "operation": retry.operation,
            "key": retry.key.map { JSONKey($0, retry.displayKey ?? $0) },
            "attempt": retry.attempt,
            "limit": retry.limit,
            "wait": retry.wait / .seconds(1),
            "cause": retry.cause,
            "outage": retry.isOutage,
        ]
    }

    static func summary(_ summary: RunSummary) -> JSONLine {
        var line = counts(of: summary)
        if let shards = summary.shards {
            line.add([
                "shards": shards.count,
                "round": shards.round,
                "shards_complete": shards.complete,
                "shards_missing": shards.missing.map { String($0) },
                "deletions_waiting": shards.deletionsWaiting,
                "shards_transferred": shards.transferred,
                "shards_bytes": shards.bytes,
            ])
        }
        return line
    }

    private static func counts(of summary: RunSummary) -> JSONLine {
        let hasStopped = summary.stopped != nil
        return [
            "event": "summary",
            "direction": summary.direction.rawValue,
            "run": summary.runID,
            "paths": summary.paths.ifAny,
            "transferred": summary.transferred,
            "conflict_copies": summary.conflictCopies,
            "bytes": summary.bytes,
            "bytes_failed": summary.bytesFailed,
            "bytes_resumed": summary.bytesResumed,
            "bytes_copied": summary.bytesCopied,
            "deleted": summary.deleted,
            "renamed": summary.renamed,
            "adopted": summary.adopted,
            "modes": summary.modes,
            "unchanged": summary.unchanged,
            "conflicts": summary.conflicts,
            "failed": summary.failed,
            "skipped": summary.skipped,
            "vanished": summary.vanished,
            "local_changes": summary.localChanges,
            "damaged": summary.damaged,
            "only_local": summary.onlyLocal,
            "not_mirrored": summary.notMirrored,
            "only_remote": summary.onlyRemote,
            "deleted_here": summary.deletedHere,
            "deleted_there": summary.deletedThere,
            "excluded": summary.excluded,
            "not_in_plan": summary.notInPlan,
            "kept_local": summary.keptLocal,
            "kept_remote": summary.keptRemote,
            "bytes_left": summary.bytesLeft,
            "bytes_kept": summary.bytesKept,
            "seconds": summary.seconds,
            "requests": summary.requests,
            "retries": summary.retries,
            "throttled": summary.throttled,
            "in_step": summary.isInStep,
            "deletions_held_back": summary.deletionsHeldBack,
            "stopped": summary.stopped,
            "interrupted": hasStopped ? summary.interrupted : nil,
            "not_tried": hasStopped ? summary.notTried : nil,
            "plan_complete": hasStopped ? summary.isPlanComplete : nil,
        ]
    }

    /// A run or command that failed or could not continue.
    static func failure(_ error: TransferError, exit: ExitCode) -> JSONLine {
        [
            "event": "error", "message": error.message, "exit": exit.rawValue,
            "request_id": error.requestID,
        ]
    }
}
