internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What ends a round: the proof over all shards, and then the deletions of each.
extension ShardedRun {
    /// The results of all shards in this round; nil in the place of one that has none.
    func results(_ round: Round) throws -> [ShardResult?] {
        try (0..<cutting.count).map { number in
            try result(number, round)
        }
    }

    func result(_ number: Int, _ round: Round) throws(TransferError) -> ShardResult? {
        let result = try ShardResult.read(cutting.folder(number), in: directory)
        return result.flatMap { $0.isOf(round) ? $0 : nil }
    }

    /// Deletes what all shards have planned, if each has a result of this round and nothing in
    /// their sums is against it.
    ///
    /// Killed anywhere, it does the rest when it is called again.
    func finish(_ round: Round, _ whole: DirectoryLock) async throws {
        let found = try results(round)
        let sums = ShardCounts(of: found, [Int](found.indices), round)
        count { $0.shards = sums }
        let missing = sums.missing
        guard missing.isEmpty else {
            let (verb, noun) = missing.count == 1 ? ("has", "shard") : ("have", "shards")
            return holdBack(
                "\(missing.count) of \(cutting.count) shards \(verb) no result of round "
                    + "'\(round.name)' (\(noun) \(Self.listed(missing))); nothing was deleted. Run "
                    + "the round's tasks again, and then finish"
            )
        }
        let results = found.compactMap { $0 }
        reportUndone(results)
        // A run over all shards has counted them.
        count { summary in
            guard summary.notMirrored == 0 else { return }
            summary.notMirrored = results.reduce(0) { $0 + $1.notMirrored }
        }
        let check = DeletionGuard.sum(
            of: results.map(\.check),
            round.direction,
            allowsEmpty: options.allowsEmpty,
            limit: options.deletionLimit
        )
        // Deleted once, the same numbers are no reason to refuse. The shards are opened again: the
        // first time may have failed to close one.
        let isRepeated =
            try round.end(in: directory)?.deletions == check.deletions
            && results.allSatisfy(\.isComplete)
        switch isRepeated ? .allowed : check.verdict {
        case .refused(let refusal):
            holdBack(refusal.message)
            count { $0.shards?.deletionsWaiting = check.deletions }
            if refusal.isSafetyRefusal {
                throw TransferError(code: .refused, message: refusal.message)
            }
        case .allowed:
            try await delete(results, round, whole)
            guard summary.isWithoutProblems else { return }
            let now = settings.environment.now()
            try round.end(deletions: check.deletions, at: now, in: directory)
        }
        adviseCutting(results)
    }

    /// Says which tasks could not do all of their items.
    private func reportUndone(_ results: [ShardResult]) {
        let undone = results.indices.filter { !results[$0].isComplete }
        // A run over all shards has said of each item what it is.
        guard !undone.isEmpty, summary.failed + summary.conflicts + summary.skipped == 0 else {
            return
        }
        emit(
            .warning(
                message: "not all is done in \(undone.count == 1 ? "shard" : "shards") "
                    + "\(Self.listed(undone)): items failed, were skipped or are in conflict. "
                    + "Run its task again, and then finish"
            )
        )
    }

    func holdBack(_ message: String) {
        count { $0.deletionsHeldBack = message }
    }

    /// In descending key order: what a directory holds, in later shards, goes before the directory.
    private func delete(
        _ results: [ShardResult],
        _ round: Round,
        _ whole: DirectoryLock
    ) async throws {
        let parted =
            round.direction == .push
            ? nil : try PartedDirectories(cutting, options, in: directory)
        if results.contains(where: { $0.check.deletions > 0 }) { try parted?.note() }
        for number in cutting.numbers.reversed() {
            try Task.checkCancellation()
            let own = try parted?.emptied(in: ranges[number]) ?? []
            let result = results[number]
            guard result.check.deletions > 0 || !own.isEmpty || result.mayConfirm else { continue }
            var shard = shard(number, round.rules, whole: whole, ShardOutcome())
            shard.isFinishing = true
            let (run, _) = try await open(shard, options)
            _ = try await run.finishShard(confirms: result.mayConfirm, emptied: own)
        }
        if summary.isWithoutProblems { try parted?.forget() }
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
                    + "median of \(median); run 'osssync shard' to balance them"
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
