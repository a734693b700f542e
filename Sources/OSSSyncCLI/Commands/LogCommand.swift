internal import OSSSync

/// `osssync log`.
struct LogCommand: Sendable {
    private static let limit = 1_000
    /// Those whose items are kept.
    private static let runsWithItems = 20

    let context: CommandContext

    func run() async throws -> ExitCode {
        if let path = context.arguments.values[.html] { return try await writePage(path) }
        let mirror = try DirectoryMirror(
            directory: try context.directory(),
            remote: nil,
            allowsRebinding: false,
            sources: context.sources
        )
        guard let text = context.arguments.run else {
            let runs = try await runs(of: mirror)
            if let path = context.arguments.values[.path] {
                return try await history(of: path, runs, mirror)
            }
            if !runs.isEmpty { sayHeading() }
            for run in runs.reversed() { say(run) }
            return .success
        }
        for option in [Option.since, .path] where context.arguments.has(option) {
            throw UsageError.contradiction(option.name, text)
        }
        guard let number = parseCount(text, in: 1...Int.max) else {
            throw UsageError.badArgument(
                String(terminalSafe: text),
                expected: "RUN is the number of a run, as 'osssync log DIR' shows it; for a path, "
                    + "'osssync log --path \(String(terminalSafe: text)) DIR'"
            )
        }
        let actions: [ItemAction] = [.download, .upload, .copyLocal, .copyRemote]
        let transfers = Set(actions.map(\.rawValue))
        var shown: Int64 = 0
        var hasItems = false
        let found = try await mirror.history().items(ofRun: Int64(number)) { item in
            hasItems = true
            if item.state == ItemState.done.rawValue, transfers.contains(item.action) { shown += 1 }
            return say(item)
        }
        guard let run = found else {
            throw TransferError(
                code: .notFound,
                message: "there is no record of run \(number); 'osssync log DIR' lists them"
            )
        }
        if let end = run.end, !context.output.isJSON {
            let more = end.transferred + end.renamed - shown
            if !hasItems, run.hadItems {
                context.say("its items are not kept any more; a run with --log-file keeps them")
            } else if more > 0 {
                context.say("and \(more) more; --log-file has all of a run")
            }
        }
        sayHeading()
        say(run)
        return .success
    }

    /// The last runs, the latest first, that began since `--since`.
    private func runs(of mirror: DirectoryMirror) async throws -> [PastRun] {
        let runs = try await mirror.history().runs(limit: Self.limit)
        guard let start = try context.arguments.value(of: .since, .beginning) else { return runs }
        return runs.filter { $0.started.secondsSince1970 >= start }
    }

    /// What the runs whose items are kept did with a path and with what is beneath it, the latest
    /// last.
    private func history(
        of path: String,
        _ runs: [PastRun],
        _ mirror: DirectoryMirror
    ) async throws -> ExitCode {
        let key = String(path.utf8.last == UInt8(ascii: "/") ? path.dropLast() : path[...])
        var isFound = false
        let history = try mirror.history()
        let kept = try await history.withItems(runs, limit: Self.runsWithItems)
        for run in kept.reversed() {
            _ = try await history.items(ofRun: run.number) { item in
                let rest = item.key.utf8.dropFirst(key.utf8.count)
                guard item.key.utf8.starts(with: key.utf8),
                    rest.isEmpty || rest.first == UInt8(ascii: "/")
                else { return true }
                if !isFound { sayHeading() }
                isFound = true
                return say(item, in: run)
            }
        }
        guard !isFound else { return .success }
        let span =
            context.arguments.has(.since)
            ? "the runs since then"
            : "the last \(Self.runsWithItems) runs, of which the items are kept,"
        throw TransferError(
            code: .notFound,
            message: "\(span) did nothing with '\(String(terminalSafe: path))'"
        )
    }

