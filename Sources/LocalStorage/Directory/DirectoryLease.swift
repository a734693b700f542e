internal import Dispatch
internal import SyncModel
internal import Synchronization

/// The right to change a mirror whose state other machines can reach, where a lock of the kernel
/// may not reach them or does not exist.
///
/// ``LeaseMachine`` decides; this carries out what it says on the files, and gives signs of life on
/// a thread of its own, or as the ``LeaseHost`` says, until it is released.
///
/// Before each change ``require()`` is asked, which costs a look at the clock. Where the file
/// server did not answer for a while, it looks whether the lease is still this one's, and takes as
/// long as that takes.
///
/// All methods block.
final class DirectoryLease: Sendable {
    private static let nameLength = 26

    private let files: LeaseFiles
    private let clock: LeaseClock
    private let timing = LeaseTiming.standard
    private let machine: Mutex<LeaseMachine>
    /// Nanoseconds of the clock until which changes are allowed.
    private let trusted = Atomic<Int64>(.min)
    private let stopped = DispatchSemaphore(value: 0)
    private let isReleased = Atomic<Bool>(false)

    /// Takes the lease; where a holder seems dead, that takes a minute and a half.
    ///
    /// `onWait` is called once if it has to be seen whether the holder lives.
    ///
    /// - Throws: `lockHeld` if it lives, `interrupted`.
    init(
        in state: OpenDirectory,
        calls: SystemCalls,
        clock: LeaseClock? = nil,
        unless interruption: Interruption? = nil,
        onWait: (@Sendable (String) -> Void)? = nil
    ) throws(LocalError) {
        files = LeaseFiles(state: state, calls: calls)
        self.clock = clock ?? calls.leaseHost.clock
        let name = SystemCalls.randomNumbers(2).map { String($0, radix: 36) }.joined()
        machine = Mutex(
            LeaseMachine(
                holder: String(name.prefix(Self.nameLength)),
                process: calls.ownProcess(),
                timing: timing
            )
        )
        try take(unless: interruption, onWait)
    }

    private func take(
        unless interruption: Interruption?,
        _ onWait: (@Sendable (String) -> Void)?
    ) throws(LocalError) {
        var isSaid = false
        let outcome = machine.withLock { machine in
            Result { () throws(LocalError) in
                while !isTrusted {
                    guard interruption?.isRaised != true else { throw .interrupted }
                    guard case .wait(let until) = try advance(&machine, LocalError.lockHeld)
                    else { continue }
                    if !isSaid { onWait?(Self.waiting) }
                    isSaid = true
                    clock.wait(min(until - clock.now(), timing.beat / 10))
                }
            }
        }
        try outcome.get()
        let epoch = machine.withLock { $0.epoch }
        // They only take room.
        try? files.dropClaims(before: epoch)
    }

    private static let waiting =
        "another run was here, perhaps on another machine; checking for up to two minutes whether "
        + "it is still active"

    /// Carries out one step, and returns what it was.
    private func advance(
        _ machine: inout LeaseMachine,
        _ refusal: (_ holder: String) -> LocalError
    ) throws(LocalError) -> LeaseMachine.Step {
        let began = clock.now()
        let step = machine.step(at: began)
        switch step {
        case .read:
            let found = try files.read(listsClaims: machine.needsClaims)
            machine.didRead(found, began: began, now: clock.now())
        case .claim(let number): machine.didClaim(try files.claim(number), began: began)
        case .dropClaim(let number):
            try files.dropClaim(number)
            machine.didDropClaim()
        case .write(let record):
            try files.write(record)
            machine.didWrite(now: clock.now())
        case .held, .wait: break
        case .refused(let record):
            trusted.store(.min, ordering: .releasing)
            throw refusal(record?.process.display ?? "another process, on this machine or another")
        }
        // Also where the next beat is due already, because the server is slow.
        trusted.store(machine.trustedUntil?.inNanoseconds ?? .min, ordering: .releasing)
        return step
    }

    /// Begins to give signs of life, until the lease is released or lost.
    func beginKeeping(_ host: LeaseHost) {
        let interval = timing.beat / 10
        if let keep = host.keep {
            return keep(interval) { [self] in
                !isReleased.load(ordering: .acquiring) && giveSign()
            }
        }
        let begin = BlockingThreads.system.makeQueue("osssync.lease", .serial)
        begin { [self] in
            // The machine may sleep meanwhile, which only the lease's own clock counts.
            while !isOver(after: interval), giveSign() {}
        }
    }

    /// Does what is due; false if the lease is lost.
    @discardableResult
    func giveSign() -> Bool {
        // Who has it now looks after it, as long as that takes.
        let isKept = machine.withLockIfAvailable { machine in
            while true {
                do throws(LocalError) {
                    switch try advance(&machine, LocalError.leaseLost) {
                    // After a write that took long the next one is due, and others wait.
                    case .held, .wait, .write: return true
                    case .read, .claim, .dropClaim, .refused: continue
                    }
                } catch {
                    if case .leaseLost = error { return false }
                    // The server may answer again; until then `require` allows nothing.
                    return true
                }
            }
        }
        return isKept ?? true
    }

    private func isOver(after time: Duration) -> Bool {
        let nanoseconds = Int(clamping: time.inNanoseconds)
        return stopped.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
    }

    /// Returns when the mirror may be changed.
    ///
    /// - Throws: `leaseLost`, or why that cannot be found out.
    func require() throws(LocalError) {
        if isTrusted { return }
        try machine.withLock { machine in
            Result { () throws(LocalError) in
                while !isTrusted {
                    guard case .wait(let until) = try advance(&machine, LocalError.leaseLost)
                    else { continue }
                    clock.wait(min(until - clock.now(), timing.beat / 10))
                }
            }
        }.get()
    }

    /// True while changes are allowed by what was seen last; only the clock is asked.
    var isTrusted: Bool {
        clock.now().inNanoseconds <= trusted.load(ordering: .acquiring)
    }

    /// Gives the lease back, if it is still this one's.
    func release() {
        guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
        stopped.signal()
        machine.withLock { machine in
            guard let record = machine.release(at: clock.now()),
                let found = try? files.read(listsClaims: false),
                machine.isOwn(found.content)
            else { return }
            trusted.store(.min, ordering: .releasing)
            // Who comes next sees a process that is gone, or a silent record.
            try? files.write(record)
        }
    }
}

extension Duration {
    fileprivate var inNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow
            ? (seconds < 0 ? .min : .max) : product.addingClamped(attoseconds / 1_000_000_000)
    }
}
