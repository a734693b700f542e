internal import OSSSync

/// `osssync watch`: a push of everything, and then of what changes; with `--sync` syncs instead.
struct WatchCommand: Sendable {
    let context: CommandContext

    private static let standardSettling = Duration.seconds(5)
    private static let standardSyncInterval = Duration.seconds(600)

    /// What each round is.
    private var direction: SyncDirection { context.typed.has(.sync) ? .sync : .push }
    private var command: CommandName { direction == .sync ? .sync : .push }

    func run() async throws -> ExitCode {
        let push = try context.options(of: command)
        var options = WatchOptions(
            settling: try context.arguments.value(of: .settle, .time("5s", least: .seconds(1)))
                ?? Self.standardSettling,
            interval: try interval(),
            filter: push.filter,
            deletesKnown: push.deletesKnown
        )
        options.names = push.names
        let watch = MirrorWatch(try context.localMirror(), options, onEvent: say) {
            try await run($0)
        }
        try await watch.run()
        return .success
    }

    private func interval() throws(UsageError) -> Duration? {
        let every = Reading.time("15m or 1h", least: .seconds(1))
        guard let typed = context.typed.values[.sync] else {
            return try context.arguments.value(of: .every, every)
        }
        guard !context.typed.has(.every) else { throw .contradiction("--sync", "--every") }
        return typed.isEmpty
            ? Self.standardSyncInterval : try context.arguments.value(of: .sync, every)
    }

    /// Makes one push or sync, with the defaults and credentials of now.
    ///
    /// - Throws: What a user must fix, or that this command was stopped.
    private func run(_ round: WatchRound) async throws -> WatchOutcome {
        do {
            var command = RunCommand(
                context: try CommandContext(
                    arguments(of: round),
                    environment: context.sources.environment,
                    failures: context.sources.failures
                ),
                direction: direction,
                onEvent: { saysItems ? show($0) : () }
            )
            command.deletes = round.deletes
            return try await command.run() == .success ? .complete : .incomplete
        } catch {
            switch ExitCode(ending: error) {
            case .usage where !round.paths.isEmpty, .refused where !round.paths.isEmpty:
                return .refused
            case .unreachable, .locked, .incomplete:
                context.complain(EventText.failure(error))
                return .unavailable
            default: throw error
            }
        }
    }

    private func arguments(of round: WatchRound) throws(UsageError) -> ParsedArguments {
        var arguments = context.typed
        arguments.command = command
        arguments.positionals = [try context.directory()] + round.paths
        arguments.values[.settle] = nil
        arguments.values[.every] = nil
        arguments.values[.sync] = nil
        // A push that is skipped would be taken for one that was made.
        arguments.values[.ifLocked] = "fail"
        // Its lines come from here.
        if saysItems || context.output.isQuiet { arguments.counts[.quiet] = 1 }
        return arguments
    }

    /// True if a push says one line for each item, and one for its end.
    private var saysItems: Bool {
        !context.output.isJSON && !context.output.isQuiet && context.output.verbosity == 0
    }

    private func show(_ event: SyncEvent) {
        switch event {
        case .item(let item) where EventText.complaint(item) == nil:
            if let text = EventText.item(item, verbosity: 1) { sayNow(text) }
        case .finished(let summary):
            sayNow(EventText.summary(summary, isDryRun: false)[0])
        default: return
        }
    }

    private func say(_ event: WatchEvent) {
        if context.output.isJSON {
            context.say(EventJSON.watch(event, direction))
        } else if !context.output.isQuiet {
            sayNow(EventText.watch(event, direction))
        }
    }

    /// A watch runs for weeks: each line has its time.
    private func sayNow(_ text: String) {
        let now = StoreTime(secondsSince1970: WallClock.now().seconds)
        context.say("\(now.localText)  \(text)")
    }
}

extension EventText {
    private static let namedPaths = 3

    /// What a watch does beside its runs.
    static func watch(_ event: WatchEvent, _ direction: SyncDirection) -> String {
        let verb = direction == .sync ? "sync" : "push"
        func text(_ time: Duration) -> String { elapsedText(time / .seconds(1)) }
        switch event {
        case .watching(let count):
            return "watching " + countText(count, "directory", "directories")
        case .polling(let cause, let interval):
            return "everything is \(verb)ed every \(text(interval)): \(cause)"
        case .waiting(let time): return "retrying what failed in \(text(time))"
        case .round(let round):
            if let reason = round.reason { return "\(verb)ing everything: \(reason.text)" }
            let named = round.paths.prefix(namedPaths).map { "'\(String(terminalSafe: $0))'" }
            let rest = round.paths.count - named.count
            return "\(verb)ing " + named.joined(separator: ", ")
                + (rest > 0 ? " and " + countText(rest, "other path", "other paths") : "")
        }
    }
}

extension EventJSON {
    static func watch(_ event: WatchEvent, _ direction: SyncDirection) -> JSONLine {
        switch event {
        case .watching(let count): ["event": "watching", "directories": count]
        case .polling(let cause, let interval):
            ["event": "polling", "reason": cause, "interval": interval / .seconds(1)]
        case .waiting(let wait): ["event": "waiting", "wait": wait / .seconds(1)]
        case .round(let round):
            [
                "event": "round",
                "direction": direction.rawValue,
                "everything": round.reason != nil,
                "reason": round.reason?.text,
                "paths": round.paths,
            ]
        }
    }
}

extension WatchReason {
    /// Why everything is pushed or synced.
    fileprivate var text: String {
        switch self {
        case .start: "the watch begins"
        case .interval: "it is time again"
        case .overflow: "reports of changes were lost"
        case .rules: "an ignore file changed"
        case .moved: "a directory was moved or removed"
        case .obstacle: "a new directory cannot be watched"
        case .changes: "too much changed at once"
        case .refused: "a run of single paths was refused"
        }
    }
}