    /// Writes the page of a mirror in which nothing runs.
    private func writePage(_ path: String) async throws -> ExitCode {
        for option in [Option.since, .path] where context.arguments.has(option) {
            throw UsageError.contradiction("--html", option.name)
        }
        if let run = context.arguments.run { throw UsageError.contradiction("--html", run) }
        try RunRecording.check(context.arguments, context)
        var page = context.page()
        let file = try ReplacedFile(page: path, for: page)
        let mirror = try context.localMirror()
        page.overview = try await mirror.overview(.items) ?? MirrorOverview()
        page.live = try mirror.live()
        page.trash = try await mirror.trash.size()
        page.hasRemoteTrash = (try? mirror.trash.hasRemote()) ?? false
        guard let problem = file.replace(with: page.text) else { return .success }
        context.reportLoss("the page was not written to \(file.shown): \(problem)")
        return .incomplete
    }

    private func sayHeading() {
        if !context.output.isJSON { context.say("   run  \(CommandContext.zoneText)") }
    }

    /// Says what became of an item, and if it is one of several runs, in which.
    private func say(_ item: PastItem, in run: PastRun? = nil) -> Bool {
        guard context.output.isJSON else {
            let start = run.map { run in
                let number = padded(String(run.number), to: 6, isNumber: true)
                return "\(number)  \(context.timeText(run.started))  "
            }
            return context.say((start ?? "") + EventText.past(item))
        }
        return context.say([
            "event": "past_item",
            "run": run?.number,
            "started": run?.started.text,
            "action": item.action,
            "state": item.state,
            "key": JSONKey(item.key, item.displayKey),
            "reason": item.message,
        ])
    }

    /// Says how a run ended, in one line.
    func say(_ run: PastRun) {
        if context.output.isJSON {
            context.say(Self.json(run, run.started.text))
        } else {
            context.say(Self.text(run, context.timeText(run.started)))
        }
    }

    static func text(_ run: PastRun, _ time: String) -> String {
        let number = padded(String(run.number), to: 6, isNumber: true)
        let beginning = "\(number)  \(time)  \(padded(run.direction, to: 4))"
        let limit = EventText.limit(run.paths).map { ", " + $0 } ?? ""
        guard let end = run.end else {
            return beginning + (run.isRunning ? "  is running" : "  did not end") + limit
        }
        let message = end.message.map { ": " + $0 } ?? ""
        let done = counts(end)
        // What did nothing says why, and not how much it was.
        let isNothing = end.message != nil && done == Self.nothing
        return beginning + "  \(end.outcome)  \(elapsedText(end.seconds))"
            + (isNothing ? "" : "  " + done) + limit + message
    }

    private static let nothing = "0 transferred (0 B)"

    /// `3 transferred (12.0 MiB), 1 deleted`.
    static func counts(_ end: PastRun.End) -> String {
        var parts = ["\(end.transferred) transferred (\(sizeText(end.bytes)))"]
        func add(_ count: Int64, _ word: String) {
            if count > 0 { parts.append("\(count) \(word)") }
        }
        add(end.deleted, "deleted")
        add(end.renamed, "renamed")
        add(end.conflicts, end.conflicts == 1 ? "conflict" : "conflicts")
        add(end.skipped, "skipped")
        add(end.failed, "failed")
        return parts.joined(separator: ", ")
    }

    private static func json(_ run: PastRun, _ time: String) -> JSONLine {
        let end = run.end
        return [
            "event": "past_run",
            "run": run.number,
            "direction": run.direction,
            "started": time,
            "remote": run.remote,
            "paths": run.paths.ifAny,
            "running": end == nil ? run.isRunning : nil,
            "outcome": end?.outcome,
            "seconds": end?.seconds,
            "transferred": end?.transferred,
            "bytes": end?.bytes,
            "deleted": end?.deleted,
            "renamed": end?.renamed,
            "conflicts": end?.conflicts,
            "failed": end?.failed,
            "skipped": end?.skipped,
            "items_in_both": end?.itemsInBoth,
            "bytes_in_both": end?.bytesInBoth,
            "stopped": end?.message,
        ]
    }
}
