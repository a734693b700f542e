internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// One run over many keys, from its first listing to its record in the manifest.
///
/// 1. Plan and transfer: the plan's loop fills the queue, and a worker per connection empties it.
/// 2. Delete: only after every transfer has ended and `DeletionGuard` finds nothing against it.
/// 3. Close: publish what is verified, also after an interruption, and record the run.
///
/// `MirrorEngine` opens the session and calls it. `+Preview` is the same plan with nothing done.
///
/// Not guaranteed: a snapshot. Both sides may change during a run; a transfer whose source or
/// target changed fails or is left for the next run. `docs/semantics.md` lists the gaps that remain
/// under "What is not promised".
struct MirrorRun: Sendable {
    let settings: MirrorSettings
    private(set) var session: MirrorSession
    let direction: SyncDirection
    let options: RunOptions
    /// What the run is limited to.
    let paths: RunPaths
    let onEvent: @Sendable (SyncEvent) -> Void
    let lease: LeaseLook?
    let limiter: ConnectionLimiter
    /// What the run may still transfer.
    let budget: TransferBudget
    /// The store for all requests of this run.
    let store: LimitedStore

    init(
        settings: MirrorSettings,
        session: MirrorSession,
        direction: SyncDirection,
        options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) throws(SyncError) {
        self.settings = settings
        self.session = session
        self.direction = direction
        self.options = options
        if let shard = settings.shard {
            paths = RunPaths(shard)
        } else {
            paths = try RunPaths(options.paths, links: options.links)
        }
        self.session.known.limit(to: paths.ranges)
        self.onEvent = onEvent
        limiter = ConnectionLimiter(
            maximum: options.connectionLimit,
            monotonic: settings.environment.monotonic,
            sleep: settings.environment.sleep
        )
        let lease = LeaseLook(session, settings)
        self.lease = lease
        budget = TransferBudget(bytes: options.maximumTransfer)
        store = LimitedStore(
            settings.store,
            limiter,
            budget,
            failures: settings.storeObserver.failures,
            mayChange: lease?.question
        )
    }

    /// What a run is made of once it has a number.
    struct Parts {
        let context: RunContext
        let ledger: RunLedger
        let publications: PublicationQueue
        let executor: ItemExecutor
    }

    func perform() async throws(SyncError) -> RunSummary {
        let isWhole = !paths.isLimited && options.plan == nil
        let counts = session.rulesProblem == nil && isWhole && settings.shard == nil
        return try await perform(countsAsSuccess: counts) {
            try await transferAndDelete($0)
        }
    }

    /// A run that does nothing but `work`: begun, serviced and recorded as any other.
    ///
    /// With `countsAsSuccess` false it is not the last success of its direction.
    func perform(
        countsAsSuccess: Bool,
        _ work: @escaping @Sendable (Parts) async throws -> Void
    ) async throws(SyncError) -> RunSummary {
        let started = settings.environment.monotonic()
        let before = SignalCounts(settings.storeObserver)
        defer { settings.storeObserver.detach() }
        let parts: Parts
        do {
            parts = try await begin()
        } catch {
            throw SyncError(any: error)
        }
        emitWarnings()
        var failure: SyncError?
        do {
            let watch = LimitWatch(
                options: options,
                budget: budget,
                environment: settings.environment
            )
            try await withServices(parts) {
                try await watch.run(since: started) { try await work(parts) }
            }
        } catch let error as LimitReached where parts.ledger.stop == nil {
            parts.context.tracker.count { summary in
                (summary.reachedLimit, summary.stopped) = (error.limit, error.limit.rawValue)
            }
        } catch {
            failure = parts.ledger.stop ?? SyncError(any: error)
        }
        failure = await lease?.loss() ?? failure
        // Also after an interruption: what is verified need not be fetched again.
        await parts.publications.finish()
        await parts.executor.permissions.closeDirectories()
        failure = failure ?? parts.ledger.stop
        var summary = parts.context.tracker.summary
        summary.runID = parts.context.run.value
        summary.seconds = seconds(since: started)
        SignalCounts(settings.storeObserver).add(to: &summary, since: before)
        if failure == nil { failure = unanswered(summary, parts.context.clocks) }
        do {
            summary.bytesKept = try await bytesKept()
        } catch {
            failure = failure ?? SyncError(any: error)
        }
        failure = await close(parts, summary, failure, countsAsSuccess: countsAsSuccess)
        if let failure { (summary.stopped, summary.reachedLimit) = (failure.message, nil) }
        if summary.stopped != nil {
            summary.interrupted = parts.ledger.cancelledItems
            summary.notTried = parts.ledger.untriedItems
            summary.isPlanComplete = parts.context.tracker.snapshot().isPlanComplete
        }
        onEvent(.finished(summary))
        if let failure { throw failure }
        return summary
    }

