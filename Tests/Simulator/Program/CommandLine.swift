/// What the program is asked to do.
struct Arguments {
    var seeds: Range<UInt64> = 0..<100
    var jobs = 2
    var minutes: Int?
    var single: UInt64?
    /// Cases of the planner alone.
    var plannerCases: UInt64?
    /// Histories of two machines with one bucket.
    var machines: Range<UInt64>?
    /// So many processes that want one lease.
    var leases: Int?
    /// Several machines that share a directory, in the place of one.
    var hasNodes = false
    /// Contents are encrypted before they are sent.
    var isEncrypted = false
    var showsTrace = false
    var replays: [String] = []
    var regressions: String?
    var isWorker = false
    /// Where shrunk failures are written; one whose cause is found moves to Tests/Regressions.
    var keep = ".build/histories"
    var shrinks = true
    /// Which worlds the seeds draw from.
    var worlds = WorldSelection.both(WorldKind.allCases)

    static let usage = """
        usage: osssync-simulator [--seeds A..<B | --from A --count N] [--jobs N] [--no-shrink]
                                 [--minutes N] [--keep DIR] [--worlds WORLDS | --nodes]
                                 [--encrypted]
               osssync-simulator --seed N [--trace] [--worlds WORLDS | --nodes] [--encrypted]
               osssync-simulator --replay FILE [--trace]
               osssync-simulator --regressions DIR
               osssync-simulator --planner-cases N [--from A]
               osssync-simulator --two-machines A..<B [--trace]
               osssync-simulator --leases 2|3
        WORLDS: both (half of the seeds), old, new, or names with commas between: \
        \(WorldKind.allCases.map(\.rawValue).joined(separator: " "))
        or wide, or some of these: \
        \(WideKind.allCases.map(\.rawValue).joined(separator: " "))
        """

    /// Nil if they make no sense.
    init?(_ words: [String]) {
        var rest = words[...]
        var from: UInt64 = 0
        var count: UInt64?
        while let word = rest.popFirst() {
            switch word {
            case "--trace": showsTrace = true
            case "--worker": isWorker = true
            case "--nodes": hasNodes = true
            case "--encrypted": isEncrypted = true
            case "--no-shrink": shrinks = false
            default:
                guard let value = rest.popFirst() else { return nil }
                switch word {
                case "--seeds":
                    guard let range = Self.range(value) else { return nil }
                    seeds = range
                case "--from": from = UInt64(value) ?? 0
                case "--planner-cases": plannerCases = UInt64(value)
                case "--count": count = UInt64(value)
                case "--jobs": jobs = max(1, Int(value) ?? 2)
                case "--minutes": minutes = Int(value)
                case "--seed": single = UInt64(value)
                case "--replay": replays.append(value)
                case "--regressions": regressions = value
                case "--keep": keep = value
                case "--two-machines": machines = Self.range(value)
                case "--leases":
                    guard let count = Int(value), (2...3).contains(count) else { return nil }
                    leases = count
                case "--worlds":
                    guard let chosen = WorldSelection(value) else { return nil }
                    worlds = chosen
                default: return nil
                }
            }
        }
        if let count { seeds = from..<(from + count) }
        if minutes != nil, from > 0 { seeds = from..<UInt64.max }
        if let plannerCases { seeds = from..<(from + plannerCases) }
    }

    func history(_ seed: UInt64) -> History {
        var history =
            hasNodes
            ? NodeHistory.history(seed: seed) : HistoryGenerator.history(seed: seed, worlds)
        if isEncrypted { history.setup.isEncrypted = true }
        return history
    }

    /// What a replay of a seed needs beside its number.
    var kind: String {
        let rest = isEncrypted ? " --encrypted" : ""
        if case .wide = worlds { return " --worlds \(worlds.text)" + rest }
        return (hasNodes ? " --nodes" : "") + rest
    }

    /// The beginning of the name of a shrunk failure's file.
    var fileKind: String {
        if isEncrypted { return "encrypted" }
        if case .wide = worlds { return "wide" }
        return hasNodes ? "nodes" : "seed"
    }

    private static func range(_ text: String) -> Range<UInt64>? {
        let numbers = text.split(separator: "..<").compactMap { UInt64($0) }
        guard numbers.count == 2, numbers[0] < numbers[1] else { return nil }
        return numbers[0]..<numbers[1]
    }
}
