import SyncModel
import SyncPlanner
import SyncTestSupport
import Testing

/// Random worlds against the model; a block of seeds per case, so that a failure names its seed.
@Suite("Planning random worlds")
struct PlannerPropertyTests {
    static let worldsPerBlock: UInt64 = 300

    @Test(arguments: SyncDirection.allCases, UInt64(0)..<24)
    func `runs converge and lose nothing that no flag gave up`(
        direction: SyncDirection,
        block: UInt64
    ) throws {
        for seed in (block * Self.worldsPerBlock)..<((block + 1) * Self.worldsPerBlock) {
            var random = SeededGenerator(seed: seed)
            let before = World(random: &random)
            let policy = World.randomPolicy(direction, &random)
            let failures = try Self.failures(from: before, policy)
            try #require(failures.isEmpty, "seed \(seed), \(policy): \(failures)")
        }
    }

    @Test(arguments: SyncDirection.allCases, UInt64(0)..<24)
    func `what is passed over changes nothing of the plan`(
        direction: SyncDirection,
        block: UInt64
    ) throws {
        var passedOver = 0
        for seed in (block * Self.worldsPerBlock)..<((block + 1) * Self.worldsPerBlock) {
            var random = SeededGenerator(seed: seed)
            var world = World(random: &random)
            let policy = World.randomPolicy(direction, &random)
            // Most keys of it are unchanged after a run.
            for _ in 0..<random.below(3) { _ = try world.run(policy) }
            // What a verification found damaged.
            for row in world.baseStream where random.below(8) == 0 {
                world.rows[row.key] = row.replacing(isDamaged: true)
            }
            let all = try Self.items(of: world, policy, passesOver: false).items
            let (items, skipped) = try Self.items(of: world, policy, passesOver: true)
            let missing = all.filter { !items.contains($0) }
            try #require(all.filter { items.contains($0) } == items, "seed \(seed), \(policy)")
            try #require(Set(missing.map(\.entry.key)) == Set(skipped), "seed \(seed), \(policy)")
            for item in missing {
                try #require(item.decision == .nothing(.unchanged) && item.place == .free)
            }
            passedOver += skipped.count
        }
        #expect(passedOver > 0)
    }

    /// The plan of a world, and the keys that were passed over, as the engine does it.
    private static func items(
        of world: World,
        _ policy: DecisionPolicy,
        passesOver: Bool
    ) throws(PlanError) -> (items: [PlannedItem], skipped: [ObjectKey]) {
        var join = MergeJoin()
        try join.feed(remote: world.remoteStream)
        try join.feed(base: world.baseStream)
        try join.feed(local: world.localStream)
        for side in Side.allCases { join.finish(side) }
        var conflicts = PrefixConflicts(policy: policy)
        var items: [PlannedItem] = []
        var skipped: [ObjectKey] = []
        func drain() {
            while let item = conflicts.next() { items.append(item) }
        }
        while true {
            if passesOver, let key = join.commonKey, conflicts.pass(to: key) {
                drain()
                var asked: [ObjectKey] = []
                let found = try join.skipUnchanged(policy) { key in
                    asked.append(key)
                    return true
                }
                guard found?.count ?? 0 == asked.count, found?.last == asked.last else {
                    throw .kindMismatch(key)
                }
                skipped += asked
            }
            guard case .joined(let entry) = try join.next() else { break }
            conflicts.add(entry)
            drain()
        }
        conflicts.finish()
        drain()
        return (items, skipped)
    }

    /// Runs until nothing is left to do and tells what went wrong.
    private static func failures(
        from before: World,
        _ policy: DecisionPolicy
    ) throws(PlanError) -> [String] {
        var world = before
        var failures: [String] = []
        var result = try world.run(policy)
        failures += unlicensedRemovals(before, world, policy)
        var runs = 1
        while result.didSomething, !result.wasStopped, runs < 5 {
            let hadBlockedKeys = result.items.contains { item in
                if case .blocked = item.place { true } else { false }
            }
            let leavesWork =
                result.refreshedRows > 0 && hadBlockedKeys || result.copiesKept > 0
            result = try world.run(policy)
            if result.didSomething, !leavesWork {
                failures.append("run \(runs + 1) still had something to do")
            }
            runs += 1
        }
        if runs == 5 { failures.append("no convergence") }
        failures += world.violations
        failures += lostContents(before, world, policy)
        if !result.wasStopped { failures += disagreements(world, result, policy) }
        return failures
    }

