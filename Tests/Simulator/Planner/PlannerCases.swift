internal import SyncModel
internal import SyncPlanner
internal import SyncTestSupport

/// Plans many random cases as the engine does, and holds each against the reference.
struct PlannerCases {
    private(set) var failures: [String] = []
    private(set) var keys = 0
    private(set) var judged = 0

    private static let mostFailures = 10

    /// A line for people, a line "N passed, M failed", and the status of the process.
    static func run(_ count: UInt64, from first: UInt64) -> Int32 {
        var cases = PlannerCases()
        var (played, failed) = (0, 0)
        for seed in first..<(first + count) {
            let before = cases.failures.count
            cases.play(seed)
            played += 1
            if cases.failures.count > before { failed += 1 }
            if cases.failures.count >= mostFailures { break }
        }
        for failure in cases.failures { print(failure) }
        print("\(played) plans, \(cases.keys) keys, \(cases.judged) of them by the table")
        print("\(played - failed) passed, \(failed) failed")
        return failed == 0 ? 0 : 1
    }

    private mutating func play(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let world = PlannerCase(&random)
        do {
            switch random.below(8) {
            case 0: try playDisordered(world, seed, &random)
            case 1: try playAbandoned(world, seed, &random)
            default: try playWhole(world, seed, &random)
            }
        } catch {
            fail(seed, world, "a plan in order threw: \(error.message)")
        }
    }

    private mutating func fail(_ seed: UInt64, _ world: PlannerCase, _ what: String) {
        failures.append("planner case \(seed), a \(world.policy.direction): \(what)")
    }

    // MARK: - Whole plans

    private mutating func playWhole(
        _ world: PlannerCase,
        _ seed: UInt64,
        _ random: inout SeededGenerator
    ) throws(PlanError) {
        var feed = PlannerFeed(world, &random)
        let items = try feed.plan(&random)
        let planned = items.map(\.entry.key).filter { !$0.isDirectoryMarker }
        let all = Set(world.base.keys).union(world.localFiles.keys).union(world.remote.keys)
        keys += all.count
        // A file in the place of a directory is told before the keys beneath, all others in order.
        if Set(planned) != all || planned.count != all.count {
            fail(seed, world, "keys are missing or come twice: \(planned.map(\.display))")
        }
        for item in items where !item.entry.key.isDirectoryMarker {
            let key = item.entry.key
            let isAsFed =
                item.entry.base?.key == world.base[key].map { _ in key }
                && item.entry.local?.path == world.localFiles[key].map { _ in key }
                && item.entry.remote?.key == world.remote[key].map { _ in key }
            if !isAsFed { fail(seed, world, "'\(key.display)' was joined with another key") }
            judge(item, world, seed)
        }
    }

    private mutating func judge(_ item: PlannedItem, _ world: PlannerCase, _ seed: UInt64) {
        let key = item.entry.key
        let found = Self.effect(item.decision, key, world)
        guard world.policy.direction == .push || world.isFree(key) else {
            judgeContested(item, found, world, seed)
            return
        }
        judged += 1
        if let clash = world.clash(at: key) {
            guard item.decision != .skip(clash) else { return }
            fail(seed, world, "'\(key.display)' comes to \(item.decision), and not to \(clash)")
            return
        }
        let expected = world.expected(key)
        guard found != expected else { return }
        fail(seed, world, "'\(key.display)' comes to \(item.decision), the table says \(expected)")
    }

    /// What must hold where a file and a directory want one name.
    private mutating func judgeContested(
        _ item: PlannedItem,
        _ found: PlannerReference.Effect?,
        _ world: PlannerCase,
        _ seed: UInt64
    ) {
        let key = item.entry.key
        let isUnknown = world.base[key] == nil && world.localFiles[key] != nil
        if isUnknown, found == .deleteLocal, !world.policy.deletesExtra {
            fail(seed, world, "'\(key.display)', which was never synced, is deleted")
        }
        if found == .deleteLocal, !world.policy.deletes || world.remote[key] != nil {
            fail(seed, world, "'\(key.display)' is deleted unasked, or though it is listed")
        }
        let isChanged =
            world.base[key].map { $0.content != world.localFiles[key]?.content } ?? false
        if found == .deleteLocal, isChanged, world.policy.conflict != .remote {
            fail(seed, world, "'\(key.display)', which was changed, is deleted")
        }
    }

    /// What the decision comes to; nil for what only other keys can lead to.
    private static func effect(
        _ decision: Decision,
        _ key: ObjectKey,
        _ world: PlannerCase
    ) -> PlannerReference.Effect? {
        switch decision {
        case .nothing, .adopt, .refresh, .carryMode: .still
        case .download: .download
        case .upload: .upload
        case .compare(let comparison, let same, let different):
            effect(world.isSame(comparison, key) ? same : different, key, world)
        case .deleteLocal: .deleteLocal
        case .deleteRemote: .deleteRemote
        case .forget: .forget
        case .keepLocalChange: .keep
        case .conflict: .conflict
        case .makeDirectory, .uploadMarker, .downloadAfterDeletions, .skip:
            nil
        }
    }

    // MARK: - Broken streams

    /// Two neighbours of one stream change places: the plan ends before any key after them.
    private mutating func playDisordered(
        _ world: PlannerCase,
        _ seed: UInt64,
        _ random: inout SeededGenerator
    ) throws(PlanError) {
        var feed = PlannerFeed(world, &random)
        guard let bound = feed.disorder(&random) else {
            try playWhole(world, seed, &random)
            return
        }
        do throws(PlanError) {
            let items = try feed.plan(&random)
            fail(seed, world, "a stream out of order gave a plan of \(items.count) items")
        } catch {
            let late = feed.yielded.contains { $0.entry.key > bound }
            if late { fail(seed, world, "a key came after a stream had stepped backwards") }
        }
    }

    /// One side ends before its true end: no key after it is judged.
    private mutating func playAbandoned(
        _ world: PlannerCase,
        _ seed: UInt64,
        _ random: inout SeededGenerator
    ) throws(PlanError) {
        var feed = PlannerFeed(world, &random)
        let last = feed.cutRemote(&random)
        let items = try feed.plan(&random)
        if feed.coversEverything { fail(seed, world, "a cut listing passes for a whole one") }
        for item in items {
            guard let last, item.entry.key <= last else {
                fail(seed, world, "'\(item.entry.key.display)' was judged after the listing's end")
                return
            }
        }
    }
}
