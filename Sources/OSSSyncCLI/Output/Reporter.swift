internal import Dispatch
internal import OSSSync
internal import Synchronization

/// Says what a run does, in the form that was asked for.
///
/// Events come from the engine on any thread; a timer draws. One lock keeps lines whole and the
/// bar below them.
final class Reporter: Sendable {
    private struct State {
        var title: String
        var latest: RunProgress?
        var lastPlan: RunProgress?
        /// Of what is sent and received.
        var line = RateMeter()
        /// Also of what the store copies.
        var whole = RateMeter()
        var steady = RateMeter(over: .seconds(30))
        var active: [String: TransferActivity] = [:]
        /// Columns of the widest name that had a line so far.
        var nameWidth = 0
        /// When the last progress was written as JSON, and what came since.
        var lastJSON: Duration?
        var unwritten: RunProgress?
        /// Lines of the bar on the screen.
        var drawnLines = 0
        var lastPlainLine = Duration.zero
        /// What is waited for, and until when.
        var retry: RetryEvent?
        var retryEnd = Duration.zero
        /// Complaints by what they have in common: how many there were, and the key of the first.
        var told: [String: (count: Int, first: String)] = [:]
        /// What a run of another process shows, instead of what was measured here.
        var followed: LiveRun?
        var hasLostOutput = false
        var isFinished = false
    }

    private let options: OutputOptions
    private let progress: Progress
    private let isDryRun: Bool
    private let isSingle: Bool
    private let bandwidth: BandwidthTimetable?
    private let screen: Screen
    private let state: Mutex<State>

    static let plainInterval = Duration.seconds(10)
    /// Complaints of one kind that are told one by one, and kinds that are counted.
    private static let (mostOfKind, mostKinds) = (10, 1_000)
    private static let frameInterval = DispatchTimeInterval.milliseconds(250)
    /// A transfer that ends sooner has no line: it would live for a moment.
    private static let shortest = Duration.seconds(1)

    /// - Parameters:
    ///   - options: How much is printed, and in which form.
    ///   - isDryRun: True if the run only prints what it would do.
    ///   - singleTitle: The title of a command with a single item; nil for a run, whose first event
    ///     provides it.
    ///   - bandwidth: What the run may transfer; nil for no limit.
    ///   - screen: Where the output goes.
    init(
        options: OutputOptions,
        isDryRun: Bool,
        singleTitle: String? = nil,
        bandwidth: BandwidthTimetable? = nil,
        screen: Screen
    ) {
        self.options = options
        self.bandwidth = bandwidth
        self.isDryRun = isDryRun
        self.screen = screen
        isSingle = singleTitle != nil
        state = Mutex(State(title: singleTitle ?? SyncDirection.pull.rawValue))
        progress = Self.choose(options, canDraw: screen.canDraw)
    }

    /// True if something could not be written: the run continued, but its report is incomplete.
    var hasLostOutput: Bool { state.withLock { $0.hasLostOutput } }

