internal import LocalStorage

/// What must hold in every state.
extension LeaseExplorer {
    /// What decides what becomes of a process that is alone.
    struct Alone: Hashable {
        let slot: Int
        let process: Int32
        let content: UInt16
        let claims: UInt16
    }

    func judge(_ state: LeaseState) {
        let acting = (0..<slots).filter { slot in
            alternatives(state, slot).contains { table.facts[Int($0)].isActing }
        }
        for slot in acting { result.acting[slot] += 1 }
        if acting.count > 1 { violated(.twoHolders, state, "now") }
        guard exploration.looksAhead, result.violation == nil else { return }
        for slot in 0..<slots {
            judgeKeeping(state, slot)
            judgeFollowing(state, slot)
        }
    }

    /// Who is not late takes nothing from a process that is not late either, if their clocks agree.
    func judgeTaking(_ state: LeaseState, _ slot: Int) {
        guard exploration.clocksLag == 0 else { return }
        guard let parts = LeaseCodes.Parts(facts(state, slot).replaces), parts.age == 0,
            parts.slot != slot
        else { return }
        if alternatives(state, parts.slot).contains(where: { table.facts[Int($0)].isSteady }) {
            violated(.robbed, state, "\(slot) writes its record")
        }
    }

    private func left(alone slot: Int, _ state: LeaseState) -> (LeaseState, Alone) {
        var left = state
        for other in 0..<slots where other != slot { left[other] = table.dead(other) }
        let key = Alone(
            slot: slot,
            process: state[slot],
            content: state.content,
            claims: state.claims
        )
        return (plain(left), key)
    }

    /// One that has the lease and is never late keeps it.
    private func judgeKeeping(_ state: LeaseState, _ slot: Int) {
        guard facts(state, slot).isActing, case .begin = facts(state, slot).move,
            let parts = LeaseCodes.Parts(Int(state.content)), !parts.isDamaged,
            parts.holder == LeaseCodes.holder(slot: slot, age: 0)
        else { return }
        var (left, key) = left(alone: slot, state)
        guard kept.insert(key).inserted else { return }
        let trust = ExploredProcess.count(exploration.timing.trust)
        for _ in 0..<(3 * trust) {
            left = movedOn(left, slot, untilActing: false)
            guard facts(left, slot).isActing else { return violated(.lost, state, "\(slot) alone") }
            left = passed(left)
        }
    }

    /// If all others die, the one that is left has the lease after a while, or the next process in
    /// its place.
    private func judgeFollowing(_ state: LeaseState, _ slot: Int) {
        var (left, key) = left(alone: slot, state)
        guard alone[key] == nil else { return }
        let timing = exploration.timing
        let longest =
            4 * ExploredProcess.count(timing.observation + timing.settling + timing.trust)
        for waited in 0...longest {
            left = movedOn(left, slot, untilActing: true)
            if facts(left, slot).isActing {
                alone[key] = waited
                result.longestWait = max(result.longestWait, waited)
                return
            }
            left = passed(left)
        }
        violated(.stuck, state, "\(slot) is left alone")
    }

    private func passed(_ state: LeaseState) -> LeaseState {
        var later = state
        for slot in 0..<slots { later[slot] = table.answer(state[slot], .tick) }
        return later
    }

    /// Lets a process do what it can without any time going by.
    private func movedOn(_ state: LeaseState, _ slot: Int, untilActing: Bool) -> LeaseState {
        var left = state
        // Readings could go on for ever while the time to wait is less than a unit.
        for _ in 0..<24 {
            if untilActing, facts(left, slot).isActing { break }
            guard let moved = moved(left, slot) else { break }
            left = plain(moved)
        }
        return left
    }
}
