internal import Foundation

#if canImport(Glibc)
internal import Glibc
#endif

/// Plays the whole engine against a world that is made of a seed; see `docs/testing.md`.
@main
struct Simulator {
    static func main() {
        guard let arguments = Arguments(Array(CommandLine.arguments.dropFirst())) else {
            print(Arguments.usage)
            exit(2)
        }
        hashAlike()
        if let count = arguments.plannerCases {
            exit(PlannerCases.run(count, from: arguments.seeds.lowerBound))
        }
        if let count = arguments.leases { exit(LeaseRuns.run(count)) }
        if let seeds = arguments.machines {
            exit(TwoMachines.run(seeds, showsTrace: arguments.showsTrace))
        }
        if arguments.isWorker { exit(Worker(arguments).work()) }
        if let seed = arguments.single {
            exit(show(arguments.history(seed), arguments))
        }
        if !arguments.replays.isEmpty || arguments.regressions != nil {
            exit(replay(arguments))
        }
        exit(Supervisor(arguments).run())
    }

    /// Begins anew with hashes that are the same in every process.
    private static func hashAlike() {
        let name = "SWIFT_DETERMINISTIC_HASHING"
        guard ProcessInfo.processInfo.environment[name] == nil else { return }
        unsafe setenv(name, "1", 1)
        var words = unsafe CommandLine.arguments.map { unsafe strdup($0) } + [nil]
        _ = unsafe execv("/proc/self/exe", &words)
    }

    private static func show(_ history: History, _ arguments: Arguments) -> Int32 {
        let outcome = Player.play(history, keepsTrace: arguments.showsTrace)
        for line in outcome.lines { print(line) }
        for violation in outcome.violations { print("violated: \(violation)") }
        print("hash \(String(outcome.hash, radix: 16))")
        print(outcome.isSuccess ? "1 passed, 0 failed" : "0 passed, 1 failed")
        return outcome.isSuccess ? 0 : 1
    }

    private static func replay(_ arguments: Arguments) -> Int32 {
        var files = arguments.replays
        if let folder = arguments.regressions {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            files += names.filter { $0.hasSuffix(".json") }.sorted().map { folder + "/" + $0 }
        }
        var failed = 0
        for file in files {
            guard let history = HistoryFile.read(file) else {
                print("\(file): cannot be read")
                failed += 1
                continue
            }
            if arguments.showsTrace {
                failed += Int(show(history, arguments))
                continue
            }
            let outcome = Player.playTwice(history)
            for violation in outcome.violations { print("\(file): violated: \(violation)") }
            if !outcome.isSuccess { failed += 1 }
        }
        print("\(files.count - failed) passed, \(failed) failed")
        return failed == 0 ? 0 : 1
    }
}
