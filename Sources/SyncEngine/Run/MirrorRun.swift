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
/// `MirrorEngine` opens the session and calls it. `DryRun` is the same plan with nothing done.
///
/// Not guaranteed: a snapshot. Both sides may change during a run; a transfer whose source or
/// target changed fails or is left for the next run. `docs/semantics.md` lists the gaps that remain
/// under "What is not promised".
struct MirrorRun: RunStep {
    let setup: RunSetup

    init(_ setup: RunSetup) { self.setup = setup }

    func perform() async throws(TransferError) -> RunSummary {
        let isWhole = !paths.isLimited && options.plan == nil
        let counts = session.rules.problem == nil && isWhole && settings.shard == nil
        return try await perform(countsAsSuccess: counts) {
            try await transferAndDelete($0)
        }
    }

    /// A run that does nothing but `work`: begun, serviced and recorded as any other.
    ///
    /// With `countsAsSuccess` false it is not the last success of its direction.
    func perform(
        countsAsSuccess: Bool,
        _ work: @escaping @Sendable (ItemExecutor) async throws -> Void
    ) async throws(TransferError) -> RunSummary {
        let started = settings.environment.monotonic()
        let before = SignalCounts(settings.storeObserver)
        defer { settings.storeObserver.detach() }
        let executor: ItemExecutor
        do {
            executor = try await begin()
        } catch {
            throw TransferError(any: error)
        }
        setup.tellWarnings()
        var failure: TransferError?
        do {
            let watch = LimitWatch(
                options: options,
                budget: setup.budget,
                environment: settings.environment
            )
            try await RunServices(executor: executor).run {
                try await watch.run(since: started) { try await work(executor) }
            }
        } catch let error as LimitReached where executor.ledger.stop == nil {
            executor.context.tracker.count { summary in
                (summary.reachedLimit, summary.stopped) = (error.limit, error.limit.rawValue)
            }
        } catch {
            failure = executor.ledger.stop ?? TransferError(any: error)
        }
        failure = await setup.lease?.loss() ?? failure
        // Also after an interruption: what is verified need not be fetched again.
        await executor.publications.finish()
        await executor.permissions.closeDirectories()
        failure = failure ?? executor.ledger.stop
        var summary = executor.context.tracker.summary
        summary.runID = executor.context.run.value
        summary.seconds = (settings.environment.monotonic() - started).inSeconds
        SignalCounts(settings.storeObserver).add(to: &summary, since: before)
        let ending = RunEnding(executor: executor)
        if failure == nil { failure = ending.unanswered(summary) }
        do {
            summary.bytesKept = try await ending.bytesKept()
        } catch {
            failure = failure ?? TransferError(any: error)
        }
        failure = await ending.close(summary, failure, countsAsSuccess: countsAsSuccess)
        if let failure { (summary.stopped, summary.reachedLimit) = (failure.message, nil) }
        if summary.stopped != nil {
            summary.interrupted = executor.ledger.cancelledItems
            summary.notTried = executor.ledger.untriedItems
            summary.isPlanComplete = executor.context.tracker.snapshot().isPlanComplete
        }
        setup.onEvent(.finished(summary))
        if let failure { throw failure }
        return summary
    }

    private func begin() async throws -> ItemExecutor {
        let run = try await session.manifest.beginRun(
            direction: direction.rawValue,
            started: settings.environment.now(),
            remote: settings.displayRemote,
            paths: paths.isLimited ? paths.paths.map(\.display).joined(separator: "\n") : nil
        )
        setup.tellStart()
        let earlier = try await EarlierRows(session.manifest)
        let executor = ItemExecutor(ItemParts(setup, run, earlier))
        try await session.damaged.markOtherNames()
        try await executor.context.closed.closeLeft()
        executor.ledger.expect(try await VanishedObjects(session.manifest))
        executor.context.attachSignal()
        try await executor.context.uploads.forgetOthers()
        if settings.shard?.isFinishing == true {
            try await adoptDeletions(run)
        }
        try await Housekeeping(context: executor.context).sweepBefore()
        return executor
    }
}

// MARK: - Transfers

