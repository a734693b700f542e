internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner

extension MirrorRun {
    /// A dry run: everything is listed, walked and compared, nothing is changed.
    func preview() async throws(SyncError) -> RunSummary {
        let started = settings.environment.monotonic()
        let before = SignalCounts(settings.signal)
        let parts = parts(RunID(0))
        attachSignal(parts)
        defer { settings.signal.detach() }
        onEvent(
            .started(
                direction: direction,
                directory: displayText(settings.directory.utf8),
                remote: settings.displayRemote
            )
        )
        announce()
        let preview = Preview(parts: parts)
        do {
            let rows = try await session.manifest.entryCount()
            let findings = try await plan(rows: rows, parts) { item in
                try await preview.show(item)
            }
            if let error = findings.listingFailure { throw error }
            let deletions = parts.context.tracker.summary.deleted
            let judge = try await deletionGuard(parts, findings, rows: rows, deletions: deletions)
            if case .refused(let refusal) = judge.verdict {
                parts.context.tracker.count { $0.deletionsHeldBack = refusal.message }
            }
        } catch {
            throw SyncError(any: error)
        }
        var summary = parts.context.tracker.summary
        summary.seconds = seconds(since: started)
        SignalCounts(settings.signal).add(to: &summary, since: before)
        onEvent(.finished(summary))
        return summary
    }

    /// What this run looks at.
    var selection: Selection { selection { _ in } }

    private func selection(
        judgesInodes: Bool = true,
        onCostly: @escaping @Sendable (ObjectKey) -> Void
    ) -> Selection {
        Selection(
            filter,
            direction,
            deletesExcluded: options.deletesExcluded,
            held: session.held,
            judgesInodes: judgesInodes,
            onCostly: onCostly
        )
    }

    /// Notes the mounts that the walk has met so far.
    private func note(
        _ found: [[UInt8]],
        new: ArraySlice<[UInt8]>,
        _ issues: ScanIssues,
        records: Bool
    ) async throws {
        let foreign = try await session.known.foreign(among: new, session.manifest)
        for path in foreign where issues.addForeign(path) {
            let message =
                "'\(displayText(path))' is another disk or mount than in the last run; nothing is "
                + "deleted in this run, and what differs beneath it is compared as if it were new"
            onEvent(.warning(message: message))
        }
        guard records else { return }
        try await session.known.note(found, foreign: issues.foreignMounts, in: session.manifest)
    }

    private static let costlyMessage =
        "the rules of what to exclude take too long for this name; it is left alone on both sides. "
        + "Make the rules simpler, or exclude the directory above it"

    /// Plans without workers: every item goes to `body`, in key order.
    func plan(
        rows: Int,
        _ parts: Parts,
        _ body: (PlannedItem) async throws -> Void
    ) async throws -> Findings {
        let (executor, issues) = (parts.executor, parts.executor.issues)
        var policy = DecisionPolicy(direction, options, prefix: settings.prefix)
        policy.judgesInodes = try session.directory.keepsInodeNumbers()
        policy.knowsDirectory = session.known.isSame
        let selection = selection(judgesInodes: policy.judgesInodes) { key in
            executor.skipWithoutDoubt(key, size: 0, message: Self.costlyMessage)
        }
        var decider = PrefixConflicts(policy: policy)
        var reserved = ReservedObjects()
        func settle() async throws {
            while let item = decider.next() {
                reserved.note(item)
                try await body(item)
            }
        }
        let loop = try await join(
            rows: rows,
            selection,
            issues,
            notesMounts: !options.isDryRun,
            onEntry: { entry in
                decider.add(entry)
                try await settle()
                issues.planReached(entry.key)
            }
        )
        decider.finish()
        try await settle()
        parts.context.tracker.count { summary in
            summary.excluded = selection.excludedCount
            summary.notMirrored = issues.notMirroredCount
            summary.onlyLocal += issues.notMirroredCount
            summary.skipped += selection.withheldCount
        }
        for message in [issues.unnamedMessage, reserved.message, selection.withheldMessage] {
            if let message { onEvent(.warning(message: message)) }
        }
        return findings(loop, issues, reserved)
    }

