internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
package import ObjectTransfer
package import SyncModel
internal import SyncPlanner
internal import Synchronization

extension MirrorEngine {
    private static let interruptedLimit = 1_000
    private static let issueLimit = 100

    /// Counts what a pull, a push and a sync would do, and names what was interrupted; changes
    /// nothing and reads no content.
    ///
    /// A direction that has options of its own is counted by them, but for their filter.
    /// `onDetail` takes each item, and if the options ask for it each name that is left out.
    package func status(
        options: RunOptions,
        of directions: [SyncDirection: RunOptions] = [:],
        onDetail: (@Sendable (StatusDetail) -> Void)? = nil
    ) async throws(SyncError) -> StatusReport {
        let session = try await MirrorSession.open(settings, locks: false, allowsRebinding: false)
        do {
            return try await status(session, options, directions, onDetail)
        } catch {
            throw SyncError(any: error)
        }
    }

    private func status(
        _ session: MirrorSession,
        _ options: RunOptions,
        _ directions: [SyncDirection: RunOptions],
        _ onDetail: (@Sendable (StatusDetail) -> Void)?
    ) async throws -> StatusReport {
        let run = try MirrorRun(
            settings: settings,
            session: session,
            direction: .pull,
            options: options,
            onEvent: { _ in }
        )
        try await run.checkPaths()
        let rows = try await RecordedRows(run.paths, in: session.manifest)
        let issues = IssueTexts(limit: Self.issueLimit)
        let judgesInodes = try session.directory.keepsInodeNumbers()
        let onExcluded = options.namesExcluded ? onDetail.map(Self.naming) : nil
        let scope = PlanScope(
            run.filter,
            .sync,
            deletesExcluded: false,
            held: session.held,
            now: settings.environment.now(),
            judgesInodes: judgesInodes,
            links: options.links,
            names: options.names,
            onCostly: { issues.add("'\($0.display)': the patterns take too long to match") },
            onExcluded: onExcluded
        )
        let hidden = ScanIssues { issue in
            guard case .tagged(let tag) = issue.reason else { return issues.add(issue.message) }
            onExcluded?(ObjectKey(issue.path + [UInt8(ascii: "/")]), displayText(tag.utf8))
        }
        let all = policies(options, Self.withLinks(of: options, directions), session, judgesInodes)
        var differences = try await differenceCounter(hidden, all.sync, session.manifest)
        let kept = try await run.keptTransfers(partSize: (directions[.push] ?? options).partSize)
        var works = WorkCounters(all, hidden, kept, run.parts(RunID(0)).executor, onDetail)
        let loop = try await run.join(
            rows: rows,
            scope,
            hidden,
            Self.common(all),
            passes: { await works.pass(to: $0) },
            skips: scope.surelyTakes,
            onUnchanged: { works.addUnchanged($0) },
            onEntry: { entry in
                await works.add(entry)
                differences.add(entry)
                hidden.planReached(entry.key)
            }
        )
        await works.finish()
        if let error = loop.listingFailure { throw error }
        Self.add(issues, scope, hidden)
        return StatusReport(
            paths: run.paths.texts,
            pull: works.pull.work,
            push: works.push.work,
            sync: works.sync.work,
            differences: differences.counted(scope, reserved: works.sync.reserved.kept),
            interrupted: try await interrupted(session.manifest, run.paths),
            running: try await PastRun.running(session),
            recorded: rows.count,
            lastSuccess: try await LastSuccess.read(session.manifest),
            issues: issues.texts + [hidden.unnamedMessage].compactMap(\.self),
            warnings: run.warnings + hidden.coverMessages
                + [works.sync.reserved.message].compactMap(\.self)
        )
    }

    /// Where runs only pull, permissions of a directory without a marker are this machine's own.
    private func differenceCounter(
        _ hidden: ScanIssues,
        _ policy: DecisionPolicy,
        _ manifest: ManifestStore
    ) async throws -> DifferenceCounter {
        var policy = policy
        let runs = try await LastSuccess.read(manifest).keys
        if runs.elementsEqual([.pull]) { policy.ordinaryDirectory = nil }
        return DifferenceCounter(hidden, policy)
    }

    /// All directions are of one walk, which takes links by the options of all.
    private static func withLinks(
        of options: RunOptions,
        _ directions: [SyncDirection: RunOptions]
    ) -> [SyncDirection: RunOptions] {
        directions.mapValues { direction in
            var own = direction
            own.links = options.links
            own.names = options.names
            return own
        }
    }

    /// A key that one direction compares by content is passed over in none.
    private static func common(_ all: Policies) -> DecisionPolicy {
        var common = all.sync
        common.comparesContent =
            all.pull.comparesContent || all.push.comparesContent || all.sync.comparesContent
        return common
    }

    private static func naming(
        _ onDetail: @escaping @Sendable (StatusDetail) -> Void
    ) -> @Sendable (ObjectKey, String) -> Void {
        { onDetail(.excluded(key: $0.text, displayKey: $0.display, rule: $1)) }
    }

    /// What leaves open whether something differs.
    private static func add(
        _ issues: IssueTexts,
        _ scope: PlanScope,
        _ hidden: ScanIssues
    ) {
        for message in [scope.withheldMessage, scope.heldLinksMessage] {
            if let message { issues.add(message) }
        }
        if hidden.hasLostNames {
            issues.add("files disappeared while the directory was read; run it again to see them")
        }
    }

