import SyncModel
import SyncTestSupport
import Testing

@testable import LocalStorage

/// Some processes, a record and claims.
///
/// Every call has three moments: it begins, it has its effect, it returns. In between any time may
/// go by.
private struct World {
    struct Process {
        var machine: LeaseMachine
        /// What its clock showed when the world began: no two clocks agree.
        let offset: Duration
        /// Its seconds for a thousand of the world's.
        let speed: Int
        var call: Call?
        /// By its own clock.
        var trusted = Duration.seconds(-1 << 40)
        var isRefused = false
        var isKilled = false
    }

    struct Call {
        let step: LeaseMachine.Step
        let began: Duration
        var answer: Answer?
    }

    enum Answer {
        case found(LeaseMachine.Finding)
        case claimed(Bool)
        case done
    }

    var time = 0
    var content = LeaseMachine.Content.absent
    var claims: Set<UInt64> = []
    var processes: [Process]

    init(speeds: [Int], timing: LeaseTiming) {
        processes = speeds.enumerated().map { index, speed in
            Process(
                machine: LeaseMachine(
                    holder: "process\(index)",
                    process: LeaseProcess(
                        host: "h",
                        boot: "",
                        namespace: "",
                        number: Int32(index + 1),
                        start: ""
                    ),
                    timing: timing
                ),
                offset: .seconds(index * 31_557_600),
                speed: speed
            )
        }
    }

    private func clock(_ index: Int) -> Duration {
        processes[index].offset + .milliseconds(time * processes[index].speed)
    }

    /// Those that believe that they may change the mirror.
    var acting: [Int] {
        processes.indices.filter { index in
            !processes[index].isKilled && clock(index) <= processes[index].trusted
        }
    }

    /// One moment of one process; false if it can only wait.
    mutating func move(_ index: Int, writesTorn: Bool = false) -> Bool {
        guard !processes[index].isRefused, !processes[index].isKilled else { return false }
        let now = clock(index)
        guard let call = processes[index].call else {
            let step = processes[index].machine.step(at: now)
            switch step {
            case .wait: return false
            case .held(let until):
                processes[index].trusted = until
                return false
            case .refused:
                processes[index].isRefused = true
            case .read, .claim, .dropClaim, .write:
                processes[index].call = Call(step: step, began: now)
            }
            return true
        }
        guard let answer = call.answer else {
            if writesTorn, case .write(let record) = call.step {
                content = .damaged(checksum: record.beat)
                // The caller was told of an error, and tries again.
                processes[index].call = nil
            } else {
                let answer = effect(of: call.step)
                processes[index].call?.answer = answer
            }
            return true
        }
        processes[index].call = nil
        switch answer {
        case .found(let found):
            processes[index].machine.didRead(found, began: call.began, now: now)
        case .claimed(let isMade):
            processes[index].machine.didClaim(isMade, began: call.began)
        case .done:
            if case .write = call.step {
                processes[index].machine.didWrite(now: now)
            } else {
                processes[index].machine.didDropClaim()
            }
        }
        return true
    }

    private mutating func effect(of step: LeaseMachine.Step) -> Answer {
        switch step {
        case .read:
            return .found(
                LeaseMachine.Finding(content, claim: claims.max() ?? 0, isHolderGone: false)
            )
        case .claim(let number): return .claimed(claims.insert(number).inserted)
        case .dropClaim(let number): claims.remove(number)
        case .write(let record): content = .record(record)
        case .wait, .held, .refused: break
        }
        return .done
    }

    /// Lets every process do what it can without any time going by.
    mutating func settle() {
        while processes.indices.contains(where: { move($0) }) {}
    }
}

@Suite("Lease")
struct LeaseMachineTests {
    private static let standard = LeaseTiming.standard

    /// Clocks that go wrong by a fortieth, calls that take long, writes that fail in the middle.
    @Test(arguments: 0..<8) func `three processes of any speed never act at once`(part: UInt64) {
        var held = Set<Int>()
        for seed in (part * 60)..<(part * 60 + 60) {
            var generator = SeededGenerator(seed: seed)
            var world = World(
                speeds: (0..<3).map { _ in Int.random(in: 975...1_025, using: &generator) },
                timing: Self.standard
            )
            let pace = Int.random(in: 1...60, using: &generator)
            for _ in 0..<1_000 {
                if Int.random(in: 0..<8, using: &generator) == 0 {
                    world.time += Int.random(in: 1...pace, using: &generator)
                } else {
                    let index = Int.random(in: 0..<3, using: &generator)
                    let isTorn = Int.random(in: 0..<50, using: &generator) == 0
                    _ = world.move(index, writesTorn: isTorn)
                    if world.processes[index].isRefused, generator.next().isMultiple(of: 4) {
                        restart(index, in: &world)
                    }
                }
                let acting = world.acting
                held.formUnion(acting)
                #expect(acting.count < 2, "seed \(seed)")
                guard acting.count < 2 else { return }
            }
        }
        #expect(held == [0, 1, 2])
    }