    /// Lists and walks side by side: every key that the selection leaves goes to `onEntry`,
    /// in order.
    ///
    /// Without `notesMounts` nothing is recorded: so for what only looks.
    func join(
        rows: Int,
        _ selection: Selection,
        _ issues: ScanIssues,
        notesMounts: Bool = false,
        onEntry: (JoinedEntry) async throws -> Void
    ) async throws -> PlanLoop {
        let isExcluded = selection.isExcludedFromWalk
        let unmounted = Set(session.known.unmounted.filter { !isExcluded($0, true) })
        // What they hide is hidden from the first entry on.
        for path in unmounted { issues.report(WalkIssue(path: path, reason: .notMounted)) }
        let mounted = session.known.mounted.filter { !isExcluded($0, true) }
        let lister = try await makeLister(rows: rows)
        let scan = LocalScan(
            directory: session.directory,
            threads: settings.environment.threads,
            batch: settings.limits.batch,
            expecting: mounted,
            leavingOut: { path, isDirectory in
                if isExcluded(path, isDirectory) {
                    selection.countExcluded()
                    return true
                }
                return !unmounted.isEmpty && unmounted.contains(path)
            },
            reportingTo: issues,
            noteMounts: { try await note($0, new: $1, issues, records: notesMounts) }
        )
        var loop = PlanLoop(
            manifest: session.manifest,
            lister: lister,
            scan: scan,
            rowsAtOnce: settings.limits.batch
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Their failures reach the plan through their channels.
            group.addTask { await lister.run() }
            group.addTask { try? await scan.run() }
            defer {
                // What the walk has not come to is of no use to anybody.
                selection.stop()
                group.cancelAll()
            }
            var forgetter = Forgetter(
                session: session,
                selection: selection,
                issues: issues,
                threads: settings.environment.threads
            )
            while let found = try await loop.next() {
                try Task.checkCancellation()
                // Also what the filter hides: a later run may have another one.
                for entry in try await forgetter.entries(found) {
                    if let entry = selection.choose(entry) { try await onEntry(entry) }
                }
            }
            for entry in try await forgetter.flush() {
                if let entry = selection.choose(entry) { try await onEntry(entry) }
            }
        }
        return loop
    }
}

/// Says what a run would do with each item.
private struct Preview: Sendable {
    let parts: MirrorRun.Parts

    var executor: ItemExecutor { parts.executor }
    private var context: TransferContext { parts.context }

    func show(_ item: PlannedItem) async throws {
        if item.decision.dependsOnWalk, executor.issues.hides(item.entry.key) {
            executor.skipHidden(item.entry)
            return
        }
        try await show(item.decision, item.entry)
    }

    private func compare(
        _ entry: JoinedEntry,
        _ comparison: Comparison,
        same: Decision,
        different: Decision
    ) async throws {
        do {
            let answer = try await executor.answer(entry, comparison)
            guard !executor.needsContent(answer, different, of: entry) else {
                let message =
                    "the store does not say whether its content is the file's; a run "
                    + "fetches the object to compare it"
                return show(.adopt, entry, size: entry.remote?.size ?? 0, message)
            }
            try await show(answer.isSame ? same : different, entry)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let failure = ItemFailure(any: error)
            guard failure != .cancelled else { throw CancellationError() }
            executor.fail(.adopt, entry.key, size: entry.remote?.size ?? 0, failure)
        }
    }