    /// The first so many transfers that can be resumed.
    private func interrupted(
        _ manifest: ManifestStore,
        _ paths: RunPaths
    ) async throws -> [InterruptedTransfer] {
        var found: [InterruptedTransfer] = []
        func add(_ transfer: InterruptedTransfer) {
            if found.count < Self.interruptedLimit { found.append(transfer) }
        }
        try await manifest.forEachDownload(in: paths.ranges) { add(InterruptedTransfer($0)) }
        try await manifest.forEachUpload(in: paths.ranges) { add(InterruptedTransfer($0)) }
        return found
    }

    func policies(
        _ options: RunOptions,
        _ directions: [SyncDirection: RunOptions],
        _ session: MirrorSession,
        _ judgesInodes: Bool
    ) -> Policies {
        func policy(_ direction: SyncDirection) -> DecisionPolicy {
            let options = directions[direction] ?? options
            var policy = DecisionPolicy(direction, options, prefix: settings.prefix)
            policy.judgesInodes = judgesInodes
            policy.knowsDirectory = session.known.isSame
            policy.ordinaryDirectory = session.known.ordinaryDirectory
            policy.sendsModes = session.known.sendsModes
            return policy
        }
        return (policy(.pull), policy(.push), policy(.sync))
    }
}

/// The first few things that a walk could not take.
private final class IssueTexts: Sendable {
    private let limit: Int
    private let collected = Mutex<[String]>([])

    init(limit: Int) {
        self.limit = limit
    }

    var texts: [String] { collected.withLock { $0 } }

    func add(_ text: String) {
        collected.withLock { if $0.count < limit { $0.append(text) } }
    }
}

typealias Policies = (pull: DecisionPolicy, push: DecisionPolicy, sync: DecisionPolicy)

/// Counts the plans of all directions.
private struct WorkCounters {
    private(set) var pull: WorkCounter
    private(set) var push: WorkCounter
    private(set) var sync: WorkCounter

    init(
        _ policies: Policies,
        _ issues: ScanIssues,
        _ kept: KeptTransfers,
        _ executor: ItemExecutor,
        _ onDetail: (@Sendable (StatusDetail) -> Void)?
    ) {
        pull = WorkCounter(policies.pull, issues, kept, executor, onDetail)
        push = WorkCounter(policies.push, issues, kept, executor, onDetail)
        sync = WorkCounter(policies.sync, issues, kept, executor, onDetail)
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
private struct WorkCounter {
    private let policy: DecisionPolicy
    private let kept: KeptTransfers
    private let executor: ItemExecutor
    private let onDetail: (@Sendable (StatusDetail) -> Void)?
    private var plan: RunPlan
    private(set) var work = PlannedWork()

    init(
        _ policy: DecisionPolicy,
        _ issues: ScanIssues,
        _ kept: KeptTransfers,
        _ executor: ItemExecutor,
        _ onDetail: (@Sendable (StatusDetail) -> Void)?
    ) {
        self.policy = policy
        self.kept = kept
        self.executor = executor
        self.onDetail = onDetail
        plan = RunPlan(policy, issues)
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
    }

    private mutating func count(_ item: PlannedItem) async {
        let outline = PlanOutline(item, policy)
        let hindrance =
            outline.action == .download ? await executor.places.hindrance(item.entry) : nil
        var added = PlannedWork(item, kept)
        if hindrance != nil {
            added = PlannedWork()
            added.skipped = 1
        }
        work += added
        guard let onDetail, !added.isEmpty || added.localChanges > 0 else { return }
        let step = PlannedStep(
            direction: policy.direction,
            action: hindrance == nil ? outline.action ?? .skip : .skip,
            key: item.entry.key.text,
            displayKey: item.entry.key.display,
            size: hindrance == nil ? outline.size : 0,
            reason: hindrance?.message ?? outline.reason,
            work: added
        )
        onDetail(.item(step))
    }
}

extension PlannedWork {
    /// What one item is counted as.
    fileprivate init(_ item: PlannedItem, _ kept: KeptTransfers) {
        self.init()
        func transfer(_ size: Int64, sends: Bool) {
            transfers = 1
            bytesResumed = min(size, kept.bytes(of: item.entry, sends: sends))
            bytes = size - bytesResumed
        }
        let received = item.entry.remote?.size ?? 0
        let sent = item.entry.local?.identity?.size ?? 0
        switch item.decision {
        case .deleteLocal, .deleteRemote: deletions = 1
        case .nothing(.unchanged), .refresh(.unchanged), .adopt: unchanged = 1
        case .nothing, .refresh, .forget: break
        case .makeDirectory where item.entry.local != nil: break
        case .download, .downloadAfterDeletions, .makeDirectory: transfer(received, sends: false)
        case .upload, .uploadMarker: transfer(sent, sends: true)
        case .compare: comparisons = 1
        case .conflict(_, let resolution):
            conflicts = 1
            switch resolution {
            case .downloadKeepingLocal where item.entry.key == IgnoreFile.key: break
            case .download, .downloadKeepingLocal: transfer(received, sends: false)
            case .upload: transfer(sent, sends: true)
            case .deleteLocal, .deleteRemote: deletions = 1
            case .leaveBoth, .stopRun: break
            }
        case .keepLocalChange, .carryMode(.neither): localChanges = 1
        case .carryMode(.object): modes = 1
        // Nobody has asked yet whether there is anything to do.
        case .carryMode(.file): comparisons = 1
        case .skip: skipped = 1
        }
    }
}
