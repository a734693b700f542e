internal import LeaseExploration

/// Explores what processes can do that want one lease: `--leases N` for N of them.
enum LeaseRuns {
    /// What is explored of three processes, whose states are too many.
    private static let limit = 5_000_000

    static func run(_ processes: Int) -> Int32 {
        var failed = 0
        var passed = 0
        // It shows only here: many steps are needed.
        var planted = explorations(2)[1]
        planted.takings = 3
        planted.looksAhead = false
        planted.planted = .unsettledIsFollowedAtOnce
        let isFound = planted.explore().violation?.kind == .twoHolders
        if isFound { passed += 1 } else { failed += 1 }
        print("a planted error is \(isFound ? "" : "not ")found")
        for exploration in explorations(processes) {
            let result = exploration.explore()
            let isWrong = result.violation != nil || result.acting.allSatisfy { $0 == 0 }
            failed += isWrong ? 1 : 0
            passed += isWrong ? 0 : 1
            print(
                "\(processes) processes \(exploration.machines.rawValue), "
                    + (exploration.restarts ? "killed and started again" : "that stop and go on")
                    + ", clocks that \(exploration.clocksLag > 0 ? "lag" : "agree"), "
                    + "\(exploration.takings) claims: \(result.states) states to the depth "
                    + "\(result.depth)\(result.isComplete ? ", which are all" : "")"
            )
            if let violation = result.violation { print("violated: \(violation)") }
        }
        print("\(passed) passed, \(failed) failed")
        return failed == 0 ? 0 : 1
    }

    private static func explorations(_ processes: Int) -> [LeaseExploration] {
        var agreeing = LeaseExploration(
            processes: processes,
            timing: LeaseExploration.timing(beat: 0, trust: 1, observation: 3, settling: 2)
        )
        agreeing.takings = processes
        agreeing.limit = limit
        // With the distances that the real times have.
        var real = agreeing
        real.timing = LeaseExploration.timing(beat: 1, trust: 3, observation: 6, settling: 4)
        real.restarts = false
        var lagging = agreeing
        lagging.timing = LeaseExploration.timing(beat: 0, trust: 1, observation: 4, settling: 3)
        lagging.restarts = false
        lagging.clocksLag = 5
        return [agreeing, real, lagging].flatMap { exploration in
            LeaseExploration.Machines.allCases.filter {
                // Without an end of a process it is the same everywhere.
                exploration.restarts || $0 == .apart
            }.map { machines in
                var exploration = exploration
                exploration.machines = machines
                return exploration
            }
        }
    }
}
