internal import LocalStorage
internal import SyncModel

/// A process with a lease's machine and what it waits for, with all times relative to its clock.
struct ExploredProcess: Hashable {
    /// A call that has begun and not returned.
    ///
    /// Where the file system does more than one thing, others may act in between.
    enum Call: Hashable {
        case listing(began: Int)
        case reading(began: Int, claim: Int)
        case found(began: Int, claim: Int, code: Int)
        case claiming(Int, began: Int)
        case claimed(Bool, began: Int)
        case dropping(Int)
        case dropped
        case writing(Int)
        case tearing(Int)
        case written
        /// The three moments of giving the lease back: reading, writing, and writing the rest.
        case looking
        case returning(Int)
        case tearingReturn(Int)

        func renamed(_ code: (Int) -> Int) -> Call {
            switch self {
            case .found(let began, let claim, let found):
                .found(began: began, claim: claim, code: code(found))
            case .writing(let record): .writing(code(record))
            case .tearing(let record): .tearing(code(record))
            case .returning(let record): .returning(code(record))
            case .tearingReturn(let record): .tearingReturn(code(record))
            case .listing, .reading, .claiming, .claimed, .dropping, .dropped, .written, .looking:
                self
            }
        }
    }

    /// Whether its trust comes from a beat that others could see, and not only from looking.
    enum Steadiness: Hashable {
        case none
        case beaten
        /// Some time ago.
        case steady
    }

    var machine: LeaseMachine
    var call: Call?
    /// It has just taken the lease, and may remove the claims of earlier holders.
    var cleans = false
    var isDead = false
    var steadiness = Steadiness.none

    init(_ holder: Int, _ kernel: LeaseKernel, _ timing: LeaseTiming) {
        machine = LeaseMachine(
            holder: "\(holder)",
            process: kernel.process(holder),
            timing: timing
        )
        machine.phase = .looking(nil, next: .zero)
    }

    /// True if its own record has an epoch and a beat yet.
    var isNamed: Bool { machine.epoch > 0 }

    /// True if it may change the mirror now.
    var isActing: Bool {
        guard !isDead else { return false }
        switch call {
        case .looking, .returning, .tearingReturn: return false
        default: return machine.trustedUntil.map { $0 >= .zero } ?? false
        }
    }

    // MARK: - Time

    static func units(_ count: Int) -> Duration {
        Duration(secondsComponent: 0, attosecondsComponent: Int64(count))
    }

    static func count(_ duration: Duration) -> Int { Int(duration.components.attoseconds) }

    /// What it is for a clock that shows `passed` more.
    func later(_ passed: Int, _ limits: TimeLimits) -> ExploredProcess {
        guard !isDead, passed != 0 else { return self }
        var later = self
        let time = Self.units(passed)
        func aged(_ taking: LeaseMachine.Taking) -> LeaseMachine.Taking {
            var aged = taking
            aged.claimed -= time
            aged.looked -= time
            return aged
        }
        switch machine.phase {
        case .looking(var seen, let next):
            seen?.since -= time
            later.machine.phase = .looking(seen, next: next - time)
        case .claiming(let taking): later.machine.phase = .claiming(aged(taking))
        case .lookingAgain(let taking): later.machine.phase = .lookingAgain(aged(taking))
        case .taking(let taking): later.machine.phase = .taking(aged(taking))
        case .settling(let end): later.machine.phase = .settling(until: end - time)
        case .held(let end, let next):
            later.machine.phase = .held(until: end - time, next: next - time)
        case .beating(let end, let looked):
            later.machine.phase = .beating(until: end - time, looked: looked - time)
        case .dropping, .refused: break
        }
        if let began { later.began = began - passed }
        if steadiness == .beaten { later.steadiness = .steady }
        return later.simplified(limits)
    }

    /// When the call began, if that is told to the machine.
    private var began: Int? {
        get {
            switch call {
            case .listing(let time), .reading(let time, _), .found(let time, _, _),
                .claiming(_, let time), .claimed(_, let time):
                time
            default: nil
            }
        }
        set {
            guard let newValue else { return }
            switch call {
            case .listing: call = .listing(began: newValue)
            case .reading(_, let claim): call = .reading(began: newValue, claim: claim)
            case .found(_, let claim, let code):
                call = .found(began: newValue, claim: claim, code: code)
            case .claiming(let number, _): call = .claiming(number, began: newValue)
            case .claimed(let isMade, _): call = .claimed(isMade, began: newValue)
            default: break
            }
        }
    }

