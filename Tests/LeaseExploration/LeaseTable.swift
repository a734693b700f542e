internal import LocalStorage

/// Errors that a lease's machine could have.
package enum PlantedLeaseError: String, Sendable, CaseIterable {
    /// A beat that returns when the trust is over counts all the same.
    case lateBeatCounts
    /// The holder goes on whoever's record it finds.
    case holderIsNotCompared
    /// Who takes a silent lease uses it at once.
    case noSecondLook
    /// The clock is one that somebody may set.
    case wallClock
    /// A process that is not seen here is gone, though it may be of another container.
    case goneInAnotherNamespace
    /// The same with another machine.
    case goneSinceAnotherBoot
    /// A holder that died before it looked again is followed at once.
    case unsettledIsFollowedAtOnce
}

/// What one process does to each input, with a number for each of its states.
///
/// A machine is asked only once for each state and input.
final class LeaseTable {
    /// What a process does next.
    enum Move {
        case none
        case begin
        case list
        case read
        case claim(Int)
        case drop(Int)
        /// A record is half written, or written.
        case tear(Int)
        case write(Int)
        /// Its call returns.
        case finish(found: Int)
        /// It is dead.
        case start

        /// True if others see it, or it depends on what they did.
        var isSeen: Bool {
            switch self {
            case .list, .read, .claim, .drop, .tear, .write: true
            case .none, .begin, .finish, .start: false
            }
        }
    }

    enum Input: Hashable {
        case begin
        case listed(Int)
        case read(Int)
        case claimed(Bool)
        case dropped
        case torn
        case written
        case finish(isGone: Bool)
        /// The call fails after it had its effect or a part of it.
        case fail
        case release
        case tick
        case setClock(Int)
    }

    struct Facts {
        let move: Move
        let isActing: Bool
        /// It is so, and has given its last beats in time.
        let isSteady: Bool
        let canFail: Bool
        let canRelease: Bool
        /// Claims with lower numbers may go; 0: none.
        let cleansBefore: Int
        /// The record in the place of which it writes its own, just after it looked; 0: none.
        let replaces: Int
        let isDead: Bool
    }

    private struct Question: Hashable {
        let process: Int32
        let input: Input
    }

    private struct Way: Hashable {
        let process: Int32
        let isGone: Bool
    }

    private struct Renaming: Hashable {
        let process: Int32
        let names: Int32
    }

    let kernel: LeaseKernel
    let timing: LeaseTiming
    let limits: ExploredProcess.TimeLimits
    let planted: PlantedLeaseError?
    private let restarts: Bool
    private var processes: [ExploredProcess] = []
    private(set) var facts: [Facts] = []
    private var numbers: [ExploredProcess: Int32] = [:]
    private var answers: [Question: Int32] = [:]
    private var ways: [Way: [Int32]] = [:]
    private var renamings: [Renaming: Int32] = [:]
    /// The same of each state as its facts.
    private(set) var mentions: [LeaseMentions] = []
    private var contentMentions: [Int: LeaseMentions] = [:]
    private var plain: [LeaseMentions: Int32] = [:]
    private var contents: [Renaming: UInt16] = [:]
    private var names: [LeaseNames] = []
    private var nameNumbers: [LeaseNames: Int32] = [:]

    init(_ kernel: LeaseKernel, _ exploration: LeaseExploration) {
        (self.kernel, timing) = (kernel, exploration.timing)
        (planted, restarts) = (exploration.planted, exploration.restarts)
        limits = ExploredProcess.TimeLimits(timing, countsLate: planted == .lateBeatCounts)
    }

    func fresh(_ slot: Int) -> Int32 {
        number(ExploredProcess(LeaseCodes.holder(slot: slot, age: 0), kernel, timing))
    }

    func dead(_ slot: Int) -> Int32 {
        var process = ExploredProcess(LeaseCodes.holder(slot: slot, age: 0), kernel, timing)
        process.isDead = true
        return number(process)
    }

    func text(_ number: Int32) -> String {
        let process = processes[Int(number)]
        guard !process.isDead else { return "dead" }
        return "\(process.machine.phase) \(process.call.map { "\($0)" } ?? "")"
            .replacing("SyncModel.", with: "").replacing("LocalStorage.", with: "")
            .replacing("LeaseMachine.", with: "")
    }

    private func number(_ process: ExploredProcess) -> Int32 {
        if let known = numbers[process] { return known }
        let new = Int32(processes.count)
        numbers[process] = new
        processes.append(process)
        facts.append(facts(of: process))
        mentions.append(process.mentions)
        return new
    }

    func answer(_ process: Int32, _ input: Input) -> Int32 {
        let question = Question(process: process, input: input)
        if let known = answers[question] { return known }
        let new = number(after(input, processes[Int(process)]))
        answers[question] = new
        return new
    }

