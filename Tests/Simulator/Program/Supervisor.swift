internal import Foundation

/// Gives seeds to worker processes, so that a trap is the failure of one seed and every core works.
struct Supervisor {
    private static let seedsAtOnce: UInt64 = 100

    private let arguments: Arguments

    init(_ arguments: Arguments) {
        self.arguments = arguments
    }

    /// Passed, failed, and what was met.
    private struct Sum {
        var passed = 0
        var failed: [UInt64] = []
        /// Seeds that no worker said anything of.
        var unplayed = 0
        var statistics = Statistics()
    }

    func run() -> Int32 {
        var sum = Sum()
        let start = Date()
        var next = arguments.seeds.lowerBound
        let end = arguments.minutes == nil ? arguments.seeds.upperBound : UInt64.max
        let deadline = arguments.minutes.map { start.addingTimeInterval(Double($0) * 60) }
        var workers: [Int: RunningWorker] = [:]
        while true {
            let isTimeLeft = deadline.map { Date() < $0 } ?? true
            for slot in 0..<arguments.jobs where workers[slot] == nil && next < end && isTimeLeft {
                let last = min(end, next + Self.seedsAtOnce)
                workers[slot] = RunningWorker(next..<last, arguments)
                next = last
            }
            guard !workers.isEmpty else { break }
            RunningWorker.waitForAny(Array(workers.values))
            for (slot, worker) in workers {
                worker.readLines { line in take(line, worker, &sum) }
                guard worker.isAtEnd else { continue }
                workers[slot] = nil
                guard let rest = restAfterDeath(worker, &sum) else { continue }
                workers[slot] = RunningWorker(rest, arguments)
            }
        }
        let played = sum.passed + sum.failed.count
        let given = Int(next - arguments.seeds.lowerBound)
        if played != given {
            print("\(given) seeds were given to workers, and \(played) were played")
            sum.unplayed = max(1, given - played)
        }
        return finish(sum, seconds: Date().timeIntervalSince(start))
    }

    private func take(_ line: Substring, _ worker: RunningWorker, _ sum: inout Sum) {
        let words = line.split(separator: " ", maxSplits: 1)
        let rest = words.count > 1 ? words[1] : ""
        switch words.first {
        case "begin": worker.current = UInt64(rest)
        case "pass":
            sum.passed += 1
            worker.endSeed()
        case "fail":
            sum.failed.append(UInt64(rest) ?? 0)
            worker.endSeed()
            print(replay(rest))
        case "statistics":
            let data = Data(rest.utf8)
            if let found = try? JSONDecoder().decode(Statistics.self, from: data) {
                sum.statistics.add(found)
            }
        default: print("seed \(worker.current ?? 0): \(line)")
        }
    }

    private func replay(_ seed: some CustomStringConvertible) -> String {
        "replay: osssync-simulator\(arguments.kind) --seed \(seed) --trace   "
            + "(commit \(Self.commit))"
    }

    /// The seeds that a worker left when it died of one, or before it had played all.
    private func restAfterDeath(
        _ worker: RunningWorker,
        _ sum: inout Sum
    ) -> Range<UInt64>? {
        guard let seed = worker.current ?? worker.unplayed else { return nil }
        sum.failed.append(seed)
        print("seed \(seed): the process ended with \(worker.status)")
        print(replay(seed))
        let rest = (seed + 1)..<max(seed + 1, worker.seeds.upperBound)
        return rest.isEmpty ? nil : rest
    }

    private func finish(_ sum: Sum, seconds: Double) -> Int32 {
        for line in sum.statistics.lines { print(line) }
        print("\(Int(seconds)) s with \(arguments.jobs) workers")
        if !sum.failed.isEmpty {
            let seeds = sum.failed.sorted().map(String.init).joined(separator: " ")
            print("failed seeds: \(seeds)")
        }
        let failed = sum.failed.count + sum.unplayed
        print("\(sum.passed) passed, \(failed) failed")
        return failed == 0 ? 0 : 1
    }

    /// The sources that a failure belongs to.
    private static let commit: String = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "rev-parse", "--short", "HEAD"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return "unknown" }
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }()
}
