/// What simulations met.
struct Statistics: Codable {
    var seeds = 0
    var operations = 0
    var runs = 0
    var requests = 0
    var calls = 0
    var faults: [String: Int] = [:]
    /// By the name of the place.
    var kills: [String: Int] = [:]
    var powerCuts: [String: Int] = [:]
    /// Bytes that came again after a kill, at worst.
    var worstWaste: Int64 = 0

    mutating func add(_ counts: [FaultKind: Int]) {
        for (kind, count) in counts { faults[kind.rawValue, default: 0] += count }
    }

    mutating func crash(_ point: String, isPowerCut: Bool) {
        if isPowerCut { powerCuts[point, default: 0] += 1 } else { kills[point, default: 0] += 1 }
    }

    mutating func add(_ other: Statistics) {
        seeds += other.seeds
        operations += other.operations
        runs += other.runs
        requests += other.requests
        calls += other.calls
        faults.merge(other.faults, uniquingKeysWith: +)
        kills.merge(other.kills, uniquingKeysWith: +)
        powerCuts.merge(other.powerCuts, uniquingKeysWith: +)
        worstWaste = max(worstWaste, other.worstWaste)
    }

    var lines: [String] {
        let points = Set(kills.keys).union(powerCuts.keys)
        let struck = faults.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return [
            "\(seeds) seeds, \(operations) operations, \(runs) runs, \(requests) requests, "
                + "\(calls) calls on the disk",
            "faults: " + struck.joined(separator: ", "),
            "kills \(kills.values.reduce(0, +)), power cuts \(powerCuts.values.reduce(0, +)), "
                + "at \(points.count) distinct points",
            "bytes that came again after a kill: at most \(worstWaste)",
        ]
    }
}