    /// A source side that changed, or a file that went without a licence.
    private static func unlicensedRemovals(
        _ before: World,
        _ after: World,
        _ policy: DecisionPolicy
    ) -> [String] {
        var failures: [String] = []
        if policy.direction == .pull, before.objects != after.objects {
            failures.append("a pull changed the remote")
        }
        if policy.direction == .push,
            before.files != after.files || before.directories != after.directories
        {
            failures.append("a push changed the directory")
        }
        guard !policy.deletes else { return failures }
        for key in before.files.keys where after.files[key] == nil {
            failures.append("\(key): the file is gone, and no flag deletes")
        }
        for key in before.objects.keys where after.objects[key] == nil {
            failures.append("\(key): the object is gone, and no flag deletes")
        }
        return failures
    }

    /// Contents that somebody made since the last run and that are nowhere any more.
    private static func lostContents(
        _ before: World,
        _ after: World,
        _ policy: DecisionPolicy
    ) -> [String] {
        let left = Set(after.files.values.map(\.content))
            .union(after.objects.values.map(\.content))
        var failures: [String] = []
        for (key, file) in before.files
        where file.content.size > 0 && !left.contains(file.content) {
            let isRecorded = before.rows[key].map { $0.crc64 == file.content.crc64 } ?? false
            let isLicensed =
                policy.conflict == .remote
                || policy.direction == .pull && policy.deletesExtra
                || policy.direction == .pull && policy.replacesLocalChanges
                    && before.rows[key] != nil
                || (before.rows[key].map { isUntouched(file, $0) } ?? false)
            if !isRecorded, !isLicensed { failures.append("\(key): a local version is lost") }
        }
        for (key, stored) in before.objects where !left.contains(stored.content) {
            let isRecorded = before.rows[key].map { $0.etag == stored.etag } ?? false
            let isLicensed =
                policy.conflict == .local
                || policy.direction == .push && policy.deletesExtra && before.rows[key] == nil
            let hadContent = before.rows[key]?.crc64 == stored.content.crc64
            if !isRecorded, !isLicensed, !hadContent {
                failures.append("\(key): a remote version is lost")
            }
        }
        return failures
    }

    /// Without a recorded checksum, size and mtime are all that there is to go by.
    private static func isUntouched(_ file: World.File, _ row: ManifestEntry) -> Bool {
        file.content.size == row.size && file.modified == row.localModified
    }

    /// Where the sides differ although nothing was reported.
    private static func disagreements(
        _ world: World,
        _ result: RunResult,
        _ policy: DecisionPolicy
    ) -> [String] {
        var failures: [String] = []
        for key in Set(world.files.keys).union(world.objects.keys)
        where !key.isEmpty && !result.leftAlone.contains(key)
            && !key.bytes.split(separator: 0x2F).contains(where: RelativePath.isReserved)
        {
            let isKnown = world.rows[key] != nil
            let isHere =
                world.files[key] != nil || world.directories.contains(key)
                || world.impliedDirectories.contains(key)
            switch (isHere, world.objects[key]) {
            case (true, let stored?):
                if !key.isDirectoryMarker, world.files[key]?.content != stored.content {
                    failures.append("\(key): the contents differ")
                }
            case (true, nil):
                let isKept =
                    policy.direction == .pull
                    ? (isKnown ? !policy.deletes : !policy.deletesExtra)
                    : policy.direction == .sync && isKnown && !policy.deletes
                if !isKept { failures.append("\(key): the remote lacks it") }
            case (false, .some):
                let isKept =
                    policy.direction == .push
                    ? (isKnown ? !policy.deletes : !policy.deletesExtra)
                    : policy.direction == .sync && isKnown && !policy.deletes
                if !isKept { failures.append("\(key): the directory lacks it") }
            case (false, nil): break
            }
        }
        for key in world.rows.keys
        where world.files[key] == nil && world.objects[key] == nil
            && !world.directories.contains(key) && !world.impliedDirectories.contains(key)
        {
            failures.append("\(key): a row of nothing is left")
        }
        return failures
    }
}