    private func show(_ decision: Decision, _ entry: JoinedEntry) async throws {
        let remoteSize = entry.remote?.size ?? 0
        let localSize = entry.local?.identity?.size ?? 0
        let decision = executor.doubting(decision, entry)
        switch decision {
        case .nothing(let reason):
            executor.leave(reason, entry)
        case .refresh(let reason):
            executor.leave(reason, entry)
        case .forget:
            context.tracker.count { $0.unchanged += 1 }
        case .download(let reason), .downloadAfterDeletions(let reason):
            try await showDownload(entry, reason)
        case .makeDirectory:
            if entry.local == nil { show(.download, entry, size: 0, "a new directory") }
        case .upload(let reason):
            try await showUpload(entry, reason)
        case .uploadMarker:
            show(.upload, entry, size: 0, "an empty directory")
        case .compare(let comparison, let same, let different):
            try await compare(entry, comparison, same: same, different: different)
        case .adopt:
            context.tracker.count { $0.adopted += 1 }
            context.item(.adopt, .planned, entry.key, size: remoteSize)
        case .deleteLocal(let reason):
            guard !executor.issues.hides(entry.key) else { return }
            delete(.deleteLocal, entry, size: localSize, reason.message)
        case .deleteRemote(let reason):
            guard !executor.issues.hides(entry.key) else { return }
            delete(.deleteRemote, entry, size: remoteSize, reason.message)
        case .conflict(let kind, _) where await executor.isOwnEarlier(entry, kind):
            guard context.tracker.direction == .pull else {
                return try await showUpload(entry, .changed)
            }
            guard context.options.replacesLocalChanges else {
                return executor.keepLocalChange(entry)
            }
            try await showDownload(entry, .replacesLocalChange)
        case .conflict(let kind, let resolution):
            context.tracker.count { $0.conflicts += 1 }
            let message = executor.explanation(kind, resolution, entry)
            context.item(.conflict, .planned, entry.key, size: remoteSize, message: message)
        case .keepLocalChange:
            executor.keepLocalChange(entry)
        case .skip, .resolveLink:
            await executor.carryOut(decision, entry)
        }
    }

    /// A download, or the copy of a file that has the content already.
    private func showDownload(_ entry: JoinedEntry, _ reason: DownloadReason) async throws {
        guard let object = entry.remote else { return }
        guard !entry.key.isDirectoryMarker else {
            return show(.download, entry, size: 0, "a new directory")
        }
        let isNew = entry.base == nil && entry.local == nil
        if isNew, let row = try await found({ try await executor.localSource(entry, object)?.row })
        {
            showCopy(.copyLocal, entry, of: row, size: object.size)
        } else {
            show(.download, entry, size: object.size, reason.message)
        }
    }

    /// An upload, or the copy of an object that has the content already.
    private func showUpload(_ entry: JoinedEntry, _ reason: UploadReason) async throws {
        guard let file = entry.local?.identity else { return }
        let row = try await found {
            guard entry.remote == nil else { return nil }
            return try await executor.remoteSource(entry, file, try RelativePath(key: entry.key))
        }
        if let row {
            showCopy(.copyRemote, entry, of: row, size: file.size)
        } else {
            show(.upload, entry, size: file.size, reason.message)
        }
    }

    /// What a search finds; one that fails would end in a transfer.
    private func found(
        _ search: () async throws -> ManifestEntry?
    ) async throws -> ManifestEntry? {
        do {
            return try await search()
        } catch {
            guard ItemFailure(any: error) != .cancelled else { throw CancellationError() }
            return nil
        }
    }

    private func showCopy(
        _ action: ItemAction,
        _ entry: JoinedEntry,
        of row: ManifestEntry,
        size: Int64
    ) {
        context.tracker.count { $0.renamed += 1 }
        let message = "'\(row.key.display)' has the same content"
        context.item(action, .planned, entry.key, size: size, message: message)
    }

    private func show(
        _ action: ItemAction,
        _ entry: JoinedEntry,
        size: Int64,
        _ message: String
    ) {
        context.tracker.wouldTransfer(bytes: size)
        context.item(action, .planned, entry.key, size: size, message: message)
    }

    private func delete(
        _ action: ItemAction,
        _ entry: JoinedEntry,
        size: Int64,
        _ message: String
    ) {
        context.tracker.count { $0.deleted += 1 }
        context.item(action, .planned, entry.key, size: size, message: message)
    }
}
