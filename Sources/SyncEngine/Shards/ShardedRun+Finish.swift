internal import LocalStorage
internal import ManifestStore
package import ObjectTransfer
package import SyncModel
internal import SyncPlanner

/// What ends a round: the proof over all shards, and then the deletions of each.
extension ShardedRun {
    /// The results of all shards in this round; nil in the place of one that has none.
    func results(_ round: Round) throws -> [ShardResult?] {
        try (0..<cutting.count).map { number in
            let result = try ShardResult.read(cutting.folder(number), in: directory)
            guard let result, result.round == round.name, result.cutting == cutting.name,
                result.check.direction == round.direction
            else { return nil }
            return result
        }
    }

    /// Deletes what all shards have planned, if each has a result of this round and nothing in
    /// their sums is against it.
    ///
    /// Killed anywhere, it does the rest when it is called again.
    func finish(_ round: Round, _ whole: DirectoryLock) async throws {
        let found = try results(round)
        let missing = found.indices.filter { found[$0] == nil }
        count { summary in
            summary.shards = ShardCounts(
                count: cutting.count,
                complete: found.count { $0?.isComplete == true },
                missing: missing,
                round: round.name
            )
        }
        guard missing.isEmpty else {
            return holdBack(
                "\(missing.count) of \(cutting.count) shards have no result of round "
                    + "'\(round.name)' (\(Self.listed(missing))); nothing was deleted. Run them"
                    + " again, and then finish"
            )
        }
        let results = found.compactMap { $0 }
        let check = DeletionGuard.sum(
            of: results.map(\.check),
            round.direction,
            allowsEmpty: options.allowsEmpty,
            limit: options.deletionLimit
        )
        switch check.verdict {
        case .refused(let refusal):
            holdBack(refusal.message)
            count { $0.shards?.deletionsWaiting = check.deletions }
            if refusal.isSafetyRefusal {
                throw SyncError(code: .refused, message: refusal.message)
            }
        case .allowed:
            try await delete(results, round, whole)
            guard summary.failed == 0 else { return }
            try round.end(
                [
                    ("shards", cutting.count), ("deletions", check.deletions),
                    ("transferred", results.reduce(0) { $0 + $1.transferred }),
                ],
                in: directory
            )
        }
        adviseCutting(results)
    }

    private func holdBack(_ message: String) {
        count { $0.deletionsHeldBack = message }
    }

    /// In descending key order: what a directory holds, in later shards, goes before the directory.
    private func delete(
        _ results: [ShardResult],
        _ round: Round,
        _ whole: DirectoryLock
    ) async throws {
        var emptied: Set<RelativePath> = []
        for number in cutting.numbers.reversed() {
            try Task.checkCancellation()
            let range = cutting.rangesByNumber[number]
            let own = emptied.filter { range.contains($0.key) }
            emptied.subtract(own)
            let result = results[number]
            guard result.check.deletions > 0 || !own.isEmpty || result.mayConfirm else { continue }
            let outcome = ShardOutcome()
            var shard = shard(number, round, whole: whole, outcome)
            shard.isFinishing = true
            let (run, _) = try await open(shard, options)
            _ = try await run.finishShard(confirms: result.mayConfirm, emptied: own)
            emptied.formUnion(outcome.emptied)
        }
    }

    /// Says when some shards have come to be much larger than others: an array ends with its
    /// slowest task.
    private func adviseCutting(_ results: [ShardResult]) {
        let sizes = results.map { max($0.check.rows, $0.check.listedObjects) }
        let median = sizes.sorted()[sizes.count / 2]
        guard let largest = sizes.max(), largest > 4 * median, largest > Self.adviceFrom else {
            return
        }
        emit(
            .warning(
                message: "the largest shard has \(largest) entries, more than four times the "
                    + "median of \(median); cut anew with 'osssync shard'"
            )
        )
    }

    private static let adviceFrom = 100_000
    private static let listedAtMost = 10

