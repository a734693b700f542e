internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

extension ShardedRun {
    /// One task, or all shards and then the end of the round.
    func perform(with options: RunOptions) async throws(TransferError) -> RunSummary {
        if options.isDryRun { return try await perform { [self] in try await preview() } }
        guard let selection = options.shard else {
            return try await perform { [self] in try await performAll() }
        }
        let round: Round
        do {
            let rules = try await acceptRules(of: selection.round)
            round = try Round.begin(
                selection.round,
                cutting,
                direction,
                options,
                rules,
                in: directory
            )
        } catch {
            throw TransferError(any: error)
        }
        return try await perform { [self] in
            try await perform(selection.numbers(among: cutting.count), round)
        }
    }

    private static let rulesTimeout = Duration.seconds(30)
    /// After which a user may wonder.
    private static let quietTime = Duration.seconds(5)

    /// The same by one of many tasks that begin at once: the first to do it begins the round, and
    /// then works on the shard that the others wait for; nil once the round has begun.
    private func acceptRules(of round: String) async throws -> IgnoreRules? {
        let start = settings.environment.monotonic()
        var isSaid = false
        while try Round.read(round, in: directory) == nil {
            do {
                return try await acceptRules(nil)
            } catch let error as TransferError where error.code == .locked {
                let waited = settings.environment.monotonic() - start
                guard waited < Self.rulesTimeout else { throw error }
                if !isSaid, waited >= Self.quietTime {
                    emit(
                        .warning(
                            message: "waiting for the beginning of round '\(round)': "
                                + error.message
                        )
                    )
                    isSaid = true
                }
                try await settings.environment.sleep(Self.lockInterval)
            }
        }
        return nil
    }

    /// The shards of one task.
    private func perform(_ numbers: [Int], _ round: Round) async throws {
        if numbers.isEmpty {
            begin()
            emit(
                .warning(
                    message: "this task has no shard: there are more tasks than shards, of which "
                        + "there are \(cutting.count)"
                )
            )
        }
        defer {
            let own = numbers.map { number in try? result(number, round) }
            var sums = ShardCounts(of: own, numbers, round)
            if (try? round.hasEnded(in: directory)) != true {
                sums.deletionsWaiting = own.reduce(0) { $0 + ($1?.check.deletions ?? 0) }
            }
            count { $0.shards = sums }
        }
        try await run(numbers, round, whole: nil)
    }

    /// All shards in turn, in a round of their own.
    private func performAll() async throws {
        let lock = try await lockWhole()
        defer { withExtendedLifetime(lock) {} }
        begin()
        let rules = try await acceptRules(lock)
        var ordinal = (try Round.newest(in: directory)?.ordinal ?? 0) + 1
        // A user may have named a round so.
        while try Round.read(Round.nameOfPlainRun(ordinal), in: directory) != nil { ordinal += 1 }
        let name = Round.nameOfPlainRun(ordinal)
        let round = try Round.begin(name, cutting, direction, options, rules, in: directory)
        try await run((0..<cutting.count).map { $0 }, round, whole: lock)
        guard summary.reachedLimit == nil else { return }
        try await finish(round, lock)
    }

    /// Accepts what the user has changed in the ignore file: the row that tells it from what a
    /// download brought, or from what the disk did to it, is in one shard's manifest.
    @discardableResult
    func acceptRules(_ whole: DirectoryLock?) async throws -> IgnoreRules {
        let number = cutting.number(of: IgnoreFile.key)
        var settings = settings
        settings.shard = shard(number, nil, whole: whole, nil)
        var options = options
        // Another task may be doing the same; who calls this tries again.
        if whole == nil { options.lockTimeout = .zero }
        let session = try await MirrorSession.open(
            settings,
            options,
            direction,
            mayFetchRules: false
        ) { [self] event in
            emit(event)
        }
        if session.rules.damaged != nil {
            emit(.warning(message: IgnoreFile.damagedMessage))
        }
        if session.lock != nil { try await session.manifest.checkpointAndClose() }
        withExtendedLifetime(session) {}
        return session.rules
    }

    /// Takes the mirror as a whole, once no run of a shard lives.
    func lockWhole() async throws -> DirectoryLock {
        let threads = settings.environment.threads
        let queue = BlockingQueue(label: "osssync.open", width: 1, threads: threads)
        let interruption = Interruption()
        let folders = (0..<cutting.count).map { cutting.folder($0) }
        let directory = directory
        let emit: @Sendable (String) -> Void = { [self] message in
            self.emit(.warning(message: message))
        }
        return try await withTaskCancellationHandler {
            try await queue.run { () throws(LocalError) -> DirectoryLock in
                let lock = try directory.lockWhole(unless: interruption, onWait: emit)
                try directory.requireIdle(
                    shards: folders,
                    lock,
                    unless: interruption,
                    onWait: emit
                )
                // What a killed process left there; a cut mirror has its downloads in its shards.
                try directory.sweepStateFiles()
                try directory.partials.remove(directory.partials.names())
                return lock
            }
        } onCancel: {
            interruption.raise()
        }
    }

    /// What each shard's run would do.
    private func preview() async throws {
        let rules = try await RoundRules(acceptRules(nil), in: directory)
        let numbers = options.shard?.numbers(among: cutting.count)
        var checks: [DeletionGuard] = []
        for number in numbers ?? cutting.numbers {
            let outcome = ShardOutcome()
            var settings = settings
            settings.shard = shard(number, rules, whole: nil, outcome)
            try await preview(settings)
            if let found = outcome.found { checks.append(found.check) }
        }
        guard options.shard == nil else { return }
        let check = DeletionGuard.sum(
            of: checks,
            direction,
            allowsEmpty: options.allowsEmpty,
            limit: options.deletionLimit
        )
        guard case .refused(let refusal) = check.verdict else { return }
        holdBack(refusal.message)
        if refusal.isSafetyRefusal { throw TransferError(code: .refused, message: refusal.message) }
    }

    private func preview(_ settings: MirrorSettings) async throws {
        let session = try await MirrorSession.open(
            settings,
            locks: false,
            allowsRebinding: options.allowsRebinding
        )
        _ = try await DryRun(setup(settings, session, options)).perform()
    }
}
