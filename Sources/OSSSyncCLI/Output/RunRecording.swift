internal import OSSSync
internal import Synchronization

/// The files that a run writes about itself: `--log-file`, `--metrics-file`, and what others are
/// shown while it works.
///
/// 1. Made before the run; what cannot be written is an error then, not hours later.
/// 2. ``handle(_:)`` takes its events.
/// 3. ``finish(_:_:)`` takes how it ended, also if it never reached the remote.
///
/// Not guaranteed: an end in these files if the process is killed.
final class RunRecording: Sendable {
    private struct State {
        var summary: RunSummary
        let start = ContinuousClock.now
    }

    private let context: CommandContext
    private let direction: SyncDirection
    private let log: LogFile?
    private let reporter: Reporter?
    private let metrics: ReplacedFile?
    /// Nil for a dry run, and for the tasks of a round, of which several may work at once.
    private let live: LiveReport?
    private let state: Mutex<State>

    init(_ context: CommandContext, _ direction: SyncDirection) throws(UsageError) {
        self.context = context
        self.direction = direction
        let isDryRun = context.arguments.has(.dryRun)
        try Self.check(context.arguments, context)
        // A dry run is none: its figures are not those of anything done.
        let path = isDryRun ? nil : context.arguments.values[.metricsFile]
        metrics = try path.map { path throws(UsageError) in try ReplacedFile(metrics: path) }
        log = try context.arguments.values[.logFile].map { path throws(UsageError) in
            try LogFile(path: path)
        }
        reporter = log.map { log in
            var options = context.output
            (options.progress, options.isJSON, options.isQuiet) = (.plain, false, false)
            (options.verbosity, options.color) = (1, .never)
            let screen = log.screen.naming(context.place?.directory)
            return Reporter(options: options, isDryRun: isDryRun, screen: screen)
        }
        let plan = context.arguments.values[.savePlan]
        let page = context.arguments.values[.html]
        for (option, path) in [(Option.metricsFile, path), (.savePlan, plan), (.html, page)] {
            guard let path, log?.isSame(as: path) == true else { continue }
            throw .badValue(option, path, "it is the log file; specify another file")
        }
        state = Mutex(State(summary: RunSummary(direction: direction)))
        reporter?.startTicking()
        for option in [Option.html, .metricsFile]
        where isDryRun && context.typed.has(option) && !context.output.isQuiet {
            context.complain("a dry run does not write \(option.name)")
        }
        let isShown = !isDryRun && context.arguments.values[.shard] == nil
        live = isShown ? try LiveReport(context, context.reporter) : nil
    }

    /// The run is limited to these.
    func note(paths: [String]) { state.withLock { $0.summary.paths = paths } }

    /// Reads what the page of `--html` shows of earlier runs; before the run.
    func readHistory() async { await live?.readHistory() }

    /// Refuses standard output, a file that a run would mirror, and one of osssync's own.
    static func check(
        _ arguments: ParsedArguments,
        _ context: CommandContext
    ) throws(UsageError) {
        for option in Option.all where option.traits.contains(.writes) {
            guard let path = arguments.values[option] else { continue }
            func refusal(_ reason: String) -> UsageError {
                .badValue(option, path, reason)
            }
            if path == "-" || path.isEmpty { throw refusal("expected a path") }
            guard let file = MirrorPlace.realPath(path) else { continue }
            let isDirectory = option == .backupDirectory
            let names = file.utf8.split(separator: UInt8(ascii: "/"))
            let isState = names.dropLast(isDirectory ? 0 : 1).contains {
                $0.elementsEqual(".osssync".utf8)
            }
            if isState || isBeneath(context.sources.options.stateDirectory, file) {
                throw refusal("it is in a state directory; specify a place outside of it")
            }
            if isDirectory, let other = MirrorPlace.mirror(holding: file) {
                throw refusal(
                    "it is in the mirror or state '\(String(terminalSafe: other))'; specify another"
                )
            }
            if let mirror = context.place?.directory, isBeneath(mirror, file) {
                throw refusal(
                    "it is in the mirror, and a push would upload it; specify a place outside of "
                        + "'\(String(terminalSafe: mirror))'"
                )
            }
        }
    }

    private static func isBeneath(_ directory: String?, _ file: String) -> Bool {
        guard let root = directory.flatMap(MirrorPlace.realPath) else { return false }
        return file.utf8.starts(with: (root + "/").utf8)
    }

    func handle(_ event: SyncEvent) {
        reporter?.handle(event)
        live?.handle(event)
        guard case .finished(let summary) = event else { return }
        state.withLock { $0.summary = summary }
        live?.end()
    }

    /// Another run has the directory, and writes the figures.
    func note(skipped error: TransferError) {
        note(EventText.skipped(direction.rawValue, error))
    }

    /// Writes the end; the exit status, which is not 0 if something could not be written.
    func finish(_ code: ExitCode, _ error: (any Error)? = nil) async -> ExitCode {
        note(error.map { EventText.failure($0) })
        let (summary, start) = state.withLock { ($0.summary, $0.start) }
        let isWritten = await live?.writePage(.state, error) ?? true
        let isLost = !isWritten || context.hasLostOutput
        let code = code == .success && isLost ? .incomplete : code
        guard let metrics else { return code }
        var figures = RunFigures(
            directory: absolutePath((try? context.directory()) ?? ""),
            remote: context.remoteText,
            summary: summary,
            exit: code,
            ended: WallClock.now().seconds
        )
        if summary.seconds == 0 {
            figures.summary.seconds = (ContinuousClock.now - start) / .seconds(1)
        }
        // What cannot be read is left out of the figures.
        figures.lastSuccess = try? await context.localMirror().lastSuccess()[direction]?
            .secondsSince1970
        figures.trash = try? await context.localMirror().trash.size()
        figures.totals = try? await context.localMirror().totals()
        guard let problem = metrics.replace(with: figures.text) else { return code }
        context.reportLoss("the figures of this run are not in \(metrics.shown): \(problem)")
        return code == .success ? .incomplete : code
    }

    /// Ends the log, with a last line if there is one to say.
    private func note(_ text: String?) {
        live?.end()
        reporter?.finish()
        guard let log, let reporter else { return }
        let isWritten = text.map { log.append("osssync: \($0)\n") } ?? true
        if reporter.hasLostOutput || !isWritten {
            context.reportLoss(
                "the log of this run in \(log.shown) is not complete; "
                    + "check the disk that it is on"
            )
        }
    }
}

extension CommandContext {
    /// The remote, as far as it is known without credentials; safe to print.
    var remoteText: String {
        if let typed = arguments.mirror.remote {
            return (try? BucketLocation(parsing: typed))?.display ?? String(terminalSafe: typed)
        }
        return linkedRemote ?? ""
    }

    /// The remote that the directory is linked with; nil if it is not.
    var linkedRemote: String? {
        guard let directory = try? directory() else { return nil }
        return Self.linkedRemote(directory, sources.options.stateDirectory)
    }

    static func linkedRemote(_ directory: String, _ stateDirectory: String?) -> String? {
        let link = try? DirectoryConfiguration(
            directory: directory,
            stateDirectory: stateDirectory
        )
        let lines = link?.sections.flatMap(\.entries).filter(\.isOfLink) ?? []
        let text = lines.last { $0.key == "remote" }?.value ?? ""
        return (try? BucketLocation(parsing: text))?.display
    }
}