    private static func listed(_ numbers: [Int]) -> String {
        let shown = numbers.prefix(listedAtMost).map { String($0) }.joined(separator: ", ")
        return numbers.count > listedAtMost ? shown + ", …" : shown
    }
}

// MARK: - What a user asks for

extension MirrorEngine {
    /// The run over shards that the options ask for; nil if the mirror is not cut.
    func shardedRun(
        _ direction: SyncDirection,
        _ options: RunOptions,
        _ onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) throws(SyncError) -> ShardedRun? {
        guard let directory = try Cutting.openIfThere(settings),
            let cutting = try Cutting.read(in: directory)
        else {
            guard options.shard == nil else { throw isNotCut }
            return nil
        }
        let unsupported: String? =
            if !options.paths.isEmpty { "PATHs" } else if options.plan != nil {
                "a saved plan"
            } else if options.shard != nil, options.allowsRebinding { "--rebind" } else { nil }
        if let unsupported {
            throw SyncError(
                code: .configuration,
                message: "'\(displayText(settings.directory.utf8))' is cut into \(cutting.count) "
                    + "shards, and \(unsupported) cannot be used with "
                    + (options.shard == nil ? "a cut mirror" : "--shard; run once without it")
            )
        }
        return ShardedRun(settings, cutting, direction, options, in: directory, onEvent: onEvent)
    }

    fileprivate var isNotCut: SyncError {
        SyncError(
            code: .configuration,
            message: "'\(displayText(settings.directory.utf8))' is not cut into shards; "
                + "'osssync shard DIR REMOTE' cuts it"
        )
    }

    /// Ends a round: deletes what the runs of all shards have planned, if all of them have ended
    /// and nothing speaks against it.
    ///
    /// - Parameters:
    ///   - options: Limits of deletions, and how many connections are used; what is mirrored is
    ///     what the round's runs were asked for, and must be the same here.
    /// - Throws: `locked` while a run of a shard lives.
    package func finish(
        round name: String,
        _ direction: SyncDirection,
        options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(SyncError) -> RunSummary {
        try Round.check(name)
        guard let run = try shardedRun(direction, options, onEvent) else { throw isNotCut }
        return try await run.perform {
            let lock = try await run.lockWhole()
            defer { withExtendedLifetime(lock) {} }
            guard let round = try Round.read(name, in: run.directory) else {
                throw SyncError(
                    code: .configuration,
                    message: "there is no round '\(name)': no task with this --round has begun"
                )
            }
            try round.require(run.cutting, direction, options, in: run.directory)
            try await run.acceptRules(lock)
            try await run.finish(round, lock)
        }
    }

    /// The round of the name, or the newest; nil if there is none.
    package func round(_ name: String?) throws(SyncError) -> RoundReport? {
        do {
            guard let directory = try Cutting.openIfThere(settings) else { return nil }
            if let name { try Round.check(name) }
            let round =
                try name.map { try Round.read($0, in: directory) }
                ?? Round.newest(in: directory)
            return try round.map {
                RoundReport(
                    name: $0.name,
                    direction: $0.direction,
                    command: $0.command,
                    isFinished: try $0.hasEnded(in: directory)
                )
            }
        } catch {
            throw SyncError(any: error)
        }
    }

    /// The shards in key order; nil if the mirror is not cut.
    package func shards() throws(SyncError) -> [ShardState]? {
        guard let directory = try Cutting.openIfThere(settings),
            let cutting = try Cutting.read(in: directory)
        else { return nil }
        var states: [ShardState] = []
        for (range, number) in zip(cutting.ranges, cutting.numbers) {
            let result = try ShardResult.read(cutting.folder(number), in: directory)
            states.append(
                ShardState(
                    number: number,
                    firstKey: range.lower.bytes,
                    endKey: range.upper?.bytes,
                    round: result?.round,
                    isComplete: result?.isComplete ?? false,
                    recorded: result?.check.rows,
                    deletionsWaiting: result?.check.deletions ?? 0
                )
            )
        }
        return states
    }
}

extension ShardedRun {
    /// One task, or all shards and then the end of the round.
    func perform(with options: RunOptions) async throws(SyncError) -> RunSummary {
        if options.isDryRun { return try await perform { [self] in try await preview() } }
        guard let selection = options.shard else {
            return try await perform { [self] in try await performAll() }
        }
        let round: Round
        do {
            if try Round.read(selection.round, in: directory) == nil {
                try await acceptRules(nil)
            }
            round = try Round.begin(selection.round, cutting, direction, options, in: directory)
        } catch {
            throw SyncError(any: error)
        }
        return try await perform { [self] in
            try await perform(selection.numbers(among: cutting.count), round)
        }
    }

