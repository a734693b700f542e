internal import Dispatch
internal import OSSSync
internal import Synchronization

/// Shows others how a run is while it works: by a file in its state, and by the page of `--html`.
///
/// A timer of its own asks the reporter, so that a disk that hangs delays neither the run nor its
/// bar. A run that ends within the first interval shows nothing.
final class LiveReport: Sendable {
    private struct State {
        var file: LiveFile?
        var hasFile = true
        /// With the runs before this one.
        var page: RunPage
        /// What this run did so far.
        var done = MirrorOverview()
        var lastPage: ContinuousClock.Instant?
        var isEnded = false
    }

    private static let interval = DispatchTimeInterval.milliseconds(500)

    private let context: CommandContext
    private let reporter: Reporter
    /// Nil without `--html`.
    private let pageFile: ReplacedFile?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - context: The command.
    ///   - reporter: Takes the events of the run.
    /// - Throws: For a page that cannot be written, before the run.
    init(_ context: CommandContext, _ reporter: Reporter) throws(UsageError) {
        self.context = context
        self.reporter = reporter
        pageFile = try context.arguments.values[.html].map { path throws(UsageError) in
            try ReplacedFile(page: path, for: context.page())
        }
        state = Mutex(State(page: context.page()))
        let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "osssync.live"))
        source.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
        source.setEventHandler { [weak self] in
            if self?.show() != true { source.cancel() }
        }
        source.activate()
    }

    /// False once the run has ended.
    private func show() -> Bool {
        let run = reporter.live()
        return state.withLock { state in
            guard !state.isEnded else { return false }
            guard let run else { return true }
            showPage(run, &state)
            if state.hasFile, state.file == nil {
                state.file = try? context.localMirror().liveFile()
                state.hasFile = state.file != nil
            }
            state.file?.show(run)
            return true
        }
    }

    private func showPage(_ run: LiveRun, _ state: inout State) {
        let now = ContinuousClock.now
        let isDue = state.lastPage.map { now - $0 >= RunPage.interval } ?? true
        guard let pageFile, isDue else { return }
        state.lastPage = now
        (state.page.live, state.page.now) = (run, WallClock.now().seconds)
        // What goes wrong is reported with the last page.
        _ = pageFile.replace(with: state.page.text)
    }

    /// Reads what the page shows of earlier runs.
    ///
    /// Before this run has its lock: while it works, this process does not open its manifest again.
    func readHistory() async {
        guard pageFile != nil, let overview = try? await context.localMirror().overview(.runs)
        else {
            return
        }
        state.withLock { $0.page.overview = overview }
    }

    /// Takes an event of the run, for the page.
    func handle(_ event: SyncEvent) {
        guard pageFile != nil, case .item(let item) = event else { return }
        state.withLock { $0.done.add(item) }
    }

    /// Writes the page that stays.
    ///
    /// - Parameters:
    ///   - depth: How much of it is read; but for `items`, what the run did is what it reported.
    ///   - error: Why the run failed; nil if it did not.
    /// - Returns: False if it could not be written, which was reported.
    func writePage(_ depth: MirrorOverview.Depth, _ error: (any Error)?) async -> Bool {
        guard let pageFile else { return true }
        // The page is that of the run which works.
        if (error as? TransferError)?.code == .locked { return true }
        var page = context.page()
        // What cannot be read is left out.
        let mirror = try? context.localMirror()
        if let overview = try? await mirror?.overview(depth) { page.overview = overview }
        if depth != .items { page.overview.take(itemsOf: state.withLock(\.done)) }
        page.trash = try? await mirror?.trash.size()
        page.hasRemoteTrash = (try? mirror?.trash.hasRemote()) ?? false
        page.failure = error.map { EventText.failure($0) }
        guard let problem = pageFile.replace(with: page.text) else { return true }
        context.reportLoss("the page was not written to \(pageFile.shown): \(problem)")
        return false
    }

    /// The run has ended, or is about to: it still holds its lock then.
    func end() {
        state.withLock { state in
            state.isEnded = true
            state.file?.remove()
            state.file = nil
        }
    }
}

extension CommandContext {
    /// A page on the mirror that has nothing yet.
    func page() -> RunPage {
        // Whichever way a run was told of it.
        func shown(_ path: String) -> String {
            String(terminalSafe: MirrorPlace.realPath(path) ?? absolutePath(path))
        }
        return RunPage(
            directory: shown(place?.directory ?? ""),
            remote: remoteText,
            state: sources.options.stateDirectory.map(shown),
            now: WallClock.now().seconds
        )
    }
}