    private func begin() async throws -> Parts {
        let run = try await session.manifest.beginRun(
            direction: direction.rawValue,
            started: settings.environment.now(),
            remote: settings.displayRemote,
            paths: paths.isLimited ? paths.paths.map(\.display).joined(separator: "\n") : nil
        )
        onEvent(
            .started(
                direction: direction,
                directory: settings.directory,
                remote: settings.displayRemote
            )
        )
        let parts = parts(run, try await EarlierRows(session.manifest))
        try await session.damaged.markOtherNames()
        try await parts.context.closed.closeLeft()
        parts.ledger.expect(try await VanishedObjects(session.manifest))
        attachSignal(parts)
        try await parts.context.uploads.forgetOthers()
        if settings.shard?.isFinishing == true {
            try await adoptDeletions(run)
        }
        try await Housekeeping(context: parts.context).sweepBefore()
        return parts
    }

    private func closedDirectories(_ transfer: TransferContext) -> ClosedDirectories {
        ClosedDirectories(
            transfer,
            session.manifest,
            limit: settings.limits.waiting * 10,
            shard: settings.shard
        )
    }

    var ownTags: OwnTags {
        OwnTags(
            session: session,
            settings: settings,
            paths: paths,
            store: store,
            tags: filter.tags
        )
    }

    /// What the run skips.
    var filter: FileFilter { session.ignored.followed(by: options.filter) }

    func parts(_ run: RunID, _ earlier: EarlierRows = .perhaps) -> Parts {
        let threads = settings.environment.threads
        let uploads = OwnUploads(
            session.manifest,
            settings.environment,
            earlier: session.cutOffRuns
        )
        let transfer = TransferContext(
            store: store,
            prefix: settings.prefix,
            directory: session.directory,
            records: ManifestCheckpoints(manifest: session.manifest),
            hasRecords: earlier.hasTransfers,
            environment: settings.environment,
            partSize: options.partSize,
            limits: settings.limits.transfer,
            largestUnrecorded: settings.limits.transfer.maximumUncheckpointed,
            disk: BlockingQueue(label: "osssync.disk", width: 4, backlog: 4, threads: threads),
            hashing: BlockingQueue(label: "osssync.hash", width: 2, threads: threads),
            observer: TransferObserver(onEvent),
            uploadToken: { key, size throws(ItemFailure) in
                try await uploads.transferToken(of: key, size: size)
            }
        )
        let context = RunContext(
            transfer: transfer,
            manifest: session.manifest,
            uploads: uploads,
            emit: onEvent,
            limits: settings.limits,
            tracker: ProgressTracker(direction: direction, paths: paths.texts),
            journal: RunJournal(),
            options: options,
            paths: paths,
            run: run,
            remoteTrashMark: session.trashMark(settings.environment),
            clocks: RunClocks(settings.environment),
            looksForFoldedNames: session.hasFoldedNames,
            judgesInodes: (try? session.directory.keepsInodeNumbers()) ?? true,
            knowsDirectory: session.known.isSame,
            ordinaryDirectory: session.known.ordinaryDirectory,
            filter: filter,
            closed: closedDirectories(transfer),
            earlier: earlier,
            damaged: session.damaged,
            canFetch: session.known.writingRefusal == nil,
            shard: settings.shard?.outcome,
            mayEmptyTrash: settings.shard.map { $0.whole != nil } ?? true
        )
        let ledger = RunLedger(waitingLimit: settings.limits.waiting)
        let reports = ItemReports(context: context, ledger: ledger)
        let publications = PublicationQueue(context: context) { key, action, size, failure in
            reports.fail(action, key, size: size, failure)
        }
        let issues = ScanIssues(in: settings.shard?.range ?? .all) { reports.report($0) }
        let executor = ItemExecutor(parts: ItemParts(context, ledger, publications, issues))
        return Parts(
            context: context,
            ledger: ledger,
            publications: publications,
            executor: executor
        )
    }

    /// With `--rebind`, a disk that is not mounted is gone on purpose, unless the answer was to
    /// another question: of another remote, or of what is extra after the manifest was rebuilt.
    mutating func acceptMounts() async throws(SyncError) {
        guard options.allowsRebinding, !session.isManifestRebuilt else { return }
        do {
            let isUnconfirmed = try await RebuiltManifest.isUnconfirmed(
                direction,
                filter,
                session.manifest
            )
            let isAnswered = options.deletesExtra && isUnconfirmed
            if !isAnswered { session.known.acceptMounts() }
        } catch {
            throw SyncError(any: error)
        }
    }

    func emitWarnings() {
        for warning in warnings { onEvent(.warning(message: warning)) }
    }

