import SyncModel
import SyncTestSupport
import Testing

@testable import LocalStorage

@Suite("Lease")
struct LeaseMachineTests {
    private static let standard = LeaseTiming.standard

    /// Clocks that go wrong by a fortieth, calls that take long, writes that fail in the middle.
    @Test(arguments: 0..<8) func `three processes of any speed never act at once`(part: UInt64) {
        var held = Set<Int>()
        for seed in (part * 60)..<(part * 60 + 60) {
            var generator = SeededGenerator(seed: seed)
            var world = LeaseWorld(
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
    private func restart(_ index: Int, in world: inout LeaseWorld) {
        world.processes[index].isRefused = false
        world.processes[index].call = nil
        world.processes[index].machine = LeaseMachine(
            holder: "process\(index) at \(world.time)",
            process: LeaseProcess(host: "h", boot: "", namespace: "", number: 9, start: ""),
            timing: Self.standard
        )
        world.processes[index].trusted = .seconds(-1 << 40)
    }

    private func run(_ world: inout LeaseWorld, seconds: Int, until isOver: (LeaseWorld) -> Bool)
        -> Int?
    {
        let start = world.time
        while world.time <= start + seconds {
            world.settle()
            if isOver(world) { return world.time - start }
            world.time += 1
        }
        return nil
    }

    @Test func `one that was killed is followed after a minute and a half`() throws {
        var world = LeaseWorld(speeds: [1_000, 1_000], timing: Self.standard)
        world.processes[1].isKilled = true
        #expect(run(&world, seconds: 0) { $0.acting == [0] } == 0)
        world.processes[0].isKilled = true
        world.processes[1].isKilled = false
        let seconds = try #require(run(&world, seconds: 200) { $0.acting == [1] })
        #expect((90...110).contains(seconds), "\(seconds)")
    }

    @Test func `one that lives is seen to after some seconds`() throws {
        var world = LeaseWorld(speeds: [1_000, 1_000], timing: Self.standard)
        while world.acting.isEmpty { _ = world.move(0) }
        let seconds = try #require(run(&world, seconds: 100) { $0.processes[1].isRefused })
        #expect(seconds <= 12)
        #expect(world.acting == [0])
    }

    /// It may have died while the holder before it still trusted its lease.
    @Test(arguments: [UInt64(0), 1])
    func `one that died before it looked again is followed after another look`(beat: UInt64) {
        let process = LeaseProcess(host: "h", boot: "b", namespace: "n", number: 9, start: "1")
        let dead = LeaseRecord(
            epoch: 2,
            holder: "dead",
            isFree: false,
            beat: beat,
            process: process
        )
        var machine = LeaseMachine(holder: "next", process: process, timing: Self.standard)
        let found = LeaseMachine.Finding(.record(dead), claim: 2, isHolderGone: true)
        machine.didRead(found, began: .zero, now: .zero)
        #expect(machine.step(at: .zero) == .claim(3))
        machine.didClaim(true, began: .zero)
        machine.didRead(found, began: .zero, now: .zero)
        guard case .write(let record) = machine.step(at: .zero) else {
            Issue.record("it writes nothing")
            return
        }
        #expect(record.beat == beat)
        machine.didWrite(now: .zero)
        let isSettled = beat > 0
        #expect(machine.trustedUntil == (isSettled ? Self.standard.trust : nil))
        #expect(
            machine.step(at: .zero)
                == (isSettled
                    ? .held(until: Self.standard.trust) : .wait(until: Self.standard.settling))
        )
    }

    /// Between its look and its beat it slept, and the beat replaced what the other had left: a
    /// free record, or one of a holder that then ends.
    @Test(arguments: [1, 2] as [UInt64])
    func `a holder that was followed while its beat was under way goes on only if nobody came`(
        claim: UInt64
    ) throws {
        let process = LeaseProcess(host: "h", boot: "b", namespace: "n", number: 9, start: "1")
        var machine = LeaseMachine(holder: "slow", process: process, timing: Self.standard)
        machine.didRead(
            LeaseMachine.Finding(.absent, claim: 0, isHolderGone: false),
            began: .zero,
            now: .zero
        )
        machine.didClaim(true, began: .zero)
        machine.didRead(
            LeaseMachine.Finding(.absent, claim: 1, isHolderGone: false),
            began: .zero,
            now: .zero
        )
        machine.didWrite(now: .zero)
        #expect(machine.trustedUntil == .seconds(30))
        let beat = LeaseMachine.Finding(.record(machine.own), claim: 0, isHolderGone: false)
        machine.didRead(beat, began: .seconds(10), now: .seconds(10))
        // The write returns after a sleep.
        machine.didWrite(now: .seconds(300))
        #expect(machine.step(at: .seconds(300)) == .wait(until: .seconds(335)))
        #expect(machine.needsClaims)
        let own = LeaseMachine.Finding(.record(machine.own), claim: claim, isHolderGone: false)
        machine.didRead(own, began: .seconds(335), now: .seconds(335))
        if claim == 1 {
            #expect(machine.trustedUntil == .seconds(365))
        } else {
            #expect(machine.trustedUntil == nil)
            #expect(machine.step(at: .seconds(335)) == .dropClaim(1))
            machine.didDropClaim()
            #expect(machine.step(at: .seconds(335)) == .refused(nil))
        }
    }

    @Test func `one that is let go is taken at once`() throws {
        var world = LeaseWorld(speeds: [1_000, 1_000], timing: Self.standard)
        while world.acting.isEmpty { _ = world.move(0) }
        let free = try #require(world.processes[0].machine.release(at: .zero))
        world.places[0].content = .record(free)
        world.processes[0].isKilled = true
        #expect(run(&world, seconds: 0) { $0.acting == [1] } == 0)
    }

    @Test func `a holder that slept goes on after a look if nobody came`() throws {
        var world = LeaseWorld(speeds: [1_000], timing: Self.standard)
        world.settle()
        world.time += 300
        #expect(world.acting.isEmpty)
        let seconds = try #require(run(&world, seconds: 60) { $0.acting == [0] })
        #expect((35...40).contains(seconds), "\(seconds)")
    }

    @Test func `a holder that slept while somebody came ends`() throws {
        var world = LeaseWorld(speeds: [1_000, 1_000], timing: Self.standard)
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
