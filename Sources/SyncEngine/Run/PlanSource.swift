internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Reads a plan: lists, walks and decides, for a run, a dry run or `status`.
struct PlanSource: RunStep {
    let setup: RunSetup

    init(_ setup: RunSetup) { self.setup = setup }

    /// Listings side by side, if the run may have as many requests.
    private static let listingWidth = 32
    /// Objects of a page.
    private static let pageSize = 1_000

    /// What this run looks at.
    var scope: PlanScope { scope(reportingTo: nil) }

    private func scope(reportingTo executor: ItemExecutor?) -> PlanScope {
        let onEvent = setup.onEvent
        let onExcluded: (@Sendable (ObjectKey, String) -> Void)?
        if options.namesExcluded {
            onExcluded = { onEvent(.excluded(key: $0.text, displayKey: $0.display, rule: $1)) }
        } else {
            onExcluded = nil
        }
        return PlanScope(
            setup,
            onCostly: { executor?.skipWithoutDoubt($0, size: 0, message: Self.costlyMessage) },
            onExcluded: onExcluded,
            onOutside: { executor?.noteUnsent($0, isLeftOut: true) }
        )
    }

    /// What limited runs before this one looked at; a limited run does not ask.
    private func limitedRuns() async throws(ManifestError) -> LimitedRuns {
        paths.isLimited ? LimitedRuns(seen: nil) : try await .recorded(in: session.manifest)
    }

    /// Notes the mounts that the walk has met so far.
    private func note(
        _ found: [[UInt8]],
        new: ArraySlice<[UInt8]>,
        _ issues: ScanIssues,
        leavingOut leftOut: Set<[UInt8]>,
        records: Bool
    ) async throws {
        let foreign = try await session.known.foreign(among: new, session.manifest)
        for path in foreign where !leftOut.contains(path) && issues.addForeign(path) {
            let message =
                "'\(displayText(path))' is a different disk or mount than in the last run; "
                + "nothing is deleted in this run, and what differs beneath it is treated as new"
            setup.onEvent(.warning(message: message))
        }
        guard records else { return }
        try await session.known.note(
            found,
            foreign: issues.foreignMounts,
            of: session.directory,
            in: session.manifest
        )
    }

    /// The entry with what earlier runs, verifications and other mirrors know of it.
    private func marked(
        _ entry: JoinedEntry,
        _ scope: PlanScope,
        _ issues: ScanIssues,
        _ leftOut: inout LeftOutRows
    ) async throws -> JoinedEntry {
        let isHidden =
            session.damaged.hasUnread && entry.local == nil && !scope.looks(at: entry, issues)
        let found = try await session.damaged.marking(
            leftOut.marking(entry),
            isHidden: isHidden,
            records: leftOut.records
        )
        return scope.marking(found, issues)
    }

    private func staleRows(_ scope: PlanScope, _ issues: ScanIssues) -> StaleRows {
        StaleRows(
            session: session,
            scope: scope,
            issues: issues,
            threads: settings.environment.threads,
            now: settings.environment.now(),
            onRolledBack: tellRolledBack
        )
    }

    private func tellRolledBack(_ mount: [UInt8]) {
        let place = mount.isEmpty ? "this directory" : "'\(displayText(mount))'"
        setup.onEvent(
            .warning(
                message: "\(place) was rolled back to an earlier time: files changed last before "
                    + "they were recorded; nothing is deleted in this run, and what is missing or "
                    + "differs is treated as new, not as deleted or edited"
            )
        )
    }

    private static let costlyMessage =
        "the exclude patterns take too long to match for this name; it is skipped on both sides. "
        + "Simplify the patterns, or exclude the directory above it"

