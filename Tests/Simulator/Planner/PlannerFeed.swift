internal import SyncModel
internal import SyncPlanner
internal import SyncTestSupport

/// Hands three streams to the merge in pieces and its entries to the decisions, as the engine does.
struct PlannerFeed {
    private var join = MergeJoin()
    private var conflicts: PrefixConflicts
    private var objects: [RemoteObject]
    private var rows: [ManifestEntry]
    private var entries: [LocalEntry]
    private var isRemoteCut = false
    private(set) var yielded: [PlannedItem] = []

    init(_ world: PlannerCase, _ random: inout SeededGenerator) {
        conflicts = PrefixConflicts(policy: world.policy)
        (objects, rows, entries) = (world.objects, world.rows, world.entries)
    }

    var coversEverything: Bool { join.coversEverything }

    /// Swaps two neighbours of a stream; the key after which nothing may come, nil if no stream has
    /// two elements.
    mutating func disorder(_ random: inout SeededGenerator) -> ObjectKey? {
        for side in 0..<3 {
            switch (side + random.below(3)) % 3 {
            case 0 where objects.count > 1:
                let place = random.below(objects.count - 1)
                objects.swapAt(place, place + 1)
                return objects[place].key
            case 1 where rows.count > 1:
                let place = random.below(rows.count - 1)
                rows.swapAt(place, place + 1)
                return rows[place].key
            case 2 where entries.count > 1:
                let place = random.below(entries.count - 1)
                entries.swapAt(place, place + 1)
                return entries[place].path
            default: continue
            }
        }
        return nil
    }

    /// Leaves out the end of the listing; its last key, nil if nothing is left.
    mutating func cutRemote(_ random: inout SeededGenerator) -> ObjectKey? {
        objects = Array(objects.prefix(random.below(objects.count + 1)))
        isRemoteCut = true
        return objects.last?.key
    }

    mutating func plan(_ random: inout SeededGenerator) throws(PlanError) -> [PlannedItem] {
        while true {
            switch try join.next() {
            case .joined(let entry):
                conflicts.add(entry)
                drain()
            case .finished:
                conflicts.finish()
                drain()
                return yielded
            case .needs(let side): try feed(side, 1 + random.below(4))
            }
        }
    }

    private mutating func drain() {
        while let item = conflicts.next() { yielded.append(item) }
    }

    private mutating func feed(_ side: Side, _ count: Int) throws(PlanError) {
        switch side {
        case .remote where objects.isEmpty:
            if isRemoteCut { join.abandon(.remote) } else { join.finish(.remote) }
        case .base where rows.isEmpty: join.finish(.base)
        case .local where entries.isEmpty: join.finish(.local)
        case .remote: try join.feed(remote: Self.take(count, from: &objects))
        case .base: try join.feed(base: Self.take(count, from: &rows))
        case .local: try join.feed(local: Self.take(count, from: &entries))
        }
    }

    private static func take<Element>(_ count: Int, from rest: inout [Element]) -> [Element] {
        defer { rest.removeFirst(min(count, rest.count)) }
        return Array(rest.prefix(count))
    }
}
