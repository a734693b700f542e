internal import OSSSync

/// `osssync status`.
struct StatusCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
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
        details.finish()
        for command in [CommandName].runs
        where context.defaults?.hasOwnFilters(command) == true {
            let text =
                "the filters of [\(command.rawValue)] in DIR/.osssync/config are not "
                + "applied by status"
            if context.output.isJSON {
                context.say(EventJSON.warning(text, time: WallClock.text()))
            } else {
                context.complain(text)
            }
        }
        if context.output.isJSON {
            writeJSON(report)
        } else {
            writeText(report, mirror)
            for line in details.lines { context.say(line) }
        }
        if context.arguments.has(.exitCode), !report.isInStep { return .incomplete }
        return .success
    }

    private func writeText(_ report: StatusReport, _ mirror: DirectoryMirror) {
        let limit = EventText.limit(report.paths).map { " (\($0))" } ?? ""
        context.say(
            "'\(String(terminalSafe: mirror.directory))' and \(mirror.remote.display)\(limit)"
        )
        context.say("  recorded: " + countText(report.recorded, "item", "items"))
        context.say("  pull would: " + Self.text(report.pull, verb: "download"))
        context.say("  push would: " + Self.text(report.push, verb: "upload"))
        context.say("  sync would: " + Self.text(report.sync, verb: "transfer"))
        context.say("  differences: " + Self.text(report.differences))
        if report.trash.files > 0 {
            let files = countText(report.trash.files, "file", "files")
            context.say("  trash: \(files) (\(sizeText(report.trash.bytes)))")
        }
        context.say("  last success: " + Self.text(report.lastSuccess))
        if let run = report.running { context.say("  " + Self.text(running: run)) }
        let state = report.running == nil ? "interrupted " : ""
        for transfer in report.interrupted {
            let done = "\(sizeText(transfer.bytesFinished)) of \(sizeText(transfer.size))"
            context.say(
                "  \(state)\(transfer.action.rawValue): \(transfer.displayKey), \(done) done"
            )
        }
        for text in report.warnings + report.issues { context.complain(text) }
    }

    static func text(running run: PastRun) -> String {
        let time = run.started.localText
        return "\(run.direction) running since \(time) (\(CommandContext.zoneText))"
    }

    static func text(_ work: PlannedWork, verb: String) -> String {
        var parts: [String] = []
        func add(_ count: Int, _ beginning: String, _ noun: String, _ nouns: String) {
            if count > 0 { parts.append(beginning + " " + countText(count, noun, nouns)) }
        }
        if work.transfers > 0 {
            let items = countText(work.transfers, "item", "items")
            let resumed =
                work.bytesResumed > 0 ? ", \(sizeText(work.bytesResumed)) resumed" : ""
            parts.append("\(verb) \(items) (\(sizeText(work.bytes))\(resumed))")
        }
        add(work.deletions, "delete", "item", "items")
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
        add(differences.unknown, "to be compared")
        add(differences.excluded, "left out")
        add(differences.notMirrored, "not mirrored")
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }

    static func text(_ lastSuccess: [SyncDirection: StoreTime]) -> String {
        let parts = SyncDirection.allCases.compactMap { direction in
            lastSuccess[direction].map { time in
                "\(direction.rawValue) \(time.localText)"
            }
        }
        return parts.isEmpty
            ? "none" : parts.joined(separator: ", ") + " (\(CommandContext.zoneText))"
    }

    private static func json(_ lastSuccess: [SyncDirection: StoreTime]) -> JSONLine {
        let times = lastSuccess.mapValues(\.text)
        var line = JSONLine()
        line.add("pull", ifPresent: times[.pull])
        line.add("push", ifPresent: times[.push])
        line.add("sync", ifPresent: times[.sync])
        return line
    }

    private func writeJSON(_ report: StatusReport) {
        for text in report.warnings + report.issues {
            context.say(EventJSON.warning(text, time: WallClock.text()))
        }
        var line = EventJSON.line("status", time: WallClock.text())
        if !report.paths.isEmpty { line.add("paths", report.paths) }
        line.add("recorded", report.recorded)
        line.add("pull", Self.json(report.pull))
        line.add("push", Self.json(report.push))
        line.add("sync", Self.json(report.sync))
        line.add("in_step", report.isInStep)
        line.add("trash_files", report.trash.files)
        line.add("trash_bytes", report.trash.bytes)
        line.add("last_success", Self.json(report.lastSuccess))
        line.add("only_local", report.differences.onlyLocal)
        line.add("only_remote", report.differences.onlyRemote)
        line.add("local_changes", report.differences.localChanges)
        line.add("remote_changes", report.differences.remoteChanges)
        line.add("deleted_here", report.differences.deletedHere)
        line.add("deleted_there", report.differences.deletedThere)
        line.add("not_mirrored", report.differences.notMirrored)
        line.add("unknown", report.differences.unknown)
        line.add("excluded", report.differences.excluded)
        if let run = report.running {
            var running = JSONLine()
            running.add("direction", run.direction)
            running.add("run", run.number)
            running.add("since", run.started.text)
            line.add("running", running)
        }
        line.add(
            "interrupted",
            report.interrupted.map { transfer in
                var line = JSONLine()
                line.add("action", transfer.action.rawValue)
                line.add(key: transfer.key, shown: transfer.displayKey)
                line.add("size", transfer.size)
                line.add("bytes_finished", transfer.bytesFinished)
                return line
            }
        )
        context.say(line)
    }

    static func json(_ work: PlannedWork) -> JSONLine {
        var line = JSONLine()
        line.add("transfers", work.transfers)
        line.add("bytes", work.bytes)
        line.add("bytes_resumed", work.bytesResumed)
        line.add("deletions", work.deletions)
        line.add("comparisons", work.comparisons)
        line.add("modes", work.modes)
        line.add("conflicts", work.conflicts)
        line.add("local_changes", work.localChanges)
        line.add("skipped", work.skipped)
        line.add("unchanged", work.unchanged)
        return line
    }
}
