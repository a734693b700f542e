internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Counts what runs would do, by one plan of all directions that is not carried out.
struct StatusReader: Sendable {
    let settings: MirrorSettings

    private static let interruptedLimit = 1_000
    private static let issueLimit = 100

    func read(
        _ session: MirrorSession,
        _ options: RunOptions,
        _ directions: [SyncDirection: RunOptions],
        _ onDetail: (@Sendable (StatusDetail) -> Void)?
    ) async throws -> StatusReport {
        let run = try settings.silentRun(.pull, options, in: session)
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
            freed: FreedScope(session.freed),
            onCostly: { issues.add("'\($0.display)': the patterns take too long to match") },
            onExcluded: onExcluded
        )
        let hidden = Self.hidden(issues, onExcluded)
        let all = session.policies(options, Self.alike(options, directions), settings, judgesInodes)
        var differences = try await differenceCounter(hidden, all.sync, session.manifest)
        let kept = try await run.keptTransfers(partSize: (directions[.push] ?? options).partSize)
        let looking = try executors(session, options, directions)
        var works = WorkCounters(all, hidden, kept, looking, onDetail)
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
        issues.add(scope, hidden)
        let coverage = PlanCoverage(loop, hidden)
        func work(_ counter: WorkCounter, _ direction: SyncDirection) async throws -> PlannedWork {
            let own = directions[direction] ?? options
            let run = try settings.silentRun(direction, own, in: session)
            return try await judged(counter.work, run, coverage, rows, hidden)
        }
        return StatusReport(
            paths: run.paths.texts,
            pull: try await work(works.pull, .pull),
            push: try await work(works.push, .push),
            sync: try await work(works.sync, .sync),
            differences: differences.counted(scope, reserved: works.sync.reserved.kept),
            interrupted: try await interrupted(session.manifest, run.paths),
            running: try await PastRun.running(session),
            freed: FreedFiles(scope.freed, run.paths),
            recorded: rows.count,
            lastSuccess: try await LastSuccess.read(session.manifest),
            issues: issues.texts + [hidden.unnamedMessage].compactMap(\.self),
            warnings: run.warnings + hidden.coverMessages
                + [works.sync.reserved.message].compactMap(\.self)
        )
    }

    private func executors(
        _ session: MirrorSession,
        _ options: RunOptions,
        _ directions: [SyncDirection: RunOptions]
    ) throws -> Executors {
        func executor(_ direction: SyncDirection) throws -> ItemExecutor {
            var own = directions[direction] ?? options
            own.isDryRun = true
            let run = try settings.silentRun(direction, own, in: session)
            return run.parts(RunID(0)).executor
        }
        return (try executor(.pull), try executor(.push), try executor(.sync))
    }

    /// The work, and why the run would carry out none of its deletions.
    ///
    /// Renames within the directory count for no limit.
    private func judged(
        _ counted: PlannedWork,
        _ run: MirrorRun,
        _ coverage: PlanCoverage,
        _ rows: RecordedRows,
        _ issues: ScanIssues
    ) async throws -> PlannedWork {
        var work = counted
        guard work.deletions > 0 else { return work }
        var check = try await run.deletionGuard(
            run.parts(RunID(0)),
            coverage,
            rows: rows,
            deletions: work.deletions
        )
        if issues.hasForeignMounts { check.isSameDirectory = false }
        if case .refused(let refusal) = check.verdict { work.deletionsHeldBack = refusal.message }
        return work
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

    private static func hidden(
        _ issues: IssueTexts,
        _ onExcluded: (@Sendable (ObjectKey, String) -> Void)?
    ) -> ScanIssues {
        ScanIssues { issue in
            guard case .tagged(let tag) = issue.reason else { return issues.add(issue.message) }
            onExcluded?(ObjectKey(issue.path + [UInt8(ascii: "/")]), displayText(tag.utf8))
        }
    }

    /// All directions are of one walk, which takes links by the options of all.
    private static func alike(
        _ options: RunOptions,
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
}

extension MirrorSession {
    /// The rules of each direction.
    func policies(
        _ options: RunOptions,
        _ directions: [SyncDirection: RunOptions],
        _ settings: MirrorSettings,
        _ judgesInodes: Bool
    ) -> Policies {
        func policy(_ direction: SyncDirection) -> DecisionPolicy {
            let options = directions[direction] ?? options
            var policy = DecisionPolicy(direction, options, prefix: settings.prefix)
            policy.judgesInodes = judgesInodes
            policy.knowsDirectory = known.isSame
            policy.ordinaryDirectory = known.ordinaryDirectory
            policy.sendsModes = known.sendsModes
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

    /// What leaves open whether something differs.
    func add(_ scope: PlanScope, _ hidden: ScanIssues) {
        for message in [scope.withheldMessage, scope.heldLinksMessage] {
            if let message { add(message) }
        }
        if hidden.hasLostNames {
            add("files disappeared while the directory was read; run it again to see them")
        }
    }
}
