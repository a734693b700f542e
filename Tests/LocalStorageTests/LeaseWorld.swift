import SyncModel

@testable import LocalStorage

/// Some processes, and places that each have a record and claims.
///
/// Every call has three moments: it begins, it has its effect, it returns. In between any time may
/// go by.
struct LeaseWorld {
    struct Process {
        var machine: LeaseMachine
        /// Whose record it asks for.
        var place = 0
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

    struct Place {
        var content = LeaseMachine.Content.absent
        var claims: Set<UInt64> = []

        /// What ``LeaseFiles/isTaken`` says.
        var isTaken: Bool {
            switch content {
            case .absent: false
            case .damaged: true
            case .record(let record): !record.isFree
            }
        }
    }

    enum Answer {
        case found(LeaseMachine.Finding)
        case claimed(Bool)
        case done
    }

    var time = 0
    var places: [Place]
    var processes: [Process]

    init(speeds: [Int], places: Int = 1, timing: LeaseTiming) {
        self.places = Array(repeating: Place(), count: places)
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

    func clock(_ index: Int) -> Duration {
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
        let place = processes[index].place
        guard let call = processes[index].call else {
            let step = processes[index].machine.step(at: now)
            switch step {
            case .wait, .held: return false
            case .refused:
                processes[index].isRefused = true
            case .read, .claim, .dropClaim, .write:
                processes[index].call = Call(step: step, began: now)
            }
            return true
        }
        guard let answer = call.answer else {
            if writesTorn, case .write(let record) = call.step {
                places[place].content = .damaged(checksum: record.beat)
                // The caller was told of an error, and tries again.
                processes[index].call = nil
            } else {
                let answer = effect(of: call.step, at: place)
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
        if let until = processes[index].machine.trustedUntil { processes[index].trusted = until }
        return true
    }

    private mutating func effect(of step: LeaseMachine.Step, at place: Int) -> Answer {
        switch step {
        case .read:
            return .found(
                LeaseMachine.Finding(
                    places[place].content,
                    claim: places[place].claims.max() ?? 0,
                    isHolderGone: false
                )
            )
        case .claim(let number): return .claimed(places[place].claims.insert(number).inserted)
        case .dropClaim(let number): places[place].claims.remove(number)
        case .write(let record): places[place].content = .record(record)
        case .wait, .held, .refused: break
        }
        return .done
    }

    /// Lets every process do what it can without any time going by.
    mutating func settle() {
        while processes.indices.contains(where: { move($0) }) {}
    }
}
