internal import SyncModel
internal import SyncPlanner

/// Counts the plans of all directions.
struct WorkCounters {
    /// Those of dry runs: they change nothing.
    typealias Setups = (pull: RunSetup, push: RunSetup, sync: RunSetup)

    private(set) var pull: WorkCounter
    private(set) var push: WorkCounter
    private(set) var sync: WorkCounter

    init(
        _ setups: Setups,
        _ issues: ScanIssues,
        _ kept: KeptTransfers,
        _ onDetail: (@Sendable (StatusDetail) -> Void)?
    ) {
        pull = WorkCounter(setups.pull, issues, kept, onDetail)
        push = WorkCounter(setups.push, issues, kept, onDetail)
        sync = WorkCounter(setups.sync, issues, kept, onDetail)
    }

    mutating func add(_ entry: JoinedEntry) async {
        await pull.add(entry)
        await push.add(entry)
        await sync.add(entry)
    }

    /// See ``RunPlan/pass(to:)``; true if all may.
    mutating func pass(to key: ObjectKey) async -> Bool {
        let areFree = [
            await pull.pass(to: key), await push.pass(to: key), await sync.pass(to: key),
        ]
        return areFree.allSatisfy(\.self)
    }

    /// Adds what only one direction looks at.
    mutating func add(_ entry: JoinedEntry, to direction: SyncDirection) async {
        switch direction {
        case .pull: await pull.add(entry)
        case .push: await push.add(entry)
        case .sync: await sync.add(entry)
        }
    }

    mutating func addUnchanged(_ count: Int) {
        pull.addUnchanged(count)
        push.addUnchanged(count)
        sync.addUnchanged(count)
    }

    mutating func finish() async {
        await pull.finish()
        await push.finish()
        await sync.finish()
    }
}

/// Counts the plan of one direction.
struct WorkCounter {
    private let policy: DecisionPolicy
    private let kept: KeptTransfers
    let executor: ItemExecutor
    private let onDetail: (@Sendable (StatusDetail) -> Void)?
    private var plan: RunPlan
    private var markers: HeldMarkers
    private(set) var work = PlannedWork()
    /// Files that get another name instead of being deleted, as far as ``Preview/limit`` goes.
    private var renamed: Set<ObjectKey> = []
    private var deleted: Set<ObjectKey> = []
    private(set) var deletedThere: Set<ObjectKey> = []
    private var smallRenames = ShownRenames()
    /// What is deleted here, and comes under another name.
    private(set) var renamesThere = RenamesThere()

    init(
        _ setup: RunSetup,
        _ issues: ScanIssues,
        _ kept: KeptTransfers,
        _ onDetail: (@Sendable (StatusDetail) -> Void)?
    ) {
        policy = setup.policy
        self.kept = kept
        executor = ItemExecutor(ItemParts(setup))
        self.onDetail = onDetail
        plan = RunPlan(policy, issues)
        markers = HeldMarkers(ordinary: policy.ordinaryDirectory)
    }

    var reserved: ReservedObjects { plan.reserved }

    mutating func add(_ entry: JoinedEntry) async {
        plan.add(entry)
        while let item = plan.next() { await count(item) }
    }

    mutating func pass(to key: ObjectKey) async -> Bool {
        let isFree = plan.pass(to: key)
        while let item = plan.next() { await count(item) }
        return isFree
    }

    mutating func addUnchanged(_ count: Int) { work.unchanged += count }

    mutating func finish() async {
        plan.finish()
        while let item = plan.next() { await count(item) }
        var outcomes: [HeldMarkers.Outcome] = []
        markers.finish(&outcomes)
        for outcome in outcomes { await countOne(outcome.item) }
        let moved = smallRenames.names.map(\.old)
        renamed.formUnion(moved)
        work.transfers -= moved.count
        work.renames += moved.count
        work.deletions -= renamed.intersection(deleted.union(deletedThere)).count
        deleted.subtract(renamed)
        deletedThere.subtract(renamed)
    }

    /// The work without the deletions that these names hold back.
    func work(heldBackBy names: [ObjectKey]) -> PlannedWork {
        var work = work
        work.deletions -= Preview.count(deleted.union(deletedThere), heldBackBy: names)
        return work
    }

    private mutating func count(_ item: PlannedItem) async {
        var outcomes: [HeldMarkers.Outcome] = []
        let isHeld = markers.take(item, &outcomes)
        for outcome in outcomes { await countOne(outcome.item) }
        if !isHeld { await countOne(item) }
    }

    private mutating func countOne(_ planned: PlannedItem) async {
        let item = await executor.settling(planned)
        let outline = PlanOutline(item, policy)
        let hindrance = await executor.refusal(of: item)
        var added = PlannedWork(outline, item.entry, kept)
        if hindrance != nil {
            added = PlannedWork()
            added.skipped = 1
        }
        let source = await source(of: item, outline, added)
        smallRenames.noteRow(of: item.entry, executor.smallRenames)
        if source != nil {
            added = PlannedWork()
            added.renames = 1
        } else if added.transfers == 1, outline.step == .send {
            smallRenames.noteUpload(item.entry, executor.smallRenames)
            added.bytesCopied = await executor.uploads.copied(item.entry).bytes
        } else if added.transfers == 1 {
            let smallest = executor.context.limits.smallestSearchable
            renamesThere.noteNew(item.entry, below: smallest)
        }
        work += added
        guard let onDetail, !added.isEmpty || added.localChanges > 0 else { return }
        let step = PlannedStep(
            direction: policy.direction,
            action: source.map { _ in item.entry.remote == nil ? .copyRemote : .copyLocal }
                ?? (hindrance == nil ? outline.action ?? .skip : .skip),
            key: item.entry.key.text,
            displayKey: item.entry.key.display,
            size: hindrance == nil ? outline.size : 0,
            reason: source.map { "'\($0.key.display)' has the same content" } ?? hindrance
                ?? outline.reason,
            work: added
        )
        onDetail(.item(step))
    }

    /// What a transfer would be a copy of, by which it moves no bytes.
    private mutating func source(
        of item: PlannedItem,
        _ outline: PlanOutline,
        _ added: PlannedWork
    ) async -> ManifestEntry? {
        switch outline.step {
        case .deleteLocal where deleted.count < Preview.limit:
            deleted.insert(item.entry.key)
            renamesThere.noteGone(item.entry.base)
        case .deleteRemote where deletedThere.count < Preview.limit:
            deletedThere.insert(item.entry.key)
        default: break
        }
        guard added.transfers == 1 else { return nil }
        let source = await executor.sources.probableSource(item.decision, item.entry)
        if let source, renamed.count < Preview.limit { renamed.insert(source.key) }
        return source
    }
}

extension PlannedWork {
    /// What one item is counted as.
    fileprivate init(_ outline: PlanOutline, _ entry: JoinedEntry, _ kept: KeptTransfers) {
        self.init()
        if outline.conflict != nil { conflicts = 1 }
        switch outline.step {
        case .leave(.unchanged), .adopt: unchanged = 1
        case .leave, .record, .leaveBoth: break
        case .receive, .send:
            transfers = 1
            let moved = kept.bytes(of: entry, sends: outline.step == .send)
            bytesResumed = min(outline.size, moved)
            bytes = outline.size - bytesResumed
        // Nobody has asked yet whether there is anything to do.
        case .compare, .carryMode(.file): comparisons = 1
        case .carryMode(.object): modes = 1
        case .carryMode(.neither), .keepLocalChange: localChanges = 1
        case .deleteLocal, .deleteRemote: deletions = 1
        case .skip: skipped = 1
        }
    }
}