    /// Draws from now on, until `finish`.
    func startTicking() {
        guard progress != .none || options.isJSON else { return }
        let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "osssync.progress"))
        source.schedule(deadline: .now() + Self.frameInterval, repeating: Self.frameInterval)
        source.setEventHandler {
            if self.state.withLock(\.isFinished) { source.cancel() } else { self.tick() }
        }
        source.activate()
    }

    /// Stops drawing and removes the bar.
    func finish() {
        state.withLock { $0.isFinished = true }
        pause()
    }

    /// Removes the bar until there is progress again.
    func pause() {
        state.withLock { state in
            (state.latest, state.followed) = (nil, nil)
            erase(&state)
        }
    }

    /// Takes one event of the engine.
    func handle(_ event: SyncEvent) {
        state.withLock { state in
            if case .progress(let progress) = event, !state.isFinished { note(progress, &state) }
            if case .started(let direction, _, _) = event { state.title = direction.rawValue }
            if case .retry(let retry) = event { note(retry, &state) }
            guard !options.isJSON else { return printJSON(of: event, &state) }
            printText(of: event, &state)
        }
    }

    private func printJSON(of event: SyncEvent, _ state: inout State) {
        for line in jsonLines(of: event, &state) {
            print(line.line(at: screen.time()), to: \.output, &state)
        }
    }

    /// Shows what a run of another process shows of itself.
    func follow(_ live: LiveRun) {
        state.withLock { state in
            (state.title, state.followed) = (live.title, live)
            note(live.progress, &state)
            if options.isJSON { printJSON(of: .progress(live.progress), &state) }
        }
    }

    /// What is known of the run now; nil before its first progress and after its end.
    func live() -> LiveRun? {
        let now = screen.monotonic()
        return state.withLock { state in
            guard let latest = state.latest else { return nil }
            measure(latest, at: now, &state)
            return view(of: latest, &state, now).live
        }
    }

    /// True while requests wait for a connection for the reason in `message`, which was shown.
    func hasTold(of message: String) -> Bool {
        state.withLock { state in
            guard let retry = state.retry, retry.isOutage else { return false }
            return screen.monotonic() < state.retryEnd && message.hasPart(retry.cause)
        }
    }

    /// Draws the bar, or a line if it is time.
    func tick() {
        let now = screen.monotonic()
        state.withLock { state in
            guard let latest = state.latest else { return }
            measure(latest, at: now, &state)
            if let unwritten = state.unwritten { printJSON(of: .progress(unwritten), &state) }
            switch progress {
            case .none: return
            case .bar: draw(view(of: latest, &state, now), &state)
            case .plain:
                guard now - state.lastPlainLine >= Self.plainInterval else { return }
                state.lastPlainLine = now
                let time = screen.time()
                let text = view(of: latest, &state, now).plain
                print((time.isEmpty ? "" : time + " ") + text + "\n", to: \.errors, &state)
            }
        }
    }

    private func note(_ retry: RetryEvent, _ state: inout State) {
        let end = screen.monotonic() + retry.wait
        if let key = retry.displayKey { state.active[key]?.note(retryAt: end) }
        guard retry.isOutage || state.retry?.isOutage != true else { return }
        (state.retry, state.retryEnd) = (retry, end)
    }

    private func note(_ progress: RunProgress, _ state: inout State) {
        // What moves does not wait.
        if let before = state.latest, before.bytesFinished != progress.bytesFinished {
            state.retry = nil
        }
        state.latest = progress
        let keys = Set(progress.active.map(\.displayKey))
        state.active = state.active.filter { keys.contains($0.key) }
        measure(progress, at: screen.monotonic(), &state)
    }

    private func measure(_ progress: RunProgress, at now: Duration, _ state: inout State) {
        let moved = progress.bytesFinished - progress.bytesResumed
        let isPaused = state.retry?.isOutage == true
        state.line.note(moved - progress.bytesCopied, at: now, isPaused)
        state.whole.note(moved, at: now, isPaused)
        state.steady.note(moved, at: now, isPaused)
        for transfer in progress.active {
            state.active[transfer.displayKey, default: TransferActivity(since: now)].record(
                transfer.bytesFinished,
                at: now,
                isPaused: isPaused
            )
        }
    }

    private func view(
        of latest: RunProgress,
        _ state: inout State,
        _ now: Duration
    ) -> ProgressView {
        if let live = state.followed {
            let widest = latest.active.map { displayWidth($0.displayKey) }.max() ?? 0
            state.nameWidth = max(state.nameWidth, widest)
            return ProgressView(live, nameWidth: state.nameWidth, paint: errorPaint)
        }
        let left = (state.retryEnd - now) / .seconds(1)
        let isPaused = state.retry?.isOutage == true
        let pace = state.whole.bytesPerSecond.map { isPaused ? 0 : $0 }
        let active = latest.active.filter { transfer in
            state.active[transfer.displayKey].map { now - $0.since >= Self.shortest } ?? false
        }
        state.nameWidth = max(
            state.nameWidth,
            active.map { displayWidth($0.displayKey) }.max() ?? 0
        )
        return ProgressView(
            title: state.title,
            progress: latest,
            rate: state.line.bytesPerSecond.map { isPaused ? 0 : $0 },
            steadyRate: pace.flatMap { $0 < 1 ? nil : state.steady.bytesPerSecond },
            active: active,
            activeRates: state.active.compactMapValues(\.bytesPerSecond),
            activeWaits: waits(active, at: now, othersMove: pace ?? 0 >= 1, state),
            nameWidth: state.nameWidth,
            elapsed: now,
            showsItems: !isSingle,
            limits: TransferTime(bandwidth),
            waiting: state.retry.flatMap { retry in
                left > 0 ? EventText.waiting(retry, left) : nil
            },
            paint: errorPaint
        )
    }

    /// What those wait for that do not move.
    private func waits(
        _ active: [ActiveTransfer],
        at now: Duration,
        othersMove: Bool,
        _ state: State
    ) -> [String: String] {
        let waits = active.compactMap { transfer in
            state.active[transfer.displayKey]?.waiting(transfer, at: now, othersMove: othersMove)
                .map { (transfer.displayKey, $0) }
        }
        return Dictionary(waits) { $1 }
    }

    private var errorPaint: Paint { options.color.paint(screen.hasColors.errors) }

    private func draw(_ view: ProgressView, _ state: inout State) {
        let size = screen.size()
        // The last column and the last line stay free: writing there would scroll or wrap.
        let lines = view.bar(width: size.columns - 1, height: size.lines - 1)
        let frame = BarFrame.draw(lines, over: state.drawnLines)
        state.drawnLines = lines.count
        if !screen.errors(frame) { state.hasLostOutput = true }
    }

    private func erase(_ state: inout State) {
        guard state.drawnLines > 0 else { return }
        _ = screen.errors(BarFrame.erase(state.drawnLines))
        state.drawnLines = 0
    }

    private func print(
        _ text: String,
        to stream: KeyPath<Screen, @Sendable (String) -> Bool>,
        _ state: inout State
    ) {
        erase(&state)
        if !screen[keyPath: stream](text) { state.hasLostOutput = true }
    }

    private func printText(of event: SyncEvent, _ state: inout State) {
        switch event {
        case .started(let direction, let directory, let remote):
            guard options.verbosity >= 1 else { return }
            let directory = String(terminalSafe: directory)
            let text =
                switch direction {
                case .pull: "pull \(remote) to \(directory)\n"
                case .push: "push \(directory) to \(remote)\n"
                case .sync: "sync \(directory) with \(remote)\n"
                }
            print(text, to: \.errors, &state)
        case .item(let item):
            if let complaint = EventText.complaint(item) {
                guard isWorthTelling(item, &state) else { return }
                let line = "osssync: " + named(complaint)
                let painted =
                    item.state == .failed ? errorPaint.failure(line) : errorPaint.warning(line)
                print(painted + "\n", to: \.errors, &state)
            } else if !options.isQuiet,
                let text = EventText.item(item, verbosity: options.verbosity)
            {
                print(text + "\n", to: \.output, &state)
            }
        case .progress: return
        case .excluded(_, let key, let rule):
            guard options.verbosity >= 2 else { return }
            print(EventText.excluded(key, rule) + "\n", to: \.output, &state)
        case .warning(let message):
            let line = "osssync: warning: " + named(message)
            print(errorPaint.warning(line) + "\n", to: \.errors, &state)
        case .retry(let retry):
            // The bar shows it; without a bar, a line is printed only while nothing moves at all.
            let isWaiting = retry.isOutage || retry.key == nil || state.latest == nil
            let isDrawn = progress == .bar && state.latest != nil
            let isShown = isWaiting && !isDrawn && !options.isQuiet
            guard isShown || options.verbosity >= 1 else { return }
            print("osssync: " + EventText.retry(retry) + "\n", to: \.errors, &state)
        case .finished(let summary):
            tellRest(summary, &state)
            // What ends the run is said at its end.
            if let reason = summary.deletionsHeldBack, reason != summary.stopped {
                print("osssync: " + named(reason) + "\n", to: \.errors, &state)
            }
            guard !options.isQuiet else { return }
            let paint = options.color.paint(screen.hasColors.output)
            let lines = EventText.summary(
                summary,
                isDryRun: isDryRun,
                verbosity: options.verbosity,
                time: TransferTime(bandwidth)?.text(of: summary.bytes),
                paint
            )
            print(named(lines.joined(separator: "\n")) + "\n", to: \.output, &state)
        }
    }

    private func named(_ message: String) -> String {
        namingDirectory(screen.directory, in: message)
    }

    /// False for one more of a kind of which enough were told; their number is told at the end.
    private func isWorthTelling(
        _ item: ItemEvent,
        _ state: inout State
    ) -> Bool {
        guard options.verbosity == 0 else { return true }
        let kind = EventText.kind(of: item)
        guard state.told[kind] != nil || state.told.count < Self.mostKinds else { return true }
        let count = state.told[kind, default: (0, item.displayKey)].count + 1
        state.told[kind, default: (0, item.displayKey)].count = count
        return count <= Self.mostOfKind
    }

    private func tellRest(_ summary: RunSummary, _ state: inout State) {
        for (count, first) in state.told.values.sorted(by: { $0.first < $1.first })
        where count > Self.mostOfKind {
            let text =
                "and \(count - Self.mostOfKind) more like '\(first)'; 'osssync log DIR"
                + (summary.runID > 0 ? " \(summary.runID)" : "") + "' shows them, as -v does"
            print(errorPaint.failure("osssync: " + named(text)) + "\n", to: \.errors, &state)
        }
        state.told = [:]
    }

    private func jsonLines(of event: SyncEvent, _ state: inout State) -> [JSONLine] {
        switch event {
        case .started(let direction, let directory, let remote):
            return [
                EventJSON.start(direction: direction, directory: directory, remote: remote)
            ]
        case .item(let item): return [EventJSON.item(item)]
        case .progress(let progress):
            let now = screen.monotonic()
            // That a plan is complete is said once, and always.
            let completes = progress.isPlanComplete && state.lastPlan?.isPlanComplete != true
            if let last = state.lastJSON, now - last < options.jsonInterval, !completes {
                state.unwritten = progress
                return []
            }
            (state.lastJSON, state.unwritten) = (now, nil)
            let view = view(of: progress, &state, now)
            let line = EventJSON.progress(view)
            guard planDiffers(progress, state.lastPlan) else { return [line] }
            state.lastPlan = progress
            return [EventJSON.plan(progress), line]
        case .excluded(let key, let shown, let rule):
            return [EventJSON.excluded(key, shown: shown, rule)]
        case .warning(let message): return [EventJSON.warning(message)]
        case .retry(let retry): return [EventJSON.retry(retry)]
        case .finished(let summary): return [EventJSON.summary(summary)]
        }
    }

    private func planDiffers(_ new: RunProgress, _ old: RunProgress?) -> Bool {
        guard let old else { return true }
        return new.itemsPlanned != old.itemsPlanned || new.bytesPlanned != old.bytesPlanned
            || new.isPlanComplete != old.isPlanComplete
    }
}
