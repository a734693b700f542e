import SyncModel
import SyncTestSupport
import Testing

@testable import LocalStorage

/// Runs of two shards of a cut mirror and runs over all of it, with a lease for each shard and one
/// for the whole.
///
/// Each does what ``DirectoryLock`` does: it takes the lease of its own, and then looks whether
/// anybody has those that it excludes; of a holder that is silent it takes the lease and gives it
/// back.
private struct MirrorWorld {
    static let whole = 0

    struct Run {
        /// In the world's processes.
        let own: Int
        /// The places that it still has to look at.
        var others: [Int]
        /// The process that takes the lease of the first of them from a silent holder.
        var taking: Int?
        /// What is written to give it back.
        var returned: LeaseRecord?
        var isOver = false
    }

    var leases: LeaseWorld
    var runs: [Run]
    private var names = 0

    /// `places` are those of the runs' own leases: 0 of the whole, 1 and 2 of the shards.
    init(places: [Int], speeds: [Int]) {
        leases = LeaseWorld(speeds: speeds, places: 3, timing: .standard)
        runs = places.indices.map { Run(own: $0, others: Self.others(of: places[$0])) }
        for (index, place) in places.enumerated() { leases.processes[index].place = place }
    }

    private static func others(of place: Int) -> [Int] { place == whole ? [1, 2] : [whole] }

    /// The places of the runs that change something now.
    var acting: [Int] {
        runs.filter { run in
            let process = leases.processes[run.own]
            return run.others.isEmpty && !run.isOver && !process.isRefused
                && leases.clock(run.own) <= process.trusted
        }.map { leases.processes[$0.own].place }
    }

    /// One moment of the thread that keeps the run's lease, or of the one that looks at the others.
    mutating func move(_ index: Int, keeps: Bool, writesTorn: Bool) {
        let own = runs[index].own
        guard !runs[index].isOver else { return }
        if keeps {
            _ = leases.move(own, writesTorn: writesTorn)
            return
        }
        guard let place = runs[index].others.first,
            leases.clock(own) <= leases.processes[own].trusted || runs[index].taking != nil
        else { return }
        if let record = runs[index].returned {
            leases.places[place].content = .record(record)
            runs[index].returned = nil
            passOn(index)
        } else if let taking = runs[index].taking {
            _ = leases.move(taking, writesTorn: writesTorn)
            let process = leases.processes[taking]
            if process.isRefused {
                end(index)
            } else if process.call == nil, leases.clock(taking) <= process.trusted {
                // The call of another moment may come in between.
                runs[index].returned = process.machine.release(at: leases.clock(taking))
            }
        } else if leases.places[place].isTaken {
            runs[index].taking = start(at: place, like: own)
        } else {
            passOn(index)
        }
    }

    private mutating func passOn(_ index: Int) {
        runs[index].others.removeFirst()
        runs[index].taking = nil
    }

    /// A new process beside the one that keeps the lease, on the same machine.
    private mutating func start(at place: Int, like process: Int) -> Int {
        names += 1
        var new = leases.processes[process]
        new.machine = LeaseMachine(
            holder: "look \(names)",
            process: LeaseProcess(host: "h", boot: "", namespace: "", number: 9, start: ""),
            timing: .standard
        )
        new.place = place
        new.call = nil
        new.trusted = .seconds(-1 << 40)
        new.isRefused = false
        leases.processes.append(new)
        return leases.processes.count - 1
    }

    /// It ends, and gives its own lease back if it has it.
    mutating func end(_ index: Int) {
        let own = runs[index].own
        runs[index].isOver = true
        guard !leases.processes[own].isRefused,
            let record = leases.processes[own].machine.release(at: leases.clock(own))
        else { return }
        leases.places[leases.processes[own].place].content = .record(record)
    }

    /// The next run of the same kind, after one that has ended or was killed.
    mutating func startAgain(_ index: Int) {
        let (own, place) = (runs[index].own, leases.processes[runs[index].own].place)
        runs[index] = Run(own: start(at: place, like: own), others: Self.others(of: place))
    }
}

@Suite("Leases of a cut mirror")
struct WholeLeaseTests {
    /// Tasks of two shards, and one or two runs over the whole: stopped, killed and continued at
    /// any moment, with clocks that go wrong by a fortieth.
    @Test(arguments: 0..<8) func `no task works beside a run over the whole`(part: UInt64) {
        var acted = Set<Int>()
        var together = 0
        for seed in (part * 25)..<(part * 25 + 25) {
            var generator = SeededGenerator(seed: seed + 9_000)
            let places = [[0, 1], [0, 1, 2], [0, 0, 1, 1, 2]][Int(seed % 3)]
            var world = MirrorWorld(
                places: places,
                speeds: places.map { _ in Int.random(in: 975...1_025, using: &generator) }
            )
            let pace = Int.random(in: 1...60, using: &generator)
            for _ in 0..<8_000 {
                let index = Int.random(in: places.indices, using: &generator)
                switch Int.random(in: 0..<60, using: &generator) {
                case 0..<3: world.leases.time += Int.random(in: 1...pace, using: &generator)
                case 3..<10 where world.runs[index].isOver:
                    world.startAgain(index)
                case 10 where generator.next().isMultiple(of: 8):
                    // Killed, with its lease in place.
                    world.startAgain(index)
                case 11 where world.runs[index].others.isEmpty:
                    world.end(index)
                default:
                    world.move(
                        index,
                        keeps: Bool.random(using: &generator),
                        writesTorn: Int.random(in: 0..<50, using: &generator) == 0
                    )
                }
                if world.leases.processes[world.runs[index].own].isRefused { world.end(index) }
                let acting = world.acting
                acted.formUnion(acting)
                if acting.count > 1 { together += 1 }
                let isSound =
                    Set(acting).count == acting.count
                    && (!acting.contains(MirrorWorld.whole) || acting.count == 1)
                guard isSound else {
                    Issue.record("seed \(seed): \(acting)")
                    return
                }
            }
        }
        #expect(acted == [0, 1, 2])
        #expect(together > 0, "tasks of different shards work side by side")
    }
}
