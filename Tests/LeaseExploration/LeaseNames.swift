internal import LocalStorage
internal import SyncModel

/// Which holders and beats a state speaks of.
struct LeaseMentions: Hashable {
    /// A bit for each beat of each holder.
    var beats: UInt64 = 0

    mutating func add(_ code: Int) {
        guard let parts = LeaseCodes.Parts(code) else { return }
        beats |= 1 << UInt64(parts.holder * LeaseCodes.beats + parts.beat)
    }

    func union(_ other: LeaseMentions) -> LeaseMentions {
        LeaseMentions(beats: beats | other.beats)
    }

    func beats(of holder: Int) -> UInt64 {
        beats >> UInt64(holder * LeaseCodes.beats) & ((1 << UInt64(LeaseCodes.beats)) - 1)
    }
}

/// Other names for the same things, of which a machine notices nothing: it compares holders
/// and beats only for equality, but for the beat 0.
struct LeaseNames: Hashable {
    var holders: [Int]
    /// Of each holder, by its old number.
    var beats: [[Int]]

    private static let identity = LeaseNames(
        holders: Array(0..<(3 * LeaseCodes.ages)),
        beats: Array(repeating: Array(0..<LeaseCodes.beats), count: 3 * LeaseCodes.ages)
    )
    /// Names by which states are equal that differ in nothing else; nil if they have them.
    ///
    /// Beats begin with 1, and the processes of a slot have no gap in their ages.
    static func plain(_ mentions: LeaseMentions, slots: Int) -> LeaseNames? {
        var names = identity
        for slot in 0..<slots {
            var age = 1
            for old in 1..<LeaseCodes.ages {
                let holder = LeaseCodes.holder(slot: slot, age: old)
                guard mentions.beats(of: holder) != 0 else { continue }
                names.holders[holder] = LeaseCodes.holder(slot: slot, age: age)
                age += 1
            }
        }
        for holder in 0..<(slots * LeaseCodes.ages) {
            let present = mentions.beats(of: holder)
            // The beat 0 has a meaning of its own.
            var rank = 1
            for beat in 1..<LeaseCodes.beats where present & 1 << UInt64(beat) != 0 {
                names.beats[holder][beat] = rank
                rank += 1
            }
        }
        let isSame = (0..<(slots * LeaseCodes.ages)).allSatisfy { holder in
            let present = mentions.beats(of: holder)
            return present == 0
                || names.holders[holder] == holder
                    && (0..<LeaseCodes.beats).allSatisfy {
                        present & 1 << UInt64($0) == 0 || names.beats[holder][$0] == $0
                    }
        }
        return isSame ? nil : names
    }

    /// Those with which a slot gets a new process, for which there must be room.
    static func after(restartOf slot: Int) -> LeaseNames {
        var names = identity
        for age in 0..<(LeaseCodes.ages - 1) {
            names.holders[LeaseCodes.holder(slot: slot, age: age)] =
                LeaseCodes.holder(slot: slot, age: age + 1)
        }
        return names
    }

    /// Those with which slots change places.
    static func exchanging(_ order: [Int]) -> LeaseNames {
        var names = identity
        for (slot, new) in order.enumerated() {
            for age in 0..<LeaseCodes.ages {
                names.holders[LeaseCodes.holder(slot: slot, age: age)] =
                    LeaseCodes.holder(slot: new, age: age)
            }
        }
        return names
    }

    // MARK: - Applying

    func code(_ code: Int) -> Int {
        guard var parts = LeaseCodes.Parts(code) else { return code }
        parts.beat = beats[parts.holder][parts.beat]
        parts.holder = holders[parts.holder]
        return parts.code
    }

    func process(_ process: ExploredProcess, _ kernel: LeaseKernel) -> ExploredProcess {
        func content(_ content: LeaseMachine.Content) -> LeaseMachine.Content {
            kernel.content(code(LeaseKernel.code(content)))
        }
        func taking(_ taking: LeaseMachine.Taking) -> LeaseMachine.Taking {
            var renamed = taking
            renamed.content = content(taking.content)
            return renamed
        }
        var renamed = process
        if process.isNamed {
            let parts = LeaseKernel.parts(process.machine.own)
            renamed.machine.own =
                LeaseCodes.Parts(code(parts.code)).map(kernel.record)
                ?? process.machine.own
        } else {
            let holder = holders[Int(process.machine.own.holder) ?? 0]
            renamed.machine.own = kernel.record(
                LeaseCodes.Parts(holder: holder, epoch: 0, beat: 0, isFree: false)
            )
        }
        switch process.machine.phase {
        case .looking(var seen?, let next):
            seen.content = content(seen.content)
            renamed.machine.phase = .looking(seen, next: next)
        case .claiming(let old): renamed.machine.phase = .claiming(taking(old))
        case .lookingAgain(let old): renamed.machine.phase = .lookingAgain(taking(old))
        case .taking(let old): renamed.machine.phase = .taking(taking(old))
        case .dropping(let old, _): renamed.machine.phase = .dropping(old, then: nil)
        case .looking(nil, _), .settling, .held, .beating, .refused: break
        }
        renamed.call = process.call?.renamed(code)
        return renamed
    }
}
