internal import SyncTestSupport

/// A kind of fault that comes by itself.
enum FaultKind: String, CaseIterable, Sendable {
    // The wire and the service.
    case connectFailed, lostRequest, lostAnswer, cutUpload, cutBody, stalled
    case slowDown, serverError, errorAfterwards, accessDenied
    case corruptBody, wholeForRange, wrongRange, shiftedRange, wrongTag, missingChecksum
    case brokenListing, staleListing, errorInSuccess
    // The disk.
    case openError, readError, writeError, resizeError, syncError, nameError, statusError
    case walkError, shortTransfer, manifestError

    var isOfDisk: Bool {
        switch self {
        case .openError, .readError, .writeError, .resizeError, .syncError, .nameError,
            .statusError, .walkError, .shortTransfer, .manifestError:
            true
        default: false
        }
    }

    /// Has few chances in a run.
    var isRare: Bool {
        switch self {
        case .brokenListing, .staleListing, .errorInSuccess: true
        default: false
        }
    }
}

/// Which faults strike in one run: how often each kind does, by a seed.
///
/// Whether one strikes depends on the seed, its kind and how many chances there were before, and on
/// nothing else, so that taking away one leaves the others.
struct FaultPlan: Codable, Hashable, Sendable {
    var seed: UInt64 = 0
    /// Strikes in ten thousand chances, by kind.
    ///
    /// -1: none, but for a time that half are; -2: the same, early. With 10,000 all are alike.
    var rates: [String: Int] = [:]
    /// If set, these strike and no others: the chance's number after the kind's name and a colon.
    var only: [String]?

    static let none = FaultPlan()

    func mayConcern(_ kind: FaultKind) -> Bool {
        only?.contains { $0.hasPrefix(kind.rawValue + ":") } ?? (rates[kind.rawValue] != nil)
    }

    var isEmpty: Bool { only?.isEmpty ?? rates.isEmpty }
}

/// Applies a plan, and remembers what struck.
final class FaultDice {
    private let plan: FaultPlan
    private let only: Set<String>?
    private var chances: [FaultKind: Int] = [:]
    private(set) var struck: [String] = []
    private(set) var counts: [FaultKind: Int] = [:]
    var isOn = true

    init(_ plan: FaultPlan) {
        self.plan = plan
        only = plan.only.map(Set.init)
    }

    func rolls(_ kind: FaultKind) -> Bool {
        guard isOn, only != nil || plan.rates[kind.rawValue] != nil else { return false }
        let chance = chances[kind, default: 0]
        chances[kind] = chance + 1
        let name = "\(kind.rawValue):\(chance)"
        let strikes: Bool
        if let only {
            strikes = only.contains(name)
        } else {
            strikes = decide(kind, chance)
        }
        if strikes {
            struck.append(name)
            counts[kind, default: 0] += 1
        }
        return strikes
    }

    private func decide(_ kind: FaultKind, _ chance: Int) -> Bool {
        guard let rate = plan.rates[kind.rawValue] else { return false }
        let dice = number(kind, chance)
        guard rate < 0 else { return dice % 10_000 < UInt64(rate) }
        let start = Int(number(kind, -1) % (rate == -1 ? 30 : 5))
        let length = 2 + Int(number(kind, -2) % 12)
        let isDuring = chance >= start && chance < start + length
        return isDuring && dice % 2 == 0
    }

    /// The same for the same kind and chance, for what else is to be chosen.
    func number(_ kind: FaultKind, _ chance: Int) -> UInt64 {
        var seed = plan.seed ^ UInt64(bitPattern: Int64(chance)) &* 0x9E37_79B9_7F4A_7C15
        for byte in kind.rawValue.utf8 { seed = (seed ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        var generator = SeededGenerator(randomSeed: seed)
        return generator.next()
    }

    /// A number for the fault that struck last.
    func choice(_ kind: FaultKind) -> UInt64 {
        if plan.rates[kind.rawValue] == 10_000 { return number(kind, -3) }
        return number(kind, chances[kind, default: 0] &+ 1_000_003)
    }
}