extension MirrorRun {
    private func transferAndDelete(_ executor: ItemExecutor) async throws {
        let watch = try await DirectoryWatch(executor.context)
        let rows = try await RecordedRows(paths, in: session.manifest)
        try await FilterRecord(setup).update(hasRows: rows.count > 0, records: true)
        // One that follows changes, as a watch does, leaves out what has none.
        if paths.isLimited, !options.allowsMissingPaths {
            try await LimitedRuns.note(paths, in: session.manifest)
        }
        let coverage = try await transfer(executor, rows: rows)
        if coverage.hasRemoteTrash || options.trash == .remote {
            try await RemoteTrash.note(in: session.directory, executor.context.disk)
        }
        try await executor.markers.sendWaitingMarkers()
        await executor.publications.flush()
        await executor.publications.recordRows()
        try await LinkCopies(session: session).remove(executor)
        if let stop = executor.ledger.stop { throw stop }
        try Task.checkCancellation()
        guard executor.ledger.cancelledItems == 0 else { throw CancellationError() }
        // Nothing was planned from a listing without a first page: its failure is the run's.
        if let error = coverage.listingFailure, !coverage.hasListing {
            executor.context.tracker.planIsIncomplete()
            throw error
        }
        try await recordWhatWasSeen(executor, coverage)
        try await RunDeletions(executor: executor).delete(coverage, rows: rows, watch)
        await executor.publications.flush()
        if let stop = executor.ledger.stop { throw stop }
        let ledger = executor.ledger
        // What the walk could not see may be what a checkpoint is of.
        let isClean =
            coverage.isListingProven && coverage.isScanProven && ledger.failedItems == 0
            && ledger.shortItems == 0 && ledger.vanishedItems == 0
        // A plan need not have what a checkpoint is of, either.
        if isClean, options.plan == nil {
            if !ledger.keepsFetchedContents, !paths.isLimited {
                try await Housekeeping(context: executor.context).dropFetchedContents()
            }
            let filter = executor.context.filter
            try await Housekeeping(context: executor.context).sweepAfter(direction) { key, size in
                filter.excludes(key) || filter.bounds.mayExclude(size: size)
                    || session.directory.isTagged(beneath: key, filter.tags)
            }
            try await Housekeeping(context: executor.context).sweepRemoteTrash()
        }
        try await RunEnding(executor: executor).forgetFreed(coverage, isClean: isClean)
        for content in await executor.publications.unproven {
            try await session.manifest.record(.note(content))
        }
        // A directory that went away after the last deletions is not in step with anything.
        try await watch.check()
        guard let doubt = coverage.listingDoubt else { return }
        setup.onEvent(.warning(message: doubt))
        if let error = coverage.listingFailure {
            executor.context.tracker.planIsIncomplete()
            throw error
        }
        executor.context.tracker.count { $0.failed += 1 }
    }

    /// After a plan of the whole mirror: which directory it was, and that limited runs are over.
    private func recordWhatWasSeen(_ executor: ItemExecutor, _ coverage: PlanCoverage) async throws
    {
        // Also if deletions are refused, which they are in just that run that comes to know another
        // directory. But what is to be deleted for being there only would go in the next one.
        let planned = try await session.manifest.plannedDeletionCount(run: executor.context.run)
        let isKnown = session.known.isSame && !executor.issues.hasForeignMounts
        let mayRecord = isKnown || options.allowsRebinding || planned.remote == 0
        // A limited run knows nothing of the rest.
        let sawAll = !paths.isLimited && coverage.isScanProven && coverage.isListingProven
        if sawAll, session.rules.problem == nil {
            try await LimitedRuns.forget(in: session.manifest)
            if !executor.ledger.hasReadFailures { try await session.damaged.forgetUnread() }
        }
        if mayRecord, sawAll {
            let leftOut = try await OwnTags(setup).leftOutMounts(PlanSource(setup).scope)
            try await session.known.record(
                in: session.manifest,
                executor.issues.mountPoints,
                of: session.directory,
                leavingOut: { leftOut.contains($0) }
            )
        }
    }
}