    /// What a process can come to by itself, itself first: by steps that no other one sees.
    ///
    /// Of a holder that is gone, it may have seen that or not.
    func alternatives(_ process: Int32, isGone: Bool) -> [Int32] {
        let way = Way(process: process, isGone: isGone)
        if let known = ways[way] { return known }
        var found = [process]
        var index = 0
        func add(_ input: Input, to old: Int32) {
            let new = answer(old, input)
            if !found.contains(new), !facts[Int(new)].isDead { found.append(new) }
        }
        while index < found.count {
            let old = found[index]
            let facts = facts[Int(old)]
            switch facts.move {
            case .begin: add(.begin, to: old)
            case .finish:
                add(.finish(isGone: false), to: old)
                if isGone { add(.finish(isGone: true), to: old) }
            case .none, .list, .read, .claim, .drop, .tear, .write, .start: break
            }
            if facts.canFail { add(.fail, to: old) }
            if facts.canRelease, restarts { add(.release, to: old) }
            index += 1
        }
        ways[way] = found
        return found
    }

    func number(_ wanted: LeaseNames) -> Int32 {
        if let known = nameNumbers[wanted] { return known }
        let new = Int32(names.count)
        names.append(wanted)
        nameNumbers[wanted] = new
        return new
    }

    func mentions(of code: Int) -> LeaseMentions {
        if let known = contentMentions[code] { return known }
        var new = LeaseMentions()
        new.add(code)
        contentMentions[code] = new
        return new
    }

    /// The number of the plain names for what is mentioned; nil if it has them.
    func plainNames(_ mentions: LeaseMentions, slots: Int) -> Int32? {
        if let known = plain[mentions] { return known < 0 ? nil : known }
        let new = LeaseNames.plain(mentions, slots: slots).map { number($0) } ?? -1
        plain[mentions] = new
        return new < 0 ? nil : new
    }

    func renamed(content: UInt16, _ number: Int32) -> UInt16 {
        let renaming = Renaming(process: Int32(content), names: number)
        if let known = contents[renaming] { return known }
        let new = UInt16(names[Int(number)].code(Int(content)))
        contents[renaming] = new
        return new
    }

    func renamed(_ process: Int32, _ number: Int32) -> Int32 {
        let renaming = Renaming(process: process, names: number)
        if let known = renamings[renaming] { return known }
        let old = processes[Int(process)]
        let new = self.number(names[Int(number)].process(old, kernel))
        renamings[renaming] = new
        return new
    }

    /// True if a process of a slot sees that the holder of a record is gone.
    func isGone(_ code: Int, seenBy slot: Int, exists: Bool) -> Bool {
        guard let parts = LeaseCodes.Parts(code), !parts.isFree, !parts.isDamaged else {
            return false
        }
        let own = kernel.places[slot]
        let theirs = kernel.places[parts.slot]
        let isSeen = exists && own == theirs
        let (boot, namespace) =
            switch planted {
            case .goneInAnotherNamespace: (own.boot, theirs.namespace)
            case .goneSinceAnotherBoot: (theirs.boot, own.namespace)
            default: (own.boot, own.namespace)
            }
        return kernel.process(parts.holder).isGone(boot: boot, namespace: namespace) { _ in
            isSeen ? "\(parts.holder)" : nil
        }
    }

    // MARK: - One process

    private func facts(of process: ExploredProcess) -> Facts {
        var replaces = LeaseCodes.absent
        if case .taking(let taking) = process.machine.phase, taking.looked == .zero {
            replaces = LeaseKernel.code(taking.content)
        }
        let canFail =
            switch process.call {
            case .claimed, .written, .tearing: true
            default: false
            }
        return Facts(
            move: move(of: process),
            isActing: process.isActing,
            isSteady: process.isActing && process.steadiness == .steady,
            canFail: canFail,
            canRelease: process.call == nil && !process.isDead
                && process.machine.release(at: .zero) != nil,
            cleansBefore: process.cleans ? Int(process.machine.epoch) : 0,
            replaces: replaces,
            isDead: process.isDead
        )
    }

    private func move(of process: ExploredProcess) -> Move {
        guard !process.isDead else { return .start }
        switch process.call {
        case nil:
            var machine = process.machine
            switch machine.step(at: .zero) {
            case .read, .claim, .dropClaim, .write: return .begin
            case .wait, .held, .refused: return .none
            }
        case .listing: return .list
        case .reading, .looking: return .read
        case .found(_, _, let code): return .finish(found: code)
        case .claiming(let number, _): return .claim(number)
        case .dropping(let number): return .drop(number)
        case .writing(let code), .returning(let code): return .tear(code)
        case .tearing(let code), .tearingReturn(let code): return .write(code)
        case .claimed, .dropped, .written: return .finish(found: LeaseCodes.absent)
        }
    }
}
