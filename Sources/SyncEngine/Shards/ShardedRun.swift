internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// A run over shards of a cut mirror: some of them, as one of many tasks, or all of them and then
/// the step that proves them and deletes.
///
/// A task never deletes. What it would delete stays planned in its shards' manifests until
/// `finish` has a result of this round from every shard and one guard over their sums allows it.
final class ShardedRun: Sendable {
    let settings: MirrorSettings
    let cutting: Cutting
    /// Of each shard, by its number.
    let ranges: [KeyRange]
    let direction: SyncDirection
    let options: RunOptions
    let directory: MirrorDirectory
    private let onEvent: @Sendable (SyncEvent) -> Void
    private let state: Mutex<State>
    private let started: Duration

    private struct State {
        var summary: RunSummary
        var warnings: Set<String> = []
        var hasBegun = false
    }

    init(
        _ settings: MirrorSettings,
        _ cutting: Cutting,
        _ direction: SyncDirection,
        _ options: RunOptions,
        in directory: MirrorDirectory,
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) {
        self.settings = settings
        self.cutting = cutting
        ranges = cutting.rangesByNumber
        self.direction = direction
        self.options = options
        self.directory = directory
        self.onEvent = onEvent
        state = Mutex(State(summary: RunSummary(direction: direction)))
        started = settings.environment.monotonic()
    }

    var summary: RunSummary { state.withLock { $0.summary } }

    func count(_ body: (inout RunSummary) -> Void) {
        state.withLock { body(&$0.summary) }
    }

    func emit(_ event: SyncEvent) { onEvent(event) }

    /// Says that the run begins, once, when it has its lock: one that never had it has not begun.
    func begin() {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else { return }
        onEvent(
            .started(
                direction: direction,
                directory: settings.directory,
                remote: settings.displayRemote
            )
        )
    }

    /// Runs `body`, and says at its begin and end what a plain run says.
    func perform(
        _ body: () async throws -> Void
    ) async throws(TransferError) -> RunSummary {
        var failure: TransferError?
        do {
            try await body()
        } catch {
            failure = TransferError(any: error)
        }
        if let failure, failure.code == .locked, !state.withLock({ $0.hasBegun }) { throw failure }
        begin()
        count { summary in
            summary.seconds = (settings.environment.monotonic() - started).inSeconds
            if let failure { (summary.stopped, summary.reachedLimit) = (failure.message, nil) }
        }
        let summary = summary
        onEvent(.finished(summary))
        if let failure { throw failure }
        return summary
    }

    /// Events of one shard's run as those of the whole.
    func forward(_ event: SyncEvent) {
        switch event {
        case .started: begin()
        case .finished(let summary):
            count { $0.add(summary) }
        case .warning(let message):
            let isNew = state.withLock { $0.warnings.insert(message).inserted }
            if isNew { onEvent(event) }
        case .item, .progress, .excluded, .retry: onEvent(event)
        }
    }

    /// How often a shard that another process holds is tried again, and for how long: one that
    /// begins the round, or ends, or asks who holds it, holds it only for a moment.
    static let lockInterval = Duration.milliseconds(250)
    private static let lockPatience = Duration.seconds(3)

    /// Does shards of a round; those that it is done with already are passed over.
    ///
    /// - Throws: What ended a shard's run. A shard that another process works on is left to that,
    ///   and said at the end, if it is still so some seconds after all others are done.
    func run(_ numbers: [Int], _ round: Round, whole: DirectoryLock?) async throws {
        var left = numbers
        var end: Duration?
        while true {
            var busy: (numbers: [Int], reason: TransferError)?
            for number in left {
                try Task.checkCancellation()
                if let result = try ShardResult.read(cutting.folder(number), in: directory),
                    result.isOf(round), result.isComplete
                {
                    continue
                }
                do throws(TransferError) {
                    try await run(number, round, whole: whole)
                } catch {
                    guard error.code == .locked else { throw error }
                    busy = ((busy?.numbers ?? []) + [number], busy?.reason ?? error)
                }
                if summary.reachedLimit != nil { return }
            }
            guard let busy else { return }
            let now = settings.environment.monotonic()
            let last = end ?? now + Self.lockPatience
            guard now < last else { throw busy.reason }
            (left, end) = (busy.numbers, last)
            try await settings.environment.sleep(Self.lockInterval)
        }
    }