    /// Brings times to the nearest ones that make no difference to what it does.
    func simplified(_ limits: TimeLimits) -> ExploredProcess {
        var simple = self
        func limit(_ time: Duration, _ least: Int) -> Duration {
            max(time, Self.units(least))
        }
        let isOver = -(limits.trust + 1)
        switch machine.phase {
        case .looking(var seen?, let next):
            if let began {
                // Only the time between the two readings counts, and that since the first one.
                let distance = min(began - Self.count(seen.since), limits.observation)
                simple.began = max(began, min(0, distance - limits.observation))
                seen.since = Self.units((simple.began ?? 0) - distance)
            } else {
                seen.since = limit(seen.since, -limits.observation)
            }
            simple.machine.phase = .looking(seen, next: limit(next, 0))
        case .looking(nil, let next):
            simple.began = 0
            simple.machine.phase = .looking(nil, next: limit(next, 0))
        case .claiming(var taking):
            (taking.claimed, taking.looked) = (.zero, .zero)
            simple.machine.phase = .claiming(taking)
            simple.began = taking.isOfSilent ? 0 : max(began ?? 0, isOver)
            if case .claimed(false, _) = call { simple.began = 0 }
        case .lookingAgain(var taking):
            taking.claimed = taking.isOfSilent ? .zero : limit(taking.claimed, isOver)
            taking.looked = .zero
            let isLate = taking.isOfSilent || Self.count(taking.claimed) == isOver
            simple.began = max(began ?? 0, isLate ? -1 : isOver)
            simple.machine.phase = .lookingAgain(taking)
        case .taking(var taking):
            taking.claimed = taking.isOfSilent ? .zero : limit(taking.claimed, isOver)
            let isLate = taking.isOfSilent || Self.count(taking.claimed) == isOver
            taking.looked = limit(taking.looked, isLate ? -1 : isOver)
            simple.machine.phase = .taking(taking)
        case .settling(let end):
            simple.machine.phase = .settling(until: limit(end, 0))
            simple.began = max(began ?? 0, isOver)
        case .held(let end, let next):
            let isLost = end < .zero && !limits.countsLate
            simple.machine.phase = .held(
                until: limit(end, -1),
                next: isLost ? .zero : limit(next, 0)
            )
            simple.began = isLost ? 0 : max(began ?? 0, isOver)
        case .beating(let end, let looked):
            let isLost = end < .zero && !limits.countsLate
            simple.machine.phase = .beating(
                until: limit(end, -1),
                looked: isLost ? Self.units(isOver) : limit(looked, isOver)
            )
        case .dropping:
            simple.machine.own.epoch = 0
            simple.machine.own.beat = 0
        case .refused: break
        }
        if simple.machine.trustedUntil.map({ $0 < .zero }) ?? true { simple.steadiness = .none }
        switch call {
        case .looking, .returning, .tearingReturn:
            // Nothing but its record matters any more.
            simple.machine.phase = .held(until: Self.units(-1), next: .zero)
            simple.steadiness = .none
        default: break
        }
        return simple
    }

    /// From where on a longer time is the same.
    struct TimeLimits {
        let trust: Int
        let observation: Int
        /// With an error that is planted, what is over matters.
        let countsLate: Bool

        init(_ timing: LeaseTiming, countsLate: Bool) {
            trust = ExploredProcess.count(timing.trust)
            observation = ExploredProcess.count(timing.observation)
            self.countsLate = countsLate
        }
    }

    // MARK: - Names

    var mentions: LeaseMentions {
        var mentions = LeaseMentions()
        guard !isDead else { return mentions }
        if isNamed { mentions.add(LeaseKernel.parts(machine.own).code) }
        switch machine.phase {
        case .looking(let seen?, _):
            mentions.add(LeaseKernel.code(seen.content))
        case .claiming(let taking), .lookingAgain(let taking), .taking(let taking):
            mentions.add(LeaseKernel.code(taking.content))
        case .looking(nil, _), .dropping, .settling, .held, .beating, .refused: break
        }
        switch call {
        case .found(_, _, let code): mentions.add(code)
        case .writing(let code), .tearing(let code), .returning(let code),
            .tearingReturn(let code):
            mentions.add(code)
        case nil, .listing, .reading, .claiming, .claimed, .dropping, .dropped, .written, .looking:
            break
        }
        return mentions
    }
}