    /// The next run of the same host, with a name of its own; what it trusted ends with it.
    private func restart(_ index: Int, in world: inout World) {
        world.processes[index].isRefused = false
        world.processes[index].call = nil
        world.processes[index].machine = LeaseMachine(
            holder: "process\(index) at \(world.time)",
            process: LeaseProcess(host: "h", boot: "", namespace: "", number: 9, start: ""),
            timing: Self.standard
        )
        world.processes[index].trusted = .seconds(-1 << 40)
    }

    private func run(_ world: inout World, seconds: Int, until isOver: (World) -> Bool) -> Int? {
        let start = world.time
        while world.time <= start + seconds {
            world.settle()
            if isOver(world) { return world.time - start }
            world.time += 1
        }
        return nil
    }

    @Test func `one that was killed is followed after a minute and a half`() throws {
        var world = World(speeds: [1_000, 1_000], timing: Self.standard)
        world.processes[1].isKilled = true
        #expect(run(&world, seconds: 0) { $0.acting == [0] } == 0)
        world.processes[0].isKilled = true
        world.processes[1].isKilled = false
        let seconds = try #require(run(&world, seconds: 200) { $0.acting == [1] })
        #expect((90...110).contains(seconds), "\(seconds)")
    }

    @Test func `one that lives is seen to after some seconds`() throws {
        var world = World(speeds: [1_000, 1_000], timing: Self.standard)
        while world.acting.isEmpty { _ = world.move(0) }
        let seconds = try #require(run(&world, seconds: 100) { $0.processes[1].isRefused })
        #expect(seconds <= 12)
        #expect(world.acting == [0])
    }

    @Test func `one that is let go is taken at once`() throws {
        var world = World(speeds: [1_000, 1_000], timing: Self.standard)
        while world.acting.isEmpty { _ = world.move(0) }
        let free = try #require(world.processes[0].machine.release(at: .zero))
        world.content = .record(free)
        world.processes[0].isKilled = true
        #expect(run(&world, seconds: 0) { $0.acting == [1] } == 0)
    }

    @Test func `a holder that slept goes on after a look if nobody came`() throws {
        var world = World(speeds: [1_000], timing: Self.standard)
        world.settle()
        world.time += 300
        #expect(world.acting.isEmpty)
        let seconds = try #require(run(&world, seconds: 60) { $0.acting == [0] })
        #expect((35...40).contains(seconds), "\(seconds)")
    }

    @Test func `a holder that slept while somebody came ends`() throws {
        var world = World(speeds: [1_000, 1_000], timing: Self.standard)
        while world.acting.isEmpty { _ = world.move(0) }
        let asleep = world.processes[0]
        world.processes[0].isKilled = true
        _ = try #require(run(&world, seconds: 200) { $0.acting == [1] })
        world.processes[0] = asleep
        world.settle()
        #expect(world.processes[0].isRefused)
        #expect(world.acting == [1])
    }
}

@Suite("Lease record")
struct LeaseRecordTests {
    private let record = LeaseRecord(
        epoch: 7,
        holder: "abc",
        isFree: false,
        beat: 12,
        process: LeaseProcess(host: "nas", boot: "b-1", namespace: "40", number: 99, start: "5")
    )

    @Test func `is read as it was written`() {
        #expect(record.bytes.count == LeaseRecord.size)
        #expect(LeaseRecord(record.bytes) == record)
        var free = record
        free.isFree = true
        #expect(LeaseRecord(free.bytes) == free)
    }

    @Test func `any altered byte is seen`() {
        for index in 0..<LeaseRecord.size {
            var bytes = record.bytes
            bytes[index] ^= 0x10
            #expect(LeaseRecord(bytes) == nil, "byte \(index)")
        }
        #expect(LeaseRecord(record.bytes.dropLast()) == nil)
        #expect(LeaseRecord(record.bytes + [0]) == nil)
    }

    @Test func `a strange name of a host cannot make lines`() throws {
        let process = LeaseProcess(
            host: "a\nstate free" + String(repeating: "x", count: 500),
            boot: "",
            namespace: "",
            number: 1,
            start: ""
        )
        let odd = LeaseRecord(epoch: 1, holder: "h", isFree: false, beat: 1, process: process)
        let read = try #require(LeaseRecord(odd.bytes))
        #expect(!read.isFree)
        #expect(read.process.host.hasPrefix("a_state_free"))
    }
}
