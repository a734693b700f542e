internal import OSSSync

/// `osssync status --follow`.
extension StatusCommand {
    private static let interval = Duration.milliseconds(500)

    /// Shows what the run that works now shows, until it ends or the user ends the watching.
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
        var title: String?
        do {
            while true {
                if let live = try local.live() {
                    if title == nil { reporter.startTicking() }
                    title = live.title
                    reporter.follow(live)
                } else {
                    // In its first moment, and where the file cannot be written, only the journal
                    // knows of a run.
                    let run = try await mirror.pastRuns(limit: 1).first
                    guard let run, run.isRunning else { break }
                    title = run.direction
                }
                try await Task.sleep(for: Self.interval)
            }
        } catch is CancellationError {
            reporter.finish()
            return .success
        }
        reporter.finish()
        let run = try await mirror.pastRuns(limit: 1).first
        if let run, let title, title == run.direction {
            LogCommand(context: context).say(run)
        } else if !context.output.isJSON, !context.output.isQuiet {
            let directory = String(terminalSafe: mirror.directory)
            let text = title.map { "\($0) of '\(directory)' has ended" }
            context.say(text ?? "no run of '\(directory)' is active")
        }
        return .success
    }
}