    /// What is to be known before anything else.
    var warnings: [String] {
        let known = session.warnings + filter.problems(directory: settings.directory)
        guard !session.known.isSame else { return known }
        return known + [
            "this directory does not match the last run (a copy, another disk or a "
                + "restored backup); nothing is deleted in this run, and what is missing "
                + "or differs is treated as new, not as deleted or edited"
        ]
    }

    private func announceFilter(hasRows: Bool) async throws {
        guard try await IgnoreFile.records(filter, in: session.manifest), hasRows else { return }
        let fate = options.deletesExcluded ? "is deleted where it is unchanged" : "is skipped"
        onEvent(
            .warning(
                message: "the filters have changed since the last run; what "
                    + "they exclude now \(fate)"
            )
        )
    }

    func seconds(since start: Duration) -> Double {
        (settings.environment.monotonic() - start).inSeconds
    }
}

// MARK: - Transfers

extension MirrorRun {
    private func transferAndDelete(_ parts: Parts) async throws {
        let watch = try await DirectoryWatch(parts.context)
        let rows = try await RecordedRows(paths, in: session.manifest)
        // What other patterns exclude elsewhere, a limited run cannot say.
        if !paths.isLimited { try await announceFilter(hasRows: rows.count > 0) }
        // One that follows changes, as a watch does, leaves out what has none.
        if paths.isLimited, !options.allowsMissingPaths {
            try await LimitedRuns.note(paths, in: session.manifest)
        }
        let coverage = try await transfer(parts, rows: rows)
        if coverage.hasRemoteTrash || options.trash == .remote {
            try await RemoteTrash.note(in: session.directory, parts.context.disk)
        }
        try await parts.executor.markers.sendWaitingMarkers()
        await parts.publications.flush()
        await parts.publications.recordRows()
        try await LinkCopies(session: session).remove(parts.executor)
        if let stop = parts.ledger.stop { throw stop }
        try Task.checkCancellation()
        guard parts.ledger.cancelledItems == 0 else { throw CancellationError() }
        // Nothing was planned from a listing without a first page: its failure is the run's.
        if let error = coverage.listingFailure, !coverage.hasListing {
            parts.context.tracker.planIsIncomplete()
            throw error
        }
        try await recordWhatWasSeen(parts, coverage)
        try await delete(parts, coverage, rows: rows, watch)
        await parts.publications.flush()
        if let stop = parts.ledger.stop { throw stop }
        let ledger = parts.ledger
        // What the walk could not see may be what a checkpoint is of.
        let isClean =
            coverage.isListingProven && coverage.isScanProven && ledger.failedItems == 0
            && ledger.shortItems == 0 && ledger.vanishedItems == 0
        // A plan need not have what a checkpoint is of, either.
        if isClean, options.plan == nil {
            if !ledger.keepsFetchedContents, !paths.isLimited {
                try await Housekeeping(context: parts.context).dropFetchedContents()
            }
            let filter = parts.context.filter
            try await Housekeeping(context: parts.context).sweepAfter(direction) { key, size in
                filter.excludes(key) || filter.bounds.mayExclude(size: size)
                    || session.directory.isTagged(beneath: key, filter.tags)
            }
            try await Housekeeping(context: parts.context).sweepRemoteTrash()
        }
        try await forgetFreed(parts, coverage, isClean: isClean)
        for content in await parts.publications.unproven {
            try await session.manifest.record(.note(content))
        }
        // A directory that went away after the last deletions is not in step with anything.
        try await watch.check()
        guard let doubt = coverage.listingDoubt else { return }
        parts.context.tracker.count { $0.failed += 1 }
        onEvent(.warning(message: doubt))
    }

    /// After a plan of the whole mirror: which directory it was, and that limited runs are over.
    private func recordWhatWasSeen(_ parts: Parts, _ coverage: PlanCoverage) async throws {
        // Also if deletions are refused, which they are in just that run that comes to know another
        // directory. But what is to be deleted for being there only would go in the next one.
        let planned = try await session.manifest.plannedDeletionCount(run: parts.context.run)
        let isKnown = session.known.isSame && !parts.executor.issues.hasForeignMounts
        let mayRecord = isKnown || options.allowsRebinding || planned.remote == 0
        // A limited run knows nothing of the rest.
        let sawAll = !paths.isLimited && coverage.isScanProven && coverage.isListingProven
        if sawAll, session.rulesProblem == nil {
            try await LimitedRuns.forget(in: session.manifest)
        }
        if mayRecord, sawAll {
            let leftOut = try await ownTags.leftOutMounts(scope)
            try await session.known.record(
                in: session.manifest,
                parts.executor.issues.mountPoints,
                of: session.directory,
                leavingOut: { leftOut.contains($0) }
            )
        }
    }
}
