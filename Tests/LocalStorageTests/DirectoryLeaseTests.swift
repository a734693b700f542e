import Glibc
import SyncModel
import Synchronization
import Testing

@testable import LocalStorage

/// A clock that goes on only while somebody waits for it, and by hand.
private final class ToyClock: Sendable {
    private let time = Mutex(Duration.zero)

    var clock: LeaseClock {
        LeaseClock(now: { self.time.withLock { $0 } }, wait: { self.advance($0) })
    }

    func advance(_ duration: Duration) { time.withLock { $0 += max(duration, .milliseconds(1)) } }
}

@Suite("Lease of a directory")
struct DirectoryLeaseTests {
    let temporary: TemporaryDirectory
    let mirror: MirrorDirectory
    private let clock = ToyClock()

    init() throws {
        temporary = try TemporaryDirectory()
        mirror = try temporary.mirror()
    }

    private func lease(
        _ clock: ToyClock,
        unless interruption: Interruption? = nil,
        onWait: (@Sendable (String) -> Void)? = nil
    ) throws -> DirectoryLease {
        try DirectoryLease(
            in: mirror.state.directory,
            calls: mirror.calls,
            clock: clock.clock,
            unless: interruption,
            onWait: onWait
        )
    }

    private var files: LeaseFiles { LeaseFiles(state: mirror.state.directory, calls: mirror.calls) }

    private func record() throws -> LeaseRecord? {
        guard case .record(let record) = try files.read(listsClaims: false).content else {
            return nil
        }
        return record
    }

    /// What a process of another machine leaves when it is killed.
    private func foreign(epoch: UInt64, boot: String = "another") -> LeaseRecord {
        LeaseRecord(
            epoch: epoch,
            holder: "foreign",
            isFree: false,
            beat: 5,
            process: LeaseProcess(
                host: "far",
                boot: boot,
                namespace: "1",
                number: 1,
                start: "1"
            )
        )
    }

    @Test func `a lease is taken at once, given back and taken again`() throws {
        let first = try lease(clock)
        #expect(try record()?.process.number == getpid())
        #expect(try files.isHeld)
        try first.require()
        first.release()
        #expect(try record()?.isFree == true)
        #expect(try !files.isHeld)
        let second = try lease(clock)
        try second.require()
        #expect(try record()?.epoch == 2)
        second.release()
        #expect(temporary.read(".osssync/claim.1") == nil)
    }

    @Test func `the lease of a dead process of this machine is taken at once`() throws {
        let dead = mirror.calls.ownProcess()
        var record = foreign(epoch: 4)
        record.process = LeaseProcess(
            host: dead.host,
            boot: dead.boot,
            namespace: dead.namespace,
            number: dead.number,
            start: "0"
        )
        try files.write(record)
        let said = Mutex(0)
        let taken = try lease(clock, onWait: { _ in said.withLock { $0 += 1 } })
        try taken.require()
        #expect(said.withLock { $0 } == 0)
        #expect(try self.record()?.epoch == 5)
    }

    @Test func `a silent lease of another machine is taken after a while`() throws {
        try files.write(foreign(epoch: 4))
        let said = Mutex<[String]>([])
        let taken = try lease(clock, onWait: { text in said.withLock { $0.append(text) } })
        #expect(clock.clock.now() >= .seconds(95))
        #expect(said.withLock { $0.count } == 1)
        try taken.require()
        #expect(try record()?.epoch == 5)
    }

    @Test func `the same process number in another namespace is not taken for dead`() throws {
        let own = mirror.calls.ownProcess()
        var record = foreign(epoch: 1)
        record.process = LeaseProcess(
            host: own.host,
            boot: own.boot,
            namespace: "other",
            number: 999_999_999,
            start: "1"
        )
        try files.write(record)
        _ = try lease(clock)
        #expect(clock.clock.now() >= .seconds(95))
    }

    @Test func `one that lives is left alone`() throws {
        try files.write(foreign(epoch: 4))
        let beats = Mutex<UInt64>(5)
        let files = files
        var alive = foreign(epoch: 4)
        // It gives its sign of life while the other one waits.
        let watched = LeaseClock(
            now: clock.clock.now,
            wait: { time in
                let beat = beats.withLock { beats in
                    beats += 1
                    return beats
                }
                var record = LeaseRecord(
                    epoch: 4,
                    holder: "foreign",
                    isFree: false,
                    beat: beat,
                    process: LeaseProcess(
                        host: "far",
                        boot: "b",
                        namespace: "1",
                        number: 1,
                        start: "1"
                    )
                )
                record.isFree = false
                try? files.write(record)
                clock.clock.wait(time)
            }
        )
        alive.beat = 6
        let error = #expect(throws: LocalError.self) {
            try DirectoryLease(in: mirror.state.directory, calls: mirror.calls, clock: watched)
        }
        #expect(error == .lockHeld(by: "process 1 on far"))
        #expect(try record()?.holder == "foreign")
    }

    @Test func `waiting ends when nobody wants it any more`() throws {
        try files.write(foreign(epoch: 4))
        let interruption = Interruption()
        #expect(throws: LocalError.interrupted) {
            try lease(clock, unless: interruption, onWait: { _ in interruption.raise() })
        }
        #expect(try record()?.epoch == 4)
    }

    @Test func `after a long silence a change waits until the lease is seen to be its own`() throws
    {
        let lease = try lease(clock)
        clock.advance(.seconds(300))
        let before = clock.clock.now()
        try lease.require()
        #expect(clock.clock.now() - before >= .seconds(35))
    }

    @Test func `after a silence in which another came nothing is changed`() throws {
        let lease = try lease(clock)
        clock.advance(.seconds(300))
        try files.write(foreign(epoch: 2))
        #expect(throws: LocalError.leaseLost(to: "process 1 on far")) { try lease.require() }
        #expect(throws: LocalError.leaseLost(to: "process 1 on far")) { try lease.require() }
        lease.release()
        #expect(try record()?.holder == "foreign")
    }

    @Test func `signs of life keep a lease trusted`() throws {
        let lease = try lease(clock)
        for _ in 0..<20 {
            clock.advance(.seconds(11))
            lease.giveSign()
        }
        let before = clock.clock.now()
        try lease.require()
        #expect(clock.clock.now() == before)
        #expect(try record()?.beat == 21)
    }

    @Test func `a server that is slower than a beat does not stop the holder`() throws {
        let clock = clock
        let slow = LeaseClock(
            now: {
                clock.advance(.seconds(3))
                return clock.clock.now()
            },
            wait: { clock.advance($0) }
        )
        let holder = try DirectoryLease(
            in: mirror.state.directory,
            calls: mirror.calls,
            clock: slow
        )
        for _ in 0..<10 {
            holder.giveSign()
            let before = clock.clock.now()
            try holder.require()
            #expect(clock.clock.now() - before <= .seconds(30))
        }
    }
}