    /// Plans without workers: every item goes to `body`, in key order; where a saved plan is
    /// carried out, only what that has.
    func plan(
        rows: RecordedRows,
        _ executor: ItemExecutor,
        _ body: (PlannedItem) async throws -> Void
    ) async throws -> PlanCoverage {
        let issues = executor.issues
        let scope = scope(reportingTo: executor)
        let tracker = executor.context.tracker
        tracker.planBegins(keysRecorded: rows.count)
        var plan = RunPlan(policy, issues)
        let chosen = options.appliedPlan.map { AppliedPlan($0, executor) }
        func give(_ item: PlannedItem) async throws {
            guard let chosen else { return try await body(item) }
            for item in try await chosen.add(item) { try await body(item) }
        }
        let loop = try await join(
            rows: rows,
            scope,
            issues,
            policy,
            notesMounts: !options.isDryRun,
            passes: { key in
                let isFree = plan.pass(to: key)
                while let item = plan.next() { try await give(item) }
                guard isFree, let chosen else { return isFree }
                return try await chosen.passes(key)
            },
            skips: { scope.surelyTakes($0) && chosen?.hasNoLine(of: $0) ?? true },
            onUnchanged: { count, bytes in
                tracker.compared(count)
                tracker.count { $0.countUnchanged(count, bytes: bytes) }
            },
            onEntry: { entry in
                tracker.compared(1)
                plan.add(entry)
                while let item = plan.next() { try await give(item) }
                issues.planReached(entry.key)
            }
        )
        plan.finish()
        while let item = plan.next() { try await give(item) }
        let rest = try await chosen?.finish(isComplete: loop.listingFailure == nil) ?? []
        for item in rest { try await body(item) }
        let isWhole = loop.listingFailure == nil
        try await scope.freed.finish(session.manifest, isWhole, records: !options.isDryRun)
        tracker.count { summary in
            summary.excluded = scope.excludedCount + issues.taggedCount
            summary.notMirrored = issues.notMirroredCount + plan.reserved.kept
            summary.notMirroredKinds = issues.notMirroredKinds
            if plan.reserved.kept > 0 { summary.notMirroredKinds.insert(.reservedObject) }
            summary.skipped += scope.withheldCount + scope.freed.seen.lost.count
            summary.onlyRemote += scope.keptThereCount
            summary.directoryChanged = issues.hasLostNames
        }
        if session.lock != nil { try await session.damaged.noteUnread(issues.unread) }
        for message in issues.coverMessages { setup.onEvent(.warning(message: message)) }
        executor.noteCopies(in: issues)
        for message in [
            plan.reserved.message, plan.links.message, scope.withheldMessage,
            scope.heldLinksMessage,
            scope.heldNamesMessage, scope.freed.lostMessage, scope.freed.replacedMessage,
        ] {
            if let message { setup.onEvent(.warning(message: message)) }
        }
        for key in scope.freed.seen.lost.named {
            executor.context.keptItem(.skip, .skipped, key, size: 0, message: ItemEvent.lostText)
        }
        return PlanCoverage(loop, issues, scope.freed.seen)
    }

    /// Lists and walks side by side: every key that the selection leaves goes to `onEntry`,
    /// in order.
    ///
    /// But for those that are unchanged where `passes` said that only their number counts, as long
    /// as `skips` says so of each: that goes to `onUnchanged`. `policy` is one of the plans', which
    /// agree about what is unchanged.
    ///
    /// Without `notesMounts` nothing is recorded, neither mounts nor what is left out: so for what
    /// only looks.
    func join(
        rows: RecordedRows,
        _ scope: PlanScope,
        _ issues: ScanIssues,
        _ policy: DecisionPolicy,
        notesMounts: Bool = false,
        passes: (ObjectKey) async throws -> Bool,
        skips: (ObjectKey) -> Bool,
        onUnchanged: (_ count: Int, _ bytes: Int64) -> Void,
        onEntry: (JoinedEntry) async throws -> Void,
        onLeftOut: (JoinedEntry) async throws -> Void = { _ in }
    ) async throws -> PlanLoop {
        let lister = try await makeLister(rows: rows)
        let copies = filter.tags.hasFiles ? TagCopies() : nil
        let scan = try await makeScan(scope, issues, copies, notesMounts, rows, policy)
        var loop = planLoop(lister, scan)
        // Where the ignore file cannot be used, nothing is looked at.
        var leftOut = LeftOutRows(
            session.manifest,
            after: try await limitedRuns(),
            records: notesMounts && session.rules.problem == nil
        )
        let opened = openedDirectories
        func give(_ entry: JoinedEntry, _ loop: inout PlanLoop) async throws {
            if entry.local == nil, let row = entry.base, filter.tags.mayBeTag(row.key) {
                copies?.note(gone: row)
            }
            let entry = try await marked(opened?.closed(entry) ?? entry, scope, issues, &leftOut)
            try await scope.report(entry, session.manifest, issues)
            let chosen = scope.choose(entry, issues)
            loop.note(entry, isSelected: chosen != nil, isHeld: chosen == nil && scope.holds(entry))
            if let chosen {
                // To take a link away deletes nothing of what it hid.
                if entry.local == nil, issues.replace(entry.key) { try await leftOut.add(entry) }
                return try await onEntry(chosen)
            }
            try await onLeftOut(entry)
            try await leftOut.add(entry, isFreed: scope.freed.holds(entry))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Their failures reach the plan through their channels.
            group.addTask { await lister.run() }
            group.addTask { try? await scan.run() }
            defer {
                // What the walk has not come to is of no use to anybody.
                scope.stop()
                group.cancelAll()
            }
            var staleRows = staleRows(scope, issues)
            while true {
                try Task.checkCancellation()
                if staleRows.isIdle, let key = loop.commonKey, try await passes(key),
                    let skipped = try loop.skipUnchanged(policy, where: skips)
                {
                    onUnchanged(skipped.count, skipped.bytes)
                    issues.planReached(skipped.last)
                }
                guard let found = try await loop.next() else { break }
                // Also what the filter hides: a later run may have another one.
                for entry in try await staleRows.entries(found) { try await give(entry, &loop) }
            }
            for entry in try await staleRows.flush() { try await give(entry, &loop) }
            try await leftOut.flush()
        }
        try await report(copies, scope, issues, leftOut)
        return loop
    }

