import SyncModel
import SyncPlanner
import SyncTestSupport
import Testing

extension Decision {
    /// The decisions that comparisons can lead to.
    fileprivate var outcomes: [Decision] {
        guard case .compare(_, let same, let different) = self else { return [self] }
        return same.outcomes + different.outcomes
    }

    fileprivate var changesRemote: Bool {
        switch self {
        case .upload, .uploadMarker, .deleteRemote: true
        case .conflict(_, let resolution): resolution == .upload || resolution == .deleteRemote
        default: false
        }
    }

    fileprivate var changesLocal: Bool {
        switch self {
        case .deleteLocal: true
        case .conflict(_, .deleteLocal): true
        default: createsLocal
        }
    }

    fileprivate var deletes: Bool {
        switch self {
        case .deleteLocal, .deleteRemote, .conflict(_, .deleteLocal), .conflict(_, .deleteRemote):
            true
        default: false
        }
    }
}

/// Every entry that differs in what a decision looks at, under every policy.
@Suite("What no policy allows")
struct PolicyInvariantTests {
    private static let locals: [LocalEntry?] = [
        nil, file(), file(size: 0), file(modified: Timestamp(seconds: 9)), file(inode: 3),
        file(size: 111),
    ]
    private static let remotes: [RemoteObject?] = [
        nil, object(), object(size: 0), object(etag: ETag(wire: "x-2")), object(size: 222),
        object(etag: ETag(wire: "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF")),
        object(storageClass: .archive), object(size: 222, storageClass: .archive),
        object(kind: .symlink),
    ]
    private static let bases: [ManifestEntry?] = [
        nil, row(), row(size: 0), row(crc64: nil),
    ]
    private static let places: [PathConflict] = [
        .free, .shadowed(clears: false), .shadowed(clears: true), .blocked(by: "dir"),
        .awaiting("dir"), .obstacle,
    ]

    private static var policies: [DecisionPolicy] {
        var result: [DecisionPolicy] = []
        for direction in SyncDirection.allCases {
            for conflict in ConflictPolicy.allCases {
                for flags in 0..<16 {
                    result.append(
                        policy(
                            direction,
                            deletes: flags & 1 != 0,
                            extra: flags & 2 != 0,
                            force: flags & 4 != 0,
                            checksum: flags & 8 != 0,
                            conflict: conflict
                        )
                    )
                }
            }
        }
        return result
    }

    @Test(arguments: bases)
    func `in any state of a key`(base: ManifestEntry?) {
        for policy in Self.policies {
            for local in Self.locals {
                for remote in Self.remotes where base != nil || local != nil || remote != nil {
                    let sample = entry(base: base, local: local, remote: remote)
                    for place in Self.places
                    where place == .free || (local != nil) == (place == .obstacle) {
                        let decision = decide(sample, policy, at: place)
                        for outcome in decision.outcomes
                        where !Self.isPermitted(outcome, sample, policy, place) {
                            Issue.record("\(outcome) for \(sample), \(policy), \(place)")
                            return
                        }
                    }
                }
            }
        }
    }

    private static func isPermitted(
        _ outcome: Decision,
        _ entry: JoinedEntry,
        _ policy: DecisionPolicy,
        _ place: PathConflict
    ) -> Bool {
        if policy.direction == .pull, outcome.changesRemote { return false }
        if policy.direction == .push, outcome.changesLocal { return false }
        if outcome.deletes, !policy.deletes { return false }
        if outcome.createsLocal {
            switch place {
            case .free, .shadowed(clears: true), .awaiting, .obstacle: break
            case .shadowed(clears: false), .blocked, .beside: return false
            }
            guard entry.remote != nil else { return false }
        }
        if outcome.changesRemote, !outcome.deletes, entry.local == nil { return false }
        switch outcome {
        case .deleteLocal(.known), .deleteRemote(.known):
            return entry.base != nil && (entry.local == nil || entry.remote == nil)
        case .deleteLocal(.extra), .deleteRemote(.extra):
            return policy.deletesExtra && entry.base == nil && policy.direction != .sync
        case .forget:
            return entry.local == nil && entry.remote == nil
        case .adopt:
            return entry.local != nil && entry.remote != nil
        case .download, .downloadAfterDeletions:
            return entry.remote?.needsRestore == false
        default:
            return true
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func `deletions pass the guard only if nothing is in doubt`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let facts = DeletionGuard(
                direction: random.pick(SyncDirection.allCases),
                deletions: 1 + random.below(40),
                rows: random.below(60),
                listedObjects: random.below(4),
                walkedEntries: random.below(4),
                isListingProven: !random.oneIn(4),
                isScanProven: !random.oneIn(4),
                failedItems: random.oneIn(4) ? 1 : 0,
                skippedItems: random.oneIn(4) ? 1 : 0,
                vanishedItems: random.oneIn(4) ? 1 : 0,
                isSameDirectory: !random.oneIn(4),
                isManifestRebuilt: random.oneIn(4),
                allowsEmpty: random.oneIn(2),
                limit: random.oneIn(2) ? .count(random.below(40)) : .percent(random.below(101))
            )
            guard facts.verdict == .allowed else { continue }
            #expect(facts.isListingProven && facts.isScanProven)
            #expect(facts.isSameDirectory && !facts.isManifestRebuilt)
            #expect(facts.failedItems == 0 && facts.skippedItems == 0)
            #expect(facts.vanishedItems == 0)
            if facts.rows > 0, facts.listedObjects == 0 {
                #expect(facts.allowsEmpty || facts.direction == .push)
            }
            if facts.rows > 0, facts.walkedEntries == 0 {
                #expect(facts.allowsEmpty || facts.direction == .pull)
            }
            switch facts.limit {
            case .count(let limit): #expect(facts.deletions <= limit)
            case .percent(let share):
                #expect(
                    facts.deletions <= 10 || share == 100
                        || facts.deletions * 100 <= facts.rows * share
                )
            }
        }
    }

    @Test func `a planner whose listing broke off judges nothing after it`() throws {
        var planner = Planner(policy: policy(.push, deletes: true))
        try planner.feed(remote: [object("a")])
        try planner.feed(base: [row("a"), row("b")])
        try planner.feed(local: [file("a"), file("c")])
        planner.abandon(.remote)
        planner.finish(.base)
        planner.finish(.local)
        var keys: [ObjectKey] = []
        while case .item(let item) = try planner.next() { keys.append(item.entry.key) }
        #expect(keys == ["a"])
        #expect(!planner.coversEverything)
        #expect(try planner.next() == .finished)
    }

    @Test func `a planner stops at the first disorder`() throws {
        var planner = Planner(policy: policy(.pull))
        #expect(throws: PlanError.unordered(.remote, previous: "b", next: "a")) {
            try planner.feed(remote: [object("b"), object("a")])
        }
        #expect(throws: PlanError.self) { try planner.next() }
    }
}
