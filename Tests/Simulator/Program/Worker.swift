internal import Foundation

#if canImport(Glibc)
internal import Glibc
#endif

/// Plays a range of seeds and says of each how it went, line by line.
struct Worker {
    /// A seed that takes longer hangs; of the processor's time, as the machine may be busy.
    private static let secondsForSeed = 60
    /// Of so many seeds one is played twice.
    private static let samples: UInt64 = 25

    private let arguments: Arguments

    init(_ arguments: Arguments) {
        self.arguments = arguments
    }

    func work() -> Int32 {
        var statistics = Statistics()
        for seed in arguments.seeds {
            Self.limitTime(Self.secondsForSeed)
            print("begin \(seed)")
            // Whoever ends by a trap has said which seed it was.
            fflush(nil)
            let history = arguments.history(seed)
            let isSample = seed % Self.samples == 0
            let outcome = isSample ? Player.playTwice(history) : Player.play(history)
            statistics.add(outcome.statistics)
            if outcome.isSuccess {
                print("pass \(seed)")
            } else {
                Self.limitTime(0)
                tell(history, outcome)
            }
        }
        Self.limitTime(0)
        if let data = try? JSONEncoder().encode(statistics) {
            print("statistics " + String(decoding: data, as: UTF8.self))
        }
        return 0
    }

    /// Ends the process after so much of the processor's time; 0: never.
    private static func limitTime(_ seconds: Int) {
        var limit = itimerval()
        limit.it_value.tv_sec = seconds
        _ = unsafe setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &limit, nil)
    }

    private func tell(_ history: History, _ outcome: Outcome) {
        for violation in outcome.violations.prefix(5) { print("violated \(violation)") }
        guard arguments.shrinks else {
            print("fail \(history.seed)")
            return
        }
        if Player.play(history).hash != outcome.hash {
            print("violated two runs of seed \(history.seed) differ")
        }
        let promise = outcome.violations.first?.promise
        let shrunk = Shrinker.shrink(history) { candidate in
            let found = Player.play(candidate)
            return found.violations.contains { $0.promise == promise } ? found : nil
        }
        let path = arguments.keep + "/\(arguments.fileKind)-\(history.seed).json"
        if HistoryFile.write(shrunk, to: path) {
            print("shrunk to \(shrunk.operations.count) operations: \(path)")
        }
        print("fail \(history.seed)")
    }
}
