/// Takes away from a history that fails what it fails without: operations first, then faults.
struct Shrinker {
    /// Enough to get small, and not for ever.
    private var left = 900
    private var best: History
    /// The outcome if the history fails still.
    private let failure: (History) -> Outcome?

    private init(_ history: History, failure: @escaping (History) -> Outcome?) {
        best = history
        self.failure = failure
    }

    /// The smallest that was found; `failure` gives the outcome of a history that fails alike.
    static func shrink(
        _ history: History,
        failure: @escaping (History) -> Outcome?
    ) -> History {
        var shrinker = Shrinker(history, failure: failure)
        shrinker.shrinkOperations()
        shrinker.simplifyRuns()
        shrinker.simplifyRounds()
        shrinker.nameFaults()
        shrinker.shrinkOperations()
        return shrinker.best
    }

    private mutating func tries(_ candidate: History) -> Bool {
        guard left > 0, candidate != best else { return false }
        left -= 1
        guard failure(candidate) != nil else { return false }
        best = candidate
        return true
    }

    /// Delta debugging: ever smaller pieces are left out.
    private mutating func shrinkOperations() {
        var size = max(1, best.operations.count / 2)
        while true {
            var start = 0
            while start < best.operations.count {
                var candidate = best
                let end = min(start + size, candidate.operations.count)
                candidate.operations.removeSubrange(start..<end)
                if !tries(candidate) { start += size }
            }
            guard size > 1 else { break }
            size /= 2
        }
    }

    private mutating func simplifyRuns() {
        for index in best.operations.indices {
            guard case .run(let run) = best.operations[index] else { continue }
            for change in Self.simplifications(of: run) { tryChange(at: index, change) }
        }
    }

    private mutating func tryChange(at index: Int, _ change: (inout ToolRun) -> Void) {
        guard case .run(var run) = best.operations[index] else { return }
        change(&run)
        var candidate = best
        candidate.operations[index] = .run(run)
        _ = tries(candidate)
    }

    private static func simplifications(of run: ToolRun) -> [(inout ToolRun) -> Void] {
        var changes: [(inout ToolRun) -> Void] = [
            { $0.faults = .none }, { $0.interruption = nil }, { $0.meanwhile = [] },
            { $0.order = .oldestFirst }, { $0.connections = 1 }, { $0.deletesExtra = false },
            { $0.deletesKnown = false }, { $0.replacesLocalChanges = false },
            { $0.comparesContent = false }, { $0.conflicts = .keepBoth },
            { $0.trashDays = 7 }, { $0.allowsEmpty = false }, { $0.partSize = 1 << 20 },
            { $0.allowsRebinding = false }, { $0.isDryRun = false }, { $0.deletionPercent = 50 },
            { $0.rival = nil }, { $0.excluded = nil }, { $0.deletionLimit = nil },
            { $0.tool = nil },
        ]
        for kind in run.faults.rates.keys.sorted() {
            changes.append { $0.faults.rates[kind] = nil }
        }
        for index in run.meanwhile.indices.reversed() {
            changes.append { run in
                guard index < run.meanwhile.count else { return }
                run.meanwhile.remove(at: index)
            }
        }
        return changes
    }

    private mutating func simplifyRounds() {
        for index in best.operations.indices {
            guard case .nodes(.round(let round)) = best.operations[index] else { continue }
            for change in Self.simplifications(of: round) {
                guard case .nodes(.round(var round)) = best.operations[index] else { continue }
                change(&round)
                var candidate = best
                candidate.operations[index] = .nodes(.round(round))
                _ = tries(candidate)
            }
        }
        for change in Self.simplificationsOfNodes {
            guard var nodes = best.setup.nodes else { return }
            change(&nodes)
            var candidate = best
            candidate.setup.nodes = nodes
            _ = tries(candidate)
        }
    }

    private static func simplifications(of round: NodeRound) -> [(inout NodeRound) -> Void] {
        var changes: [(inout NodeRound) -> Void] = [
            { $0.failures = 0 }, { $0.order = .oldestFirst }, { $0.connections = 1 },
            { $0.latency = 30 }, { $0.late = [] }, { $0.leftOut = nil }, { $0.isFinished = false },
            { $0.tasks = 1 },
            { $0.deletes = false },
        ]
        for index in round.events.indices.reversed() {
            changes.append { round in
                guard index < round.events.count else { return }
                round.events.remove(at: index)
            }
        }
        return changes
    }

    private static let simplificationsOfNodes: [@Sendable (inout NodesSetup) -> Void] = [
        { $0.callsBetween = 0 }, { $0.attributeSeconds = nil }, { $0.locks = .everywhere },
        { nodes in
            for index in nodes.nodes.indices {
                nodes.nodes[index] = NodesSetup.Node(wallOffset: 0, uptime: 1_000)
            }
        },
    ]

    /// Says which faults strike, and takes away one by one.
    private mutating func nameFaults() {
        guard let outcome = failure(best) else { return }
        for (index, struck) in outcome.struck.sorted(by: { $0.key < $1.key }) {
            guard index < best.operations.count, !struck.isEmpty, struck.count < 60 else {
                continue
            }
            let before = best
            tryChange(at: index) { $0.faults.only = struck }
            guard best != before else { continue }
            for name in struck {
                tryChange(at: index) { $0.faults.only?.removeAll { $0 == name } }
            }
        }
    }
}
