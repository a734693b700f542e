/// The processes and the files of a lease.
struct LeaseState: Hashable {
    var first: Int32
    var second: Int32
    var third: Int32 = -1
    var content = UInt16(LeaseCodes.absent)
    var claims: UInt16 = 0
    /// Of each clock, how many units must go by before it may miss one: four bits for each.
    var lags: UInt16 = 0

    subscript(slot: Int) -> Int32 {
        get { slot == 0 ? first : slot == 1 ? second : third }
        set {
            switch slot {
            case 0: first = newValue
            case 1: second = newValue
            default: third = newValue
            }
        }
    }

    var largestClaim: Int { claims == 0 ? 0 : 15 - claims.leadingZeroBitCount }

    func lag(_ slot: Int) -> Int { Int(lags >> UInt16(slot * 4) & 15) }

    mutating func setLag(_ slot: Int, _ value: Int) {
        lags = lags & ~(15 << UInt16(slot * 4)) | UInt16(value) << UInt16(slot * 4)
    }
}

/// Explores all states, the nearest first.
final class LeaseExplorer {
    typealias Kind = LeaseExploration.Violation.Kind

    let exploration: LeaseExploration
    let table: LeaseTable
    let slots: Int
    var keepsSteps = false
    var result: LeaseExploration.Result
    private var visited: Set<LeaseState> = []
    private var next: [LeaseState] = []
    private var came: [LeaseState: (from: LeaseState, by: String)] = [:]
    private var orders: [(order: [Int], names: Int32)] = []
    /// The names after the restart of each slot.
    private var restarts: [Int32] = []
    /// The state that is explored.
    private var current: LeaseState
    /// What was found about processes that are alone, by what matters then.
    var alone: [Alone: Int] = [:]
    var kept: Set<Alone> = []

    init(_ exploration: LeaseExploration) {
        self.exploration = exploration
        slots = exploration.processes
        let kernel =
            switch exploration.machines {
            case .apart: LeaseKernel.apart(slots)
            case .together: LeaseKernel.together(slots)
            case .contained: LeaseKernel.contained(slots)
            }
        table = LeaseTable(kernel, exploration)
        result = LeaseExploration.Result(acting: Array(repeating: 0, count: slots))
        current = LeaseState(first: 0, second: 0)
        restarts = (0..<slots).map { table.number(LeaseNames.after(restartOf: $0)) }
        orders = ordersOfEqualSlots().map { ($0, table.number(LeaseNames.exchanging($0))) }
    }

