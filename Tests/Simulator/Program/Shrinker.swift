/// Takes away from a history that fails what it fails without: operations first, then faults.
struct Shrinker {
    /// Enough to get small, and not for ever.
    private static let attempts = 600

    /// The outcome if the history fails still.
    private let failure: (History) -> Outcome?

    init(failure: @escaping (History) -> Outcome?) {
        self.failure = failure
    }

    func shrink(_ history: History) -> History {
        var left = Self.attempts
        var best = history
        func tries(_ candidate: History) -> Bool {
            guard left > 0, candidate != best else { return false }
            left -= 1
            guard failure(candidate) != nil else { return false }
            best = candidate
            return true
        }
        shrinkOperations(&best, tries)
        simplifyRuns(&best, tries)
        nameFaults(&best, tries)
        shrinkOperations(&best, tries)
        return best
    }

    /// Delta debugging: ever smaller pieces are left out.
    private func shrinkOperations(_ best: inout History, _ tries: (History) -> Bool) {
        var size = max(1, best.operations.count / 2)
        while size >= 1 {
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

    private func simplifyRuns(_ best: inout History, _ tries: (History) -> Bool) {
        for index in best.operations.indices {
            guard index < best.operations.count, case .run(let run) = best.operations[index]
            else { continue }
            for change in Self.simplifications(of: run) {
                guard case .run(var current) = best.operations[index] else { continue }
                change(&current)
                var candidate = best
                candidate.operations[index] = .run(current)
                _ = tries(candidate)
            }
        }
    }

    private static func simplifications(of run: ToolRun) -> [(inout ToolRun) -> Void] {
        var changes: [(inout ToolRun) -> Void] = [
            { $0.faults = .none }, { $0.interruption = nil }, { $0.meanwhile = [] },
            { $0.order = .oldestFirst }, { $0.connections = 1 }, { $0.deletesExtra = false },
            { $0.deletesKnown = false }, { $0.replacesLocalChanges = false },
            { $0.comparesContent = false }, { $0.conflicts = .keepBoth }, { $0.isDurable = true },
            { $0.trashDays = 7 }, { $0.allowsEmpty = false }, { $0.partSize = 1 << 20 },
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

    /// Says which faults strike, and takes away one by one.
    private func nameFaults(_ best: inout History, _ tries: (History) -> Bool) {
        guard let outcome = failure(best) else { return }
        for (index, struck) in outcome.struck.sorted(by: { $0.key < $1.key }) {
            guard index < best.operations.count, case .run(var run) = best.operations[index],
                !struck.isEmpty, struck.count < 60
            else { continue }
            run.faults.only = struck
            var candidate = best
            candidate.operations[index] = .run(run)
            guard tries(candidate) else { continue }
            for name in struck {
                guard case .run(var current) = best.operations[index] else { break }
                current.faults.only?.removeAll { $0 == name }
                var candidate = best
                candidate.operations[index] = .run(current)
                _ = tries(candidate)
            }
        }
    }
}
