internal import OSSSync

/// `osssync status`.
struct StatusCommand: Sendable {
    let context: CommandContext

    /// What is left out that is named without -v.
    private static let mostIssues = 10

    func run() async throws -> ExitCode {
        if context.arguments.has(.follow) { return try await follow() }
        var options = try RunOptions(context.arguments)
        options.paths = try context.limitedPaths()
        let mirror = try context.mirror()
        if let shards = try mirror.shards() { return try writeShards(shards, mirror) }
        let details = StatusDetails(context)
        let report = try await mirror.status(
            options: options,
            of: [
                .pull: context.options(of: .pull), .push: context.options(of: .push),
                .sync: context.options(of: .sync),
            ],
            onDetail: { details.add($0) }
        )
        // What cannot be read is only not shown.
        let live = try? context.localMirror().live()
        details.finish()
        for command in [CommandName].runs
        where context.defaults?.hasOwnFilters(command) == true {
            let text =
                "the filters of [\(command.rawValue)] in DIR/.osssync/config are not "
                + "applied by status"
            if context.output.isJSON {
                context.say(EventJSON.warning(text))
            } else {
                context.complain(text)
            }
        }
        if context.output.isJSON {
            writeJSON(report, live)
        } else {
            writeText(report, live, mirror)
            for line in details.lines { context.say(line) }
        }
        if context.arguments.has(.exitCode), !report.isInStep { return .incomplete }
        return .success
    }

    /// Writes a line, on a narrow terminal with its words in several.
    private func say(_ text: String) {
        let columns = OutputStream.standardOutput.size.columns
        guard OutputStream.standardOutput.isTerminal, displayWidth(text) > columns else {
            context.say(text)
            return
        }
        let lines = wrapped(text, to: columns - 6)
        for line in [("  " + lines[0])] + lines.dropFirst().map({ "      " + $0 }) {
            context.say(line)
        }
    }

    private func writeText(
        _ report: StatusReport,
        _ live: LiveRun?,
        _ mirror: DirectoryMirror
    ) {
        let limit = EventText.limit(report.paths).map { " (\($0))" } ?? ""
        context.say(
            "'\(String(terminalSafe: mirror.directory))' and \(mirror.remote.display)\(limit)"
        )
        say("  recorded: " + countText(report.recorded, "item", "items"))
        for (direction, work, verb) in [
            (CommandName.pull, report.pull, "download"), (.push, report.push, "upload"),
            (.sync, report.sync, "transfer"),
        ] {
            let isRefused = work.isEmpty && work.deletionsHeldBack != nil
            let text =
                isRefused
                ? "be refused" : Self.text(work, verb: verb, context.bandwidth(of: direction))
            say("  \(direction.rawValue) would: " + text)
            if let reason = work.deletionsHeldBack { say("    " + reason) }
        }
        say("  differences: " + Self.text(report.differences))
        if report.freed.count > 0 {
            let files = countText(report.freed.count, "file", "files")
            let paths = report.freed.paths.prefix(10).map { String(terminalSafe: $0) }
                .joined(separator: ", ")
            let more = report.freed.paths.count > 10 ? " and more" : ""
            say(
                "  freed: \(files) only in the bucket (\(sizeText(report.freed.bytes)))"
                    + (paths.isEmpty ? "" : ": " + paths + more)
            )
        }
        if report.trash.files > 0 {
            let files = countText(report.trash.files, "file", "files")
            say("  trash: \(files) (\(sizeText(report.trash.bytes)))")
        }
        say("  last success: " + Self.text(report.lastSuccess))
        if let run = report.running { say("  " + Self.text(running: run)) }
        if let live { say("  " + ProgressView(live).plain) }
        let state = report.running == nil ? "interrupted " : ""
        for transfer in report.interrupted {
            let moved = Self.moved(transfer, live)
            let done = "\(sizeText(moved)) of \(sizeText(transfer.size))"
            say(
                "  \(state)\(transfer.action.rawValue): \(transfer.displayKey), \(done) done"
            )
        }
        // Of many that are left out, a screenful would hide the rest.
        let most = context.output.verbosity >= 1 ? report.issues.count : Self.mostIssues
        for text in report.warnings + report.issues.prefix(most) { context.complain(text) }
        if report.issues.count > most {
            context.complain("and \(report.issues.count - most) more left out; -v names them")
        }
    }

    /// What a transfer has, in the run that works on it now or by its last checkpoint.
    private static func moved(_ transfer: InterruptedTransfer, _ live: LiveRun?) -> Int64 {
        live?.progress.active.first { $0.displayKey == transfer.displayKey }?.bytesFinished
            ?? transfer.bytesFinished
    }

    static func text(running run: PastRun) -> String {
        let time = run.started.localText
        return "\(run.direction) running since \(time) (\(CommandContext.zoneText))"
    }

