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
        var listing = options
        listing.deletesExcluded = (directions.values + [options]).contains { $0.deletesExcluded }
        let setup = try RunSetup(settings, session, .pull, listing)
        try await setup.checkPaths()
        let all = try setups(session, options, directions)
        let rows = try await RecordedRows(setup.paths, in: session.manifest)
        let issues = IssueTexts(limit: Self.issueLimit)
        let notes = IssueTexts(limit: Self.issueLimit)
        let onExcluded = options.namesExcluded ? onDetail.map(Self.naming) : nil
        let hidden = Self.hidden(issues, notes, onExcluded)
        let kept = try await setup.keptTransfers(partSize: all.push.options.partSize)
        var works = WorkCounters(all, hidden, kept, onDetail)
        issues.senders = [works.push.executor, works.sync.executor]
        let scope = scope(setup, works, issues, onExcluded)
        let scopes = [all.pull, all.push].filter { $0.options.deletesExcluded }.map {
            ($0.direction, PlanScope($0))
        }
        var differences = try await differenceCounter(hidden, all.sync.policy, session.manifest)
        let loop = try await PlanSource(setup).join(
            rows: rows,
            scope,
            hidden,
            Self.common(all),
            passes: { await works.pass(to: $0) },
            skips: scope.surelyTakes,
            onUnchanged: { count, _ in works.addUnchanged(count) },
            onEntry: { entry in
                await works.add(entry)
                differences.add(entry)
                hidden.planReached(entry.key)
            },
            onLeftOut: { entry in
                for (direction, scope) in scopes where !hidden.isTagged(entry.key) {
                    guard let chosen = scope.chooseDeleted(entry) else { continue }
                    await works.add(chosen, to: direction)
                }
            }
        )
        await works.finish()
        for sender in issues.senders { sender.noteCopies(in: hidden) }
        if let error = loop.listingFailure { throw error }
        try await scope.freed.finish(session.manifest, true, records: false)
        issues.add(scope, hidden)
        let coverage = PlanCoverage(loop, hidden)
        return StatusReport(
            paths: setup.paths.texts,
            pull: try await judged(works.pull, coverage, rows, hidden),
            push: try await judged(works.push, coverage, rows, hidden),
            sync: try await judged(works.sync, coverage, rows, hidden),
            differences: differences.counted(scope, reserved: works.sync.reserved.kept),
            interrupted: try await interrupted(session.manifest, setup.paths),
            running: try await PastRun.running(session),
            freed: FreedFiles(scope.freed, setup.paths),
            recorded: rows.count,
            // Of runs with this remote.
            lastSuccess: session.isManifestRebuilt
                ? [:] : try await LastSuccess.read(session.manifest),
            issues: issues.texts + [hidden.unnamedMessage].compactMap(\.self),
            warnings: setup.warnings + notes.texts + hidden.coverMessages
                + [works.sync.reserved.message, scope.freed.replacedMessage].compactMap(\.self)
        )
    }

    /// What all directions look at.
    private func scope(
        _ setup: RunSetup,
        _ works: WorkCounters,
        _ issues: IssueTexts,
        _ onExcluded: (@Sendable (ObjectKey, String) -> Void)?
    ) -> PlanScope {
        let senders = issues.senders
        return PlanScope(
            setup.filter,
            .sync,
            deletesExcluded: setup.options.deletesExcluded,
            held: setup.session.rules.held,
            now: settings.environment.now(),
            judgesInodes: setup.policy.judgesInodes,
            links: setup.options.links,
            names: setup.options.names,
            freed: PlanScope.freed(setup, .stay),
            onCostly: { issues.add("'\($0.display)': the patterns take too long to match") },
            onExcluded: onExcluded,
            onOutside: { entry in
                for sender in senders { sender.noteUnsent(entry, isLeftOut: true) }
            }
        )
    }

    /// Those of each direction, which change nothing.
    ///
    /// All are of one walk, which takes links and names by the options of all.
    private func setups(
        _ session: MirrorSession,
        _ options: RunOptions,
        _ directions: [SyncDirection: RunOptions]
    ) throws -> WorkCounters.Setups {
        func setup(_ direction: SyncDirection) throws -> RunSetup {
            var own = directions[direction] ?? options
            (own.links, own.names, own.isDryRun) = (options.links, options.names, true)
            return try RunSetup(settings, session, direction, own)
        }
        return (try setup(.pull), try setup(.push), try setup(.sync))
    }

    /// The work, and why the run would be refused, or would carry out none of its deletions.
    ///
    /// Renames within the directory count for no limit.
    private func judged(
        _ counter: WorkCounter,
        _ coverage: PlanCoverage,
        _ rows: RecordedRows,
        _ issues: ScanIssues
    ) async throws -> PlannedWork {
        let deletions = RunDeletions(executor: counter.executor)
        var work = counter.work
        let setup = counter.executor.context.setup
        if let reason = setup.session.refusal(of: setup.direction, settings) {
            var refused = PlannedWork()
            (refused.unchanged, refused.deletionsHeldBack) = (work.unchanged, reason)
            return refused
        }
        if work.deletions > 0 {
            let names = try await deletions.namesInDoubt(counter.deletedThere)
            work = counter.work(heldBackBy: names)
        }
        let deletes = work.deletions > 0
        var check = try await deletions.deletionGuard(
            coverage,
            rows: rows,
            deletions: work.deletions
        )
        check.renames = counter.renamesThere.count
        if deletes, issues.hasForeignMounts { check.isSameDirectory = false }
        if case .refused(let refusal) = check.verdict, deletes || refusal.isSafetyRefusal {
            work.deletionsHeldBack = refusal.message
        }
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
        _ notes: IssueTexts,
        _ onExcluded: (@Sendable (ObjectKey, String) -> Void)?
    ) -> ScanIssues {
        ScanIssues { issue in
            for sender in issues.senders {
                ItemReports(context: sender.context, ledger: sender.ledger).noteFiles(of: issue)
            }
            if issue.reason == .beneathUnnamed { return }
            // As in a run, these are no differences.
            if issue.isNoUsersFile { return notes.add(issue.message) }
            let rule: String
            switch issue.reason {
            case .tagged(let tag): rule = displayText(tag.utf8)
            case .otherFileSystem: rule = "--one-file-system"
            default: return issues.add(issue.message)
            }
            onExcluded?(ObjectKey(issue.path + [UInt8(ascii: "/")]), rule)
        }
    }

    /// A key that one direction compares by content is passed over in none.
    private static func common(_ all: WorkCounters.Setups) -> DecisionPolicy {
        var common = all.sync.policy
        common.deletesKnown = [all.push, all.sync].contains { $0.policy.deletes }
        common.comparesContent = [all.pull, all.push, all.sync].contains {
            $0.policy.comparesContent
        }
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

/// The first few things that a walk could not take.
private final class IssueTexts: Sendable {
    private let limit: Int
    private let collected = Mutex<[String]>([])
    private let noting = Mutex<[ItemExecutor]>([])

    init(limit: Int) {
        self.limit = limit
    }

    /// What is to know of files that are not sent.
    var senders: [ItemExecutor] {
        get { noting.withLock { $0 } }
        set { noting.withLock { $0 = newValue } }
    }

    var texts: [String] { collected.withLock { $0 } }

    func add(_ text: String) {
        collected.withLock { if $0.count < limit { $0.append(text) } }
    }

    /// What leaves open whether something differs.
    func add(_ scope: PlanScope, _ hidden: ScanIssues) {
        for message in [
            scope.withheldMessage, scope.heldLinksMessage, scope.freed.lostMessage,
        ] {
            if let message { add(message) }
        }
        if hidden.hasLostNames {
            add("files disappeared while the directory was read; run it again to see them")
        }
    }
}

extension FreedFiles {
    private static let pathLimit = 100

    init(_ scope: FreedScope, _ paths: RunPaths) {
        let seen = scope.seen
        (count, bytes) = (seen.count, seen.bytes)
        let named = scope.paths.keys.lazy.filter { paths.contains($0) }
        self.paths = named.prefix(Self.pathLimit).map(\.text)
    }
}
