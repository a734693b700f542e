/// What a history came to.
struct Outcome {
    let violations: [Violation]
    let hash: UInt64
    let lines: [String]
    let statistics: Statistics
    /// Faults that struck, by the number of the operation whose run they struck.
    let struck: [Int: [String]]

    var isSuccess: Bool { violations.isEmpty }
}

/// Plays histories, each in a world of its own.
enum Player {
    /// What a process remembers is there before its first history, which is played as all others
    /// are.
    private static let isWarm: Bool = {
        World(
            History(seed: 0, setup: Setup(), operations: [], ending: .pull),
            keepsTrace: false
        ).play()
        return true
    }()

    static func play(_ history: History, keepsTrace: Bool = false) -> Outcome {
        precondition(isWarm, "it was played")
        let world = World(history, keepsTrace: keepsTrace)
        world.play()
        return Outcome(
            violations: world.violations,
            hash: world.scheduler.trace.hash,
            lines: world.scheduler.trace.lines,
            statistics: world.statistics,
            struck: world.struck
        )
    }

    /// Plays twice; the second time must be the first one again.
    static func playTwice(_ history: History) -> Outcome {
        let first = play(history)
        let second = play(history)
        guard first.hash != second.hash else { return first }
        let (left, right) = (play(history, keepsTrace: true), play(history, keepsTrace: true))
        let place = zip(left.lines, right.lines).first { $0 != $1 }
        let different = Violation(
            promise: .determinism,
            what: "two runs of seed \(history.seed) differ: "
                + (place.map { "'\($0)' and '\($1)'" } ?? "not in their lines")
        )
        return Outcome(
            violations: first.violations + [different],
            hash: first.hash,
            lines: [],
            statistics: first.statistics,
            struck: first.struck
        )
    }
}