    /// The ways to exchange slots that are alike.
    private func ordersOfEqualSlots() -> [[Int]] {
        let all =
            slots == 2
            ? [[1, 0]] : [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        switch exploration.machines {
        case .apart, .contained: return all
        case .together: return slots == 2 ? all : [[1, 0, 2]]
        }
    }

    func explore() -> LeaseExploration.Result {
        var start = LeaseState(
            first: table.fresh(0),
            second: table.fresh(1)
        )
        if slots > 2 { start.third = table.fresh(2) }
        current = start
        add(start, "begin")
        while !next.isEmpty, result.violation == nil {
            guard visited.count < exploration.limit else {
                result.isComplete = false
                break
            }
            let level = next
            next = []
            result.depth += 1
            for state in level where result.violation == nil { expand(state) }
        }
        result.states = visited.count
        return result
    }

    func violated(_ kind: Kind, _ state: LeaseState, _ step: String) {
        guard result.violation == nil else { return }
        var steps = [step]
        if came[state] == nil { steps.append("after: \(text(state))") }
        var place: LeaseState? = came[state] == nil ? current : state
        while keepsSteps, let at = place {
            let found = came[at]
            steps.append("\(found?.by ?? ""): \(text(at))")
            place = found?.from == at ? nil : found?.from
        }
        result.violation = LeaseExploration.Violation(kind: kind, steps: steps.reversed())
    }

    private func text(_ state: LeaseState) -> String {
        let processes = (0..<slots).map { "\($0) \(table.text(state[$0]))" }
        let content = LeaseCodes.Parts(Int(state.content)).map { "\($0)" } ?? "absent"
        return (processes + [content, "claims \(String(state.claims, radix: 2))"])
            .joined(separator: " | ")
    }

    // MARK: - States

    private func add(_ state: LeaseState, _ step: @autoclosure () -> String) {
        result.transitions += 1
        guard state.largestClaim <= exploration.takings else { return }
        let plain = least(plain(revived(state)))
        guard visited.insert(plain).inserted else { return }
        if keepsSteps { came[plain] = (current, step()) }
        next.append(plain)
        judge(plain)
    }

    /// The next process begins at once where one has died: if it does nothing, that is the same.
    private func revived(_ state: LeaseState) -> LeaseState {
        var revived = state
        for slot in 0..<slots where facts(state, slot).isDead {
            revived = started(plain(revived), slot) ?? revived
        }
        return revived
    }

    func plain(_ state: LeaseState) -> LeaseState {
        var mentions = LeaseMentions()
        for slot in 0..<slots {
            let other = table.mentions[Int(state[slot])]
            mentions = mentions.union(other)
        }
        mentions = mentions.union(table.mentions(of: Int(state.content)))
        guard let names = table.plainNames(mentions, slots: slots) else { return state }
        return renamed(state, names)
    }

    private func renamed(_ state: LeaseState, _ names: Int32) -> LeaseState {
        var renamed = state
        for slot in 0..<slots { renamed[slot] = table.renamed(state[slot], names) }
        renamed.content = table.renamed(content: state.content, names)
        return renamed
    }

    /// The least of the states that are alike but for the order of the slots.
    private func least(_ state: LeaseState) -> LeaseState {
        var least = state
        for (order, names) in orders {
            let moved = renamed(state, names)
            var exchanged = moved
            for slot in 0..<slots {
                exchanged[order[slot]] = moved[slot]
                if state.lags != 0 { exchanged.setLag(order[slot], state.lag(slot)) }
            }
            if precedes(exchanged, least) { least = exchanged }
        }
        return least
    }

    private func precedes(_ left: LeaseState, _ right: LeaseState) -> Bool {
        if left.content != right.content { return left.content < right.content }
        if left.first != right.first { return left.first < right.first }
        if left.second != right.second { return left.second < right.second }
        if left.third != right.third { return left.third < right.third }
        return left.lags < right.lags
    }

    func facts(_ state: LeaseState, _ slot: Int) -> LeaseTable.Facts {
        table.facts[Int(state[slot])]
    }

    /// True if a holder of a record is a process that lives.
    func exists(_ code: Int, _ state: LeaseState) -> Bool {
        guard let parts = LeaseCodes.Parts(code) else { return false }
        return parts.age == 0 && !facts(state, parts.slot).isDead
    }

    // MARK: - Steps

    private func expand(_ state: LeaseState) {
        current = state
        var ways: [[Int32]] = []
        for slot in 0..<slots {
            let found = alternatives(state, slot)
            ways.append(found)
            for way in found {
                var there = state
                there[slot] = way
                if table.facts[Int(way)].move.isSeen, let moved = moved(there, slot) {
                    add(moved, "\(slot) moves")
                }
                for claim in 1..<max(1, table.facts[Int(way)].cleansBefore)
                where state.claims & 1 << UInt16(claim) != 0 {
                    there.claims = state.claims & ~(1 << UInt16(claim))
                    add(there, "\(slot) removes claim \(claim)")
                }
            }
            if exploration.restarts {
                var killed = state
                killed[slot] = table.dead(slot)
                add(killed, "\(slot) is killed, and the next one begins")
            }
            if exploration.planted == .wallClock, facts(state, slot).isActing {
                add(replacing(state, slot, .setClock(-3)), "\(slot)'s clock is set back")
            }
        }
        for first in ways[0] {
            for second in ways[1] {
                for third in slots > 2 ? ways[2] : [-1] {
                    var there = state
                    (there.first, there.second, there.third) = (first, second, third)
                    tick(there)
                }
            }
        }
    }

    /// What a process can come to by itself.
    func alternatives(_ state: LeaseState, _ slot: Int) -> [Int32] {
        var isGone = false
        if case .finish(let code) = facts(state, slot).move {
            isGone = table.isGone(code, seenBy: slot, exists: exists(code, state))
        }
        return table.alternatives(state[slot], isGone: isGone)
    }

    func replacing(_ state: LeaseState, _ slot: Int, _ input: LeaseTable.Input) -> LeaseState {
        var replaced = state
        replaced[slot] = table.answer(state[slot], input)
        return replaced
    }

    /// What the next move of a process leads to; nil if it waits, or cannot be started.
    func moved(_ state: LeaseState, _ slot: Int) -> LeaseState? {
        var moved = state
        switch facts(state, slot).move {
        case .none: return nil
        case .begin: return replacing(state, slot, .begin)
        case .list: return replacing(state, slot, .listed(state.largestClaim))
        case .read: return replacing(state, slot, .read(Int(state.content)))
        case .claim(let number):
            let bit: UInt16 = 1 << UInt16(number)
            moved = replacing(state, slot, .claimed(state.claims & bit == 0))
            moved.claims |= bit
        case .drop(let number):
            moved = replacing(state, slot, .dropped)
            moved.claims &= ~(1 << UInt16(number))
        case .tear(let code):
            judgeTaking(state, slot)
            moved = replacing(state, slot, .torn)
            moved.content = UInt16(LeaseCodes.damaged(code))
        case .write(let code):
            moved = replacing(state, slot, .written)
            moved.content = UInt16(code)
        case .finish(let code):
            let isGone = table.isGone(code, seenBy: slot, exists: exists(code, state))
            return replacing(state, slot, .finish(isGone: isGone))
        case .start: return started(state, slot)
        }
        return moved
    }

    private func started(_ state: LeaseState, _ slot: Int) -> LeaseState? {
        var mentions = LeaseMentions()
        for slot in 0..<slots { mentions = mentions.union(table.mentions[Int(state[slot])]) }
        mentions = mentions.union(table.mentions(of: Int(state.content)))
        let oldest = LeaseCodes.holder(slot: slot, age: LeaseCodes.ages - 1)
        guard mentions.beats(of: oldest) == 0 else { return nil }
        var started = renamed(state, restarts[slot])
        started[slot] = table.fresh(slot)
        return started
    }

    private func tick(_ state: LeaseState) {
        var later = state
        for slot in 0..<slots { later[slot] = table.answer(state[slot], .tick) }
        guard exploration.clocksLag > 0 else { return add(later, "time goes by") }
        for slot in 0..<slots { later.setLag(slot, max(0, state.lag(slot) - 1)) }
        for missing in 0..<(1 << slots) {
            var lagging = later
            let slots = (0..<slots).filter { missing & 1 << $0 != 0 }
            guard slots.allSatisfy({ state.lag($0) == 0 }) else { continue }
            for slot in slots {
                lagging[slot] = state[slot]
                lagging.setLag(slot, exploration.clocksLag - 1)
            }
            add(lagging, "time goes by, not on the clocks of \(slots)")
        }
    }
}