    private static let rulesTimeout = Duration.seconds(30)

    /// The shards of one task.
    private func perform(_ numbers: [Int], _ round: Round) async throws {
        if numbers.isEmpty {
            emit(
                .warning(
                    message: "there are only \(cutting.count) shards, so this task has none"
                )
            )
        }
        defer {
            let found = try? results(round)
            let own = numbers.map { found?[$0] }
            count { summary in
                summary.shards = ShardCounts(
                    count: numbers.count,
                    complete: own.count { $0?.isComplete == true },
                    missing: zip(numbers, own).filter { $1 == nil }.map { $0.0 },
                    round: round.name,
                    deletionsWaiting: own.reduce(0) { $0 + ($1?.check.deletions ?? 0) }
                )
            }
        }
        try await run(numbers, round, whole: nil)
    }

    /// All shards in turn, in a round of their own.
    private func performAll() async throws {
        let lock = try await lockWhole()
        defer { withExtendedLifetime(lock) {} }
        try await acceptRules(lock)
        let newest = try Round.newest(in: directory)
        let name = "run-\((newest?.ordinal ?? 0) + 1)"
        let round = try Round.begin(name, cutting, direction, options, in: directory)
        try await run((0..<cutting.count).map { $0 }, round, whole: lock)
        guard summary.reachedLimit == nil else { return }
        try await finish(round, lock)
    }

    /// Accepts what the user has changed in the ignore file: the row that tells it from what a
    /// download brought is in one shard's manifest.
    func acceptRules(_ whole: DirectoryLock?) async throws {
        let number = cutting.number(of: IgnoreFile.key)
        var settings = settings
        settings.shard = Shard(
            number: number,
            range: cutting.rangesByNumber[number],
            folder: cutting.folder(number),
            rules: nil,
            whole: whole,
            outcome: nil
        )
        var options = options
        // Another task may be doing the same.
        if whole == nil { options.lockTimeout = Self.rulesTimeout }
        let session = try await MirrorEngine(settings: settings).open(
            options,
            mayFetchRules: false
        ) { [self] event in
            emit(event)
        }
        try await session.manifest.checkpointAndClose()
        withExtendedLifetime(session) {}
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
                let lock = try directory.lock(unless: interruption, onWait: emit)
                try directory.requireIdle(
                    shards: folders,
                    lock,
                    unless: interruption,
                    onWait: emit
                )
                return lock
            }
        } onCancel: {
            interruption.raise()
        }
    }

    /// What each shard's run would do.
    private func preview() async throws {
        let rules = try RoundRules(in: directory)
        let numbers = options.shard?.numbers(among: cutting.count)
        for number in numbers ?? cutting.numbers {
            var settings = settings
            settings.shard = Shard(
                number: number,
                range: cutting.rangesByNumber[number],
                folder: cutting.folder(number),
                rules: rules,
                whole: nil,
                outcome: nil
            )
            try await preview(settings)
        }
    }

    private func preview(_ settings: MirrorSettings) async throws {
        let session = try await MirrorSession.open(
            settings,
            locks: false,
            allowsRebinding: options.allowsRebinding
        )
        var run = try MirrorRun(
            settings: settings,
            session: session,
            direction: direction,
            options: options,
            onEvent: { [self] event in forward(event) }
        )
        try await run.acceptMounts()
        _ = try await run.preview()
    }
}
