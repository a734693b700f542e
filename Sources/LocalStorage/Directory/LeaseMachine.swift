package import SyncModel

/// How long a lease is trusted, and how long a silent one is looked at before it is taken.
package struct LeaseTiming: Sendable, Hashable {
    /// From one sign of life to the next.
    package var beat: Duration
    /// How long after a sign of life its holder may change anything.
    package var trust: Duration
    /// How long the same sign must have been seen before its holder counts as dead.
    package var observation: Duration
    /// How long one who took a silent lease waits for a holder that trusts its own: longer than
    /// ``trust``, because clocks do not run at the same speed.
    package var settling: Duration

    package init(beat: Duration, trust: Duration, observation: Duration, settling: Duration) {
        self.beat = beat
        self.trust = trust
        self.observation = observation
        self.settling = settling
    }

    package static let standard = LeaseTiming(
        beat: .seconds(10),
        trust: .seconds(30),
        observation: .seconds(60),
        settling: .seconds(35)
    )
}

/// Decides when one process may change a mirror that others, on other machines, may want to change.
///
/// 1. A free record is taken by making the next claim, a file that only one can make; one that
///    stays the same for the observation's time likewise, and then by another look after settling.
/// 2. The holder writes a new beat from time to time, after reading that the record is its own, and
///    changes the mirror only within the trust's time after such a reading.
/// 3. A holder that is known to be gone is followed at once, but with such a look if it had itself
///    taken a silent lease and may have died before it looked again.
/// 4. Who is late looks whether the record is still its own, after settling, and whether another
///    process has made a claim: it may have come and gone while this one slept between its look and
///    its beat, which then replaced a record that was free.
///
/// A value without I/O: the caller does what ``step(at:)`` says and reports what came of it. All
/// times are of the caller's own clock, which goes on while the machine sleeps; no other machine's
/// time is ever read, since their clocks may differ by years.
///
/// Not guaranteed: anything about a call that the file server carries out after its process has
/// ended.
package struct LeaseMachine: Sendable, Hashable {
    package enum Step: Sendable, Hashable {
        case read
        case claim(UInt64)
        /// Removes a claim that leads to nothing.
        case dropClaim(UInt64)
        case write(LeaseRecord)
        case wait(until: Duration)
        /// The mirror may be changed until then, and no longer.
        case held(until: Duration)
        /// Another process has it; nil if its record cannot be read.
        case refused(LeaseRecord?)
    }

    package enum Content: Sendable, Hashable {
        case absent
        case damaged(checksum: UInt64)
        case record(LeaseRecord)

        fileprivate var record: LeaseRecord? {
            if case .record(let record) = self { record } else { nil }
        }
    }

    /// What a reading found.
    package struct Finding: Sendable, Hashable {
        package let content: Content
        /// The largest number of a claim; 0 if there is none.
        package let claim: UInt64
        /// True if the holder was a process of this machine and exists no more.
        package let isHolderGone: Bool

        package init(_ content: Content, claim: UInt64, isHolderGone: Bool) {
            self.content = content
            self.claim = claim
            self.isHolderGone = isHolderGone
        }
    }

    /// What another process's record was when it was first seen, and since when it is unchanged.
    package struct Seen: Sendable, Hashable {
        package var content: Content
        package var claim: UInt64
        package var since: Duration
    }

    package struct Taking: Sendable, Hashable {
        package var number: UInt64
        /// What is to be overwritten, and nothing else.
        package var content: Content
        /// True if nothing but silence says that it may be.
        package let isOfSilent: Bool
        package var claimed = Duration.zero
        package var looked = Duration.zero
    }

    package enum Phase: Sendable, Hashable {
        case looking(Seen?, next: Duration)
        case claiming(Taking)
        case lookingAgain(Taking)
        case taking(Taking)
        case dropping(UInt64, then: LeaseRecord?)
        case settling(until: Duration)
        case held(until: Duration, next: Duration)
        case beating(until: Duration, looked: Duration)
        case refused(LeaseRecord?)
    }

    /// The beat of a record that was written over a silent one, until the next beat.
    private static let unsettled: UInt64 = 0

    private let timing: LeaseTiming
    /// What was written last, or will be.
    ///
    /// Like ``phase``, set from outside only by tests, which explore all states.
    package var own: LeaseRecord
    package var phase = Phase.looking(nil, next: .zero)

    package init(holder: String, process: LeaseProcess, timing: LeaseTiming) {
        self.timing = timing
        own = LeaseRecord(epoch: 0, holder: holder, isFree: false, beat: 0, process: process)
        phase = .looking(nil, next: Duration(secondsComponent: .min, attosecondsComponent: 0))
    }

    /// What gives the lease back; nil if it is not held.
    package func release(at now: Duration) -> LeaseRecord? {
        guard case .held(let until, _) = phase, now <= until else { return nil }
        var record = own
        record.isFree = true
        return record
    }

    /// Until when the mirror may be changed; nil if that is not allowed.
    package var trustedUntil: Duration? {
        switch phase {
        case .held(let until, _), .beating(let until, _): until
        case .looking, .claiming, .lookingAgain, .taking, .dropping, .settling, .refused: nil
        }
    }

    /// True if the next reading is to say which claims there are.
    package var needsClaims: Bool {
        switch phase {
        case .looking, .settling: true
        case .claiming, .lookingAgain, .taking, .dropping, .held, .beating, .refused: false
        }
    }

    /// The number under which it is held.
    package var epoch: UInt64 { own.epoch }

    package mutating func step(at now: Duration) -> Step {
        switch phase {
        case .looking(_, let next): return now < next ? .wait(until: next) : .read
        case .claiming(let taking): return .claim(taking.number)
        case .lookingAgain: return .read
        case .taking, .beating: return .write(own)
        case .dropping(let number, _): return .dropClaim(number)
        case .settling(let until): return now < until ? .wait(until: until) : .read
        case .held(let until, let next): return now < next ? .held(until: until) : .read
        case .refused(let record): return .refused(record)
        }
    }

    /// The reading that began at `began` has returned at `now`.
    package mutating func didRead(_ found: Finding, began: Duration, now: Duration) {
        switch phase {
        case .looking(let seen, _): look(found, seen, began: began, now: now)
        case .lookingAgain(var taking):
            guard found.content == taking.content else {
                phase = .dropping(taking.number, then: found.content.record)
                return
            }
            taking.looked = began
            own.epoch = taking.number
            own.beat = taking.isOfSilent ? Self.unsettled : 1
            phase = .taking(taking)
        case .settling:
            let isOwn = isOwn(found.content)
            guard isOwn, found.claim <= own.epoch else {
                phase = .dropping(own.epoch, then: isOwn ? nil : found.content.record)
                return
            }
            phase = .held(until: began + timing.trust, next: began + timing.beat)
        case .held(let until, _):
            guard isOwn(found.content) else {
                phase = .refused(found.content.record)
                return
            }
            own.beat += 1
            phase = .beating(until: until, looked: began)
        case .claiming, .taking, .dropping, .beating, .refused: break
        }
    }

    /// True if that is what this one wrote.
    package func isOwn(_ content: Content) -> Bool {
        content.record.map { $0.holder == own.holder && $0.epoch == own.epoch } ?? false
    }

    private mutating func look(_ found: Finding, _ seen: Seen?, began: Duration, now: Duration) {
        let record = found.content.record
        let epoch = record?.epoch ?? 0
        if found.content == .absent || record?.isFree == true || found.isHolderGone,
            found.claim <= epoch
        {
            // One that is gone may have died while the holder before it still trusted the lease.
            let isSettled = record?.isFree == true || record?.beat != Self.unsettled
            phase = .claiming(
                Taking(number: epoch + 1, content: found.content, isOfSilent: !isSettled)
            )
            return
        }
        guard let seen, seen.claim == found.claim, seen.content == found.content else {
            if let seen, seen.content != found.content, record?.isFree != true {
                // It lives, or somebody was faster.
                phase = .refused(record)
                return
            }
            let first = Seen(content: found.content, claim: found.claim, since: now)
            phase = .looking(first, next: now + timing.beat / 10)
            return
        }
        guard began - seen.since >= timing.observation else {
            phase = .looking(seen, next: now + timing.beat / 10)
            return
        }
        let number = max(epoch, found.claim) + 1
        phase = .claiming(Taking(number: number, content: found.content, isOfSilent: true))
    }

    /// Making the claim, which began at `began`, has succeeded, or another one has made it.
    package mutating func didClaim(_ isMade: Bool, began: Duration) {
        guard case .claiming(var taking) = phase else { return }
        taking.claimed = began
        phase =
            isMade
            ? .lookingAgain(taking)
            : .looking(nil, next: began + timing.beat / 10)
    }

    package mutating func didDropClaim() {
        guard case .dropping(_, let record) = phase else { return }
        phase = .refused(record)
    }

    /// The writing has returned at `now`.
    package mutating func didWrite(now: Duration) {
        switch phase {
        case .taking(let taking):
            // Nobody can have taken it from a claim that is younger than an observation.
            let isSoon = now - taking.claimed <= timing.trust
            if isSoon, !taking.isOfSilent {
                let looked = taking.looked
                phase = .held(until: looked + timing.trust, next: looked + timing.beat)
            } else {
                phase = .settling(until: now + timing.settling)
            }
        case .beating(let until, let looked):
            phase =
                now <= until
                ? .held(until: looked + timing.trust, next: looked + timing.beat)
                : .settling(until: now + timing.settling)
        case .looking, .claiming, .lookingAgain, .dropping, .settling, .held, .refused: break
        }
    }
}
