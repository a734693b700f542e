internal import OSSSync

/// The JSON lines of `--json`; `docs/cli.md` lists their fields.
enum EventJSON {
    /// A line that has its time and name.
    static func line(_ event: String, time: String) -> JSONLine {
        var line = JSONLine()
        line.add("time", time)
        line.add("event", event)
        return line
    }

    static func start(
        direction: SyncDirection,
        directory: String,
        remote: String,
        time: String
    ) -> JSONLine {
        var line = line("start", time: time)
        line.add("direction", direction.rawValue)
        line.add("directory", directory)
        line.add("remote", remote)
        return line
    }

    /// Conflicts have an event of their own, with the fields of an item.
    static func item(_ item: ItemEvent, time: String) -> JSONLine {
        var line = line(item.action == .conflict ? "conflict" : "item", time: time)
        line.add("action", item.action.rawValue)
        line.add(key: item.key, shown: item.displayKey)
        line.add("size", item.size)
        line.add("state", item.state.rawValue)
        line.add("bytes_transferred", item.bytesTransferred)
        line.add("bytes_resumed", item.bytesResumed)
        if item.state == .failed {
            line.add("error", item.message ?? "")
        } else {
            line.add("reason", ifPresent: item.message)
        }
        line.add("kept_as", ifPresent: item.keptAs)
        line.add("request_id", ifPresent: item.requestID)
        return line
    }

    static func plan(_ progress: RunProgress, time: String) -> JSONLine {
        var line = line("plan", time: time)
        line.add("items", progress.itemsPlanned)
        line.add("bytes", progress.bytesPlanned)
        line.add("complete", progress.isPlanComplete)
        return line
    }

    static func progress(_ view: ProgressView, time: String) -> JSONLine {
        let progress = view.progress
        var line = line("progress", time: time)
        line.add("items", progress.itemsPlanned)
        line.add("items_finished", progress.itemsFinished)
        line.add("bytes", progress.bytesPlanned)
        line.add("bytes_finished", progress.bytesFinished)
        line.add("bytes_resumed", progress.bytesResumed)
        line.add("complete", progress.isPlanComplete)
        line.add("failed", progress.failed)
        if let rate = view.rate { line.add("rate", Int64(min(max(0, rate), 9e15))) }
        if let left = view.remaining { line.add("eta", left.components.seconds) }
        line.add("elapsed", view.elapsed / .seconds(1))
        line.add("active", progress.active.map(active))
        return line
    }

    private static func active(_ transfer: ActiveTransfer) -> JSONLine {
        var line = JSONLine()
        line.add("action", transfer.action.rawValue)
        line.add(key: transfer.key, shown: transfer.displayKey)
        line.add("size", transfer.size)
        line.add("bytes_finished", transfer.bytesFinished)
        line.add("bytes_resumed", transfer.bytesResumed)
        return line
    }

    static func excluded(
        _ key: String,
        shown: String,
        _ rule: String,
        time: String
    ) -> JSONLine {
        var line = line("excluded", time: time)
        line.add(key: key, shown: shown)
        line.add("rule", rule)
        return line
    }

    static func warning(_ message: String, time: String) -> JSONLine {
        var line = line("warning", time: time)
        line.add("message", message)
        return line
    }

    static func retry(_ retry: RetryEvent, time: String) -> JSONLine {
        var line = line("retry", time: time)
        line.add("operation", retry.operation)
        if let key = retry.key { line.add(key: key, shown: retry.displayKey ?? key) }
        line.add("attempt", retry.attempt)
        line.add("limit", retry.limit)
        line.add("wait", retry.wait / .seconds(1))
        line.add("cause", retry.cause)
        line.add("outage", retry.isOutage)
        return line
    }

    static func summary(_ summary: RunSummary, time: String) -> JSONLine {
        var line = line("summary", time: time)
        addCounts(of: summary, to: &line)
        if let shards = summary.shards { add(shards, to: &line) }
        return line
    }

    private static func add(_ shards: ShardCounts, to line: inout JSONLine) {
        line.add("shards", shards.count)
        line.add("round", shards.round)
        line.add("shards_complete", shards.complete)
        line.add("shards_missing", shards.missing.map { String($0) })
        line.add("deletions_waiting", shards.deletionsWaiting)
        line.add("shards_transferred", shards.transferred)
        line.add("shards_bytes", shards.bytes)
    }

    /// The counts of a summary, for `summary` and for the plans of `status`.
    static func addCounts(of summary: RunSummary, to line: inout JSONLine) {
        line.add("direction", summary.direction.rawValue)
        line.add("run", summary.runID)
        if !summary.paths.isEmpty { line.add("paths", summary.paths) }
        line.add("transferred", summary.transferred)
        line.add("conflict_copies", summary.conflictCopies)
        line.add("bytes", summary.bytes)
        line.add("bytes_failed", summary.bytesFailed)
        line.add("bytes_resumed", summary.bytesResumed)
        line.add("deleted", summary.deleted)
        line.add("renamed", summary.renamed)
        line.add("adopted", summary.adopted)
        line.add("modes", summary.modes)
        line.add("unchanged", summary.unchanged)
        line.add("conflicts", summary.conflicts)
        line.add("failed", summary.failed)
        line.add("skipped", summary.skipped)
        line.add("vanished", summary.vanished)
        line.add("local_changes", summary.localChanges)
        line.add("damaged", summary.damaged)
        line.add("only_local", summary.onlyLocal)
        line.add("not_mirrored", summary.notMirrored)
        line.add("only_remote", summary.onlyRemote)
        line.add("deleted_here", summary.deletedHere)
        line.add("deleted_there", summary.deletedThere)
        line.add("excluded", summary.excluded)
        line.add("not_in_plan", summary.notInPlan)
        line.add("kept_local", summary.keptLocal)
        line.add("kept_remote", summary.keptRemote)
        line.add("bytes_left", summary.bytesLeft)
        line.add("bytes_kept", summary.bytesKept)
        line.add("seconds", summary.seconds)
        line.add("requests", summary.requests)
        line.add("retries", summary.retries)
        line.add("throttled", summary.throttled)
        line.add("in_step", summary.isInStep)
        line.add("deletions_held_back", ifPresent: summary.deletionsHeldBack)
        line.add("stopped", ifPresent: summary.stopped)
        guard summary.stopped != nil else { return }
        line.add("interrupted", summary.interrupted)
        line.add("not_tried", summary.notTried)
        line.add("plan_complete", summary.isPlanComplete)
    }

    /// A run or command that failed or could not continue.
    static func failure(_ error: SyncError, exit: ExitCode, time: String) -> JSONLine {
        var line = line("error", time: time)
        line.add("message", error.message)
        line.add("exit", exit.rawValue)
        line.add("request_id", ifPresent: error.requestID)
        return line
    }
}