    private func run(
        _ number: Int,
        _ round: Round,
        whole: DirectoryLock?
    ) async throws(TransferError) {
        let outcome = ShardOutcome()
        let shard = shard(number, round.rules, whole: whole, outcome)
        do {
            let (run, folder) = try await open(shard, options(left: options))
            // Its lock is held until the result is written.
            defer { withExtendedLifetime(run) {} }
            // Another process may have done it while this one waited for the lock.
            if let result = try result(number, round), result.isComplete { return }
            // Its deletions are judged, by numbers that this run would change.
            guard try !round.hasEnded(in: directory) else { throw round.refusal("it has ended") }
            // From here on the last result is no longer true.
            try folder.remove(ShardResult.fileName)
            // Another may have begun while this one waited for the lock.
            try round.requireCurrent(cutting, in: directory)
            let split = try await splitName(at: shard.range.lower)
            let summary = try await run.perform()
            guard summary.stopped == nil, let found = outcome.found else { return }
            if let split { report(split) }
            let waiting = found.waiting
            let result = ShardResult(
                round: round.name,
                cutting: cutting.name,
                check: check(found.check, split),
                problems: max(0, summary.failed + summary.conflicts + summary.skipped - waiting)
                    + summary.damaged + (summary.deletionsHeldBack == nil ? 0 : 1)
                    + (split == nil ? 0 : 1),
                waiting: waiting,
                mayConfirm: found.mayConfirm,
                transferred: summary.transferred,
                bytes: summary.bytes,
                isInStep: summary.isInStep && split == nil,
                notMirrored: summary.notMirrored,
                recorded: found.recorded
            )
            // Another machine may have taken the shard over since the run's last look.
            if let loss = await run.setup.lease?.loss() { throw loss }
            try folder.write(ShardResult.fileName, result.content)
        } catch {
            throw TransferError(any: error)
        }
    }

    func shard(
        _ number: Int,
        _ rules: RoundRules?,
        whole: DirectoryLock?,
        _ outcome: ShardOutcome?
    ) -> Shard {
        Shard(
            number: number,
            range: ranges[number],
            cutting: cutting,
            rules: rules,
            whole: whole,
            outcome: outcome
        )
    }

    /// A run of a shard with its lock taken, and the directory of the shard's files.
    func open(_ shard: Shard, _ options: RunOptions) async throws -> (MirrorRun, StateFolder) {
        guard let folder = try directory.state.folder(shard.folder, makes: false) else {
            throw Cutting.damaged(shard.folder.joined(separator: "/"))
        }
        var settings = settings
        settings.shard = shard
        let session = try await MirrorSession.open(
            settings,
            options,
            direction,
            mayFetchRules: false,
            onEvent
        )
        try session.requirePlaces(settings, direction, options)
        return (MirrorRun(try await setup(settings, session, options)), folder)
    }

    /// The setup of the shard that the settings name, whose events are those of the whole.
    func setup(
        _ settings: MirrorSettings,
        _ session: MirrorSession,
        _ options: RunOptions
    ) async throws -> RunSetup {
        var setup = try RunSetup(settings, session, direction, options) { [self] event in
            forward(event)
        }
        try await setup.acceptMounts()
        return setup
    }

    /// Limits of a run hold for all of its shards together.
    private func options(left options: RunOptions) -> RunOptions {
        var options = options
        let used = summary
        if let most = options.maximumTransfer {
            options.maximumTransfer = max(1, most - used.bytes)
        }
        if let most = options.maximumDuration {
            let passed = settings.environment.monotonic() - started
            options.maximumDuration = max(.milliseconds(1), most - passed)
        }
        return options
    }
}

// MARK: - A name that lies on both sides of a cut

extension ShardedRun {
    /// A file, or an object, whose name is that of a directory on the other side of the cut; nil if
    /// there is none.
    ///
    /// None of the two shards sees both, so neither can say which of them is to stay.
    private func splitName(at bound: ObjectKey) async throws -> ObjectKey? {
        for key in bound.possibleFiles {
            if try await SplitCheck(settings, directory).isFile(key) { return key }
        }
        return nil
    }

    private func report(_ key: ObjectKey) {
        count { $0.failed += 1 }
        emit(
            .warning(
                message: "'\(key.display)' is a file or an object, and two shards have keys "
                    + "beneath it: nothing is deleted until 'osssync shard' is run again"
            )
        )
    }

    private func check(_ check: DeletionGuard, _ split: ObjectKey?) -> DeletionGuard {
        var check = check
        if split != nil { check.failedItems += 1 }
        return check
    }
}