    static func text(
        _ work: PlannedWork,
        verb: String,
        _ bandwidth: BandwidthTimetable? = nil
    ) -> String {
        var parts: [String] = []
        func add(_ count: Int, _ beginning: String, _ noun: String, _ nouns: String) {
            if count > 0 { parts.append(beginning + " " + countText(count, noun, nouns)) }
        }
        if work.transfers > 0 {
            let items = countText(work.transfers, "item", "items")
            let resumed =
                work.bytesResumed > 0 ? ", \(sizeText(work.bytesResumed)) resumed" : ""
            let copied = work.bytesCopied > 0 ? ", up to " + copiedText(work.bytesCopied) : ""
            let time =
                TransferTime(bandwidth)?.text(of: work.bytes).map { ", " + $0 } ?? ""
            parts.append("\(verb) \(items) (\(sizeText(work.bytes))\(copied)\(resumed)\(time))")
        }
        add(work.renames, "rename", "item", "items")
        let deletes = work.deletionsHeldBack == nil ? "delete" : "hold back the deletion of"
        add(work.deletions, deletes, "item", "items")
        add(work.comparisons, "compare", "item", "items")
        add(work.modes, "carry the permissions of", "item", "items")
        add(work.conflicts, "find", "conflict", "conflicts")
        add(work.localChanges, "keep", "local change", "local changes")
        add(work.skipped, "skip", "item", "items")
        return parts.isEmpty ? "do nothing" : parts.joined(separator: ", ")
    }

    static func text(_ differences: Differences) -> String {
        var parts: [String] = []
        func add(_ count: Int, _ ending: String) {
            if count > 0 { parts.append("\(count) " + ending) }
        }
        add(differences.onlyLocal, "only here")
        add(differences.onlyRemote, "only in the bucket")
        add(differences.localChanges, "changed here")
        add(differences.remoteChanges, "changed in the bucket")
        add(differences.deletedHere, "deleted here")
        add(differences.deletedThere, "deleted in the bucket")
        add(differences.damaged, "found damaged")
        add(differences.unknown, "to be compared")
        add(differences.excluded, "left out")
        add(differences.notMirrored, "not mirrored")
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }

    static func text(_ lastSuccess: [SyncDirection: StoreTime]) -> String {
        let parts = SyncDirection.allCases.compactMap { direction in
            lastSuccess[direction].map { time in
                "\(direction.rawValue) \(time.localText)"
                    + (time.isInFuture ? " (in the future)" : "")
            }
        }
        return parts.isEmpty
            ? "none" : parts.joined(separator: ", ") + " (\(CommandContext.zoneText))"
    }

    private static func json(_ lastSuccess: [SyncDirection: StoreTime]) -> JSONLine {
        let times = lastSuccess.mapValues(\.text)
        return ["pull": times[.pull], "push": times[.push], "sync": times[.sync]]
    }

    private func writeJSON(_ report: StatusReport, _ live: LiveRun?) {
        for text in report.warnings + report.issues {
            context.say(EventJSON.warning(text))
        }
        context.say([
            "event": "status",
            "paths": report.paths.ifAny,
            "recorded": report.recorded,
            "pull": Self.json(report.pull),
            "push": Self.json(report.push),
            "sync": Self.json(report.sync),
            "in_step": report.isInStep,
            "freed_files": report.freed.count,
            "freed_bytes": report.freed.bytes,
            "freed_paths": report.freed.paths.ifAny,
            "trash_files": report.trash.files,
            "trash_bytes": report.trash.bytes,
            "last_success": Self.json(report.lastSuccess),
            "only_local": report.differences.onlyLocal,
            "only_remote": report.differences.onlyRemote,
            "local_changes": report.differences.localChanges,
            "remote_changes": report.differences.remoteChanges,
            "deleted_here": report.differences.deletedHere,
            "deleted_there": report.differences.deletedThere,
            "not_mirrored": report.differences.notMirrored,
            "damaged": report.differences.damaged,
            "unknown": report.differences.unknown,
            "excluded": report.differences.excluded,
            "running": report.running.map { Self.json($0, live) },
            "interrupted": report.interrupted.map { Self.json($0, live) },
        ])
    }

    private static func json(_ run: PastRun, _ live: LiveRun?) -> JSONLine {
        var line: JSONLine = [
            "direction": run.direction, "run": run.number, "since": run.started.text,
        ]
        if let live { line.add(EventJSON.figures(of: ProgressView(live))) }
        return line
    }

    private static func json(_ transfer: InterruptedTransfer, _ live: LiveRun?) -> JSONLine {
        [
            "action": transfer.action.rawValue,
            "key": JSONKey(transfer.key, transfer.displayKey),
            "size": transfer.size,
            "bytes_finished": moved(transfer, live),
        ]
    }

    static func json(_ work: PlannedWork) -> JSONLine {
        [
            "transfers": work.transfers,
            "bytes": work.bytes,
            "bytes_resumed": work.bytesResumed,
            "bytes_copied": work.bytesCopied,
            "renames": work.renames,
            "deletions": work.deletions,
            "comparisons": work.comparisons,
            "modes": work.modes,
            "conflicts": work.conflicts,
            "local_changes": work.localChanges,
            "skipped": work.skipped,
            "unchanged": work.unchanged,
            "deletions_held_back": work.deletionsHeldBack,
        ]
    }
}
