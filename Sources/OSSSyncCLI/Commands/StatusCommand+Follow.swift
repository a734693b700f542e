internal import OSSSync

/// `osssync status --follow`.
extension StatusCommand {
    private static let interval = Duration.milliseconds(500)

    /// Shows what the runs show that work now, until the last one ends and no watch starts another,
    /// or the user ends the watching.
    func follow() async throws -> ExitCode {
        for option in [Option.summary, .exitCode, .filesFrom]
        where context.arguments.has(option) {
            throw UsageError.contradiction("--follow", option.name)
        }
        if let path = context.paths.first {
            throw UsageError.contradiction("--follow", String(terminalSafe: path))
        }
        let (mirror, local) = (try context.mirror(), try context.localMirror())
        let reporter = context.reporter
        reporter.startTicking()
        defer { reporter.finish() }
        var title: String?
        var (isIdle, wasWatched) = (false, false)
        do {
            while true {
                if let live = try local.live() {
                    (title, isIdle) = (live.title, false)
                    reporter.follow(live)
                } else if title == nil, local.isWatched {
                    if !isIdle { sayNow("a watch waits for changes", mirror) }
                    (isIdle, wasWatched) = (true, true)
                } else {
                    // In its first moment, and where the file cannot be written, only the journal
                    // knows of a run.
                    let run = try await mirror.history().runs(limit: 1).first
                    if let run, run.isRunning {
                        title = run.direction
                    } else {
                        reporter.pause()
                        if let run, title == run.direction {
                            LogCommand(context: context).say(run)
                        } else if let title {
                            sayNow("\(title) has ended", mirror)
                        } else if wasWatched {
                            sayNow("the watch has ended", mirror)
                        } else {
                            sayNow("no run is active", mirror)
                        }
                        guard title != nil, local.isWatched else { return .success }
                        title = nil
                    }
                }
                try await Task.sleep(for: Self.interval)
            }
        } catch is CancellationError {
            return .success
        }
    }

    private func sayNow(_ text: String, _ mirror: DirectoryMirror) {
        guard !context.output.isJSON, !context.output.isQuiet else { return }
        context.say("'\(String(terminalSafe: mirror.directory))': \(text)")
    }
}