    private func planLoop(_ lister: RemoteLister, _ scan: LocalScan) -> PlanLoop {
        PlanLoop(
            manifest: session.manifest,
            lister: lister,
            scan: scan,
            paths: paths,
            options: options,
            rowsAtOnce: settings.limits.batch
        )
    }

    /// Reports what limited runs made unknown, copies of tags, and files with escaped names that no
    /// run has mirrored.
    private func report(
        _ copies: TagCopies?,
        _ scope: PlanScope,
        _ issues: ScanIssues,
        _ leftOut: LeftOutRows
    ) async throws {
        if let warning = leftOut.warning { setup.onEvent(.warning(message: warning)) }
        try await copies?.report(to: issues, session, records: leftOut.records)
        let escaped = [UInt8](EscapedName.directoryName.utf8)
        // What is recorded of them has a message of its own.
        guard options.names == .skip, scope.heldNamesMessage == nil,
            paths.ranges.contains(ObjectKey(escaped)), session.directory.hasEscapedNames()
        else { return }
        issues.report(WalkIssue(path: escaped, reason: .noEscapedName))
    }

    /// Nil for a mirror that is not cut.
    private var openedDirectories: OpenedDirectories? {
        settings.shard.map { OpenedDirectories(of: $0.folder, in: session.directory) }
    }

    private func makeScan(
        _ scope: PlanScope,
        _ issues: ScanIssues,
        _ copies: TagCopies?,
        _ notesMounts: Bool,
        _ rows: RecordedRows,
        _ policy: DecisionPolicy
    ) async throws -> LocalScan {
        let isExcluded = scope.isExcludedFromWalk
        let ownTags = OwnTags(setup, copies)
        let leftOutMounts = try await ownTags.leftOutMounts(self.scope)
        let staysHere = filter.tags.staysOnFileSystem
        let unmounted = Set(
            session.known.unmounted.filter { staysHere || !leftOutMounts.contains($0) }
        )
        // What they hide is hidden from the first entry on.
        for path in unmounted {
            let reason = staysHere ? WalkIssue.Reason.otherFileSystem : .notMounted
            issues.report(WalkIssue(path: path, reason: reason))
        }
        let mounted = session.known.mounted.filter { !leftOutMounts.contains($0) }
        let leftOut = LeftOutTally(paths.ranges)
        return LocalScan(
            directory: session.directory,
            threads: settings.environment.threads,
            batch: settings.limits.batch,
            within: paths.ranges,
            expecting: mounted,
            tags: filter.tags,
            links: options.links,
            names: options.names,
            looksBeneathUnnamed: policy.deletes && policy.direction != .pull,
            notFollowing: isExcluded,
            leavingOut: { path, isDirectory in
                if isExcluded(path, isDirectory) {
                    scope.countExcluded(path, isDirectory: isDirectory)
                    leftOut.add(path, isDirectory: isDirectory)
                    return true
                }
                return !unmounted.isEmpty && unmounted.contains(path)
            },
            countingIn: leftOut,
            reportingTo: issues,
            reasonOfTags: { try await ownTags.reason(of: $0, isNew: rows.count == 0) },
            copyOfLink: { try await LinkCopies(session: session).copy(at: $0) },
            noteMounts: {
                try await note(
                    $0,
                    new: $1,
                    issues,
                    leavingOut: leftOutMounts,
                    records: notesMounts
                )
            }
        )
    }

    /// Listings side by side, cut where the manifest says that the keys are, and where they turn
    /// out to be.
    private func makeLister(rows: RecordedRows) async throws -> RemoteLister {
        // The cuts are those of the whole mirror, of which a limited run uses some.
        let recorded = paths.isLimited ? try await session.manifest.entryCount() : rows.count
        let count = max(1, recorded / settings.limits.rowsPerListing)
        let (prefix, manifest) = (settings.prefix, session.manifest)
        let hasShortMarkers = try await ShortenedMarkers.areKnown(to: manifest) == true
        let excluding = options.deletesExcluded ? FileFilter() : filter
        return RemoteLister(
            store: setup.store,
            prefix: prefix,
            ranges: paths.ranges,
            splits: hasShortMarkers ? [] : try await manifest.splitKeys(count: count),
            pagesPerSplit: 1 + settings.limits.rowsPerListing / Self.pageSize,
            width: min(options.connectionLimit, Self.listingWidth),
            markers: hasShortMarkers
                ? MarkerReader(store: setup.store, manifest: manifest, prefix: prefix) : nil,
            leavingOut: { excluding.excludedDirectory(of: $0) }
        )
    }
}
