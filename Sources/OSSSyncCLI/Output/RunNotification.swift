internal import OSSSync
internal import Synchronization

/// When a run is told to `--notify-url`.
enum NotificationChoice: String, CaseIterable, Sendable {
    case always
    case failure
}

/// Tells of the end of a run: a failure to do so is a warning, and never the status of the run.
///
/// Not told: dry runs, runs that `--if-locked skip` skips, and those that a signal ended.
final class RunNotification: Sendable {
    private let context: CommandContext
    private let webhook: Webhook
    private let choice: NotificationChoice
    private let summary: Mutex<RunSummary>

    /// Nil if there is no address.
    ///
    /// - Throws: For an address that cannot be used, before the run.
    init?(_ context: CommandContext, _ direction: SyncDirection) throws(TransferError) {
        guard !context.arguments.has(.dryRun) else { return nil }
        let webhook: Webhook?
        if let typed = context.arguments.values[.notifyURL] {
            webhook = try Webhook(typed, sources: context.sources)
        } else {
            let directory = context.place?.directory
            webhook = try Webhook.configured(context.sources, directory: directory)
        }
        guard let webhook else { return nil }
        self.context = context
        self.webhook = webhook
        choice = context.arguments.values[.notifyOn].flatMap(NotificationChoice.init) ?? .always
        summary = Mutex(RunSummary(direction: direction))
    }

    /// The run is limited to these.
    func note(paths: [String]) { summary.withLock { $0.paths = paths } }

    func handle(_ event: SyncEvent) {
        if case .finished(let ended) = event { summary.withLock { $0 = ended } }
    }

    /// Posts how the run ended.
    func finish(_ code: ExitCode, _ error: (any Error)? = nil) async {
        guard code != .interrupted, code != .terminated else { return }
        guard choice == .always || code != .success else { return }
        var summary = summary.withLock(\.self)
        // A run that never came to an end of its own has compared nothing.
        if let error, summary.stopped == nil {
            summary.isPlanComplete = false
            summary.stopped = EventText.failure(error)
        }
        await post(EventJSON.summary(summary), code, error)
    }

    /// Posts what a verification found.
    func finish(_ found: JSONLine, _ code: ExitCode, _ error: (any Error)?) async {
        guard code != .interrupted, code != .terminated else { return }
        guard choice == .always || code != .success else { return }
        await post(found, code, error)
    }

    private func post(_ found: JSONLine, _ code: ExitCode, _ error: (any Error)?) async {
        var line = found
        line.add([
            "directory": absolutePath(context.place?.directory ?? ""),
            "remote": context.remoteText,
            "exit": code.rawValue,
            "error": error.map { EventText.failure($0) },
        ])
        let json = line.line(at: WallClock.text())
        guard let problem = await webhook.post(json: json, exit: code.rawValue) else { return }
        context.reporter.handle(
            .warning(message: "could not notify '\(webhook.host)': \(problem)")
        )
    }
}
