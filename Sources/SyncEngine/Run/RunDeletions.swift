internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What a run deletes at its end: judged by `DeletionGuard`, carried out by `DeletionPass`.
struct RunDeletions: RunStep {
    let executor: ItemExecutor

    var setup: RunSetup { executor.context.setup }
    private var context: RunContext { executor.context }
    private var ledger: RunLedger { executor.ledger }

    func deletionGuard(
        _ coverage: PlanCoverage,
        rows: RecordedRows,
        deletions: Int
    ) async throws(ManifestError) -> DeletionGuard {
        let isUnconfirmed = try await RebuiltManifest.isUnconfirmed(
            direction,
            filter,
            session.manifest
        )
        var check = DeletionGuard(
            direction: direction,
            deletions: deletions,
            rows: rows.count,
            listedObjects: coverage.listedObjects,
            walkedEntries: coverage.walkedEntries,
            isListingProven: coverage.isListingProven,
            isScanProven: coverage.isScanProven && !ledger.hasReadFailures,
            failedItems: ledger.failedItems,
            skippedItems: ledger.skippedItems,
            vanishedItems: ledger.vanishedItems,
            isSameDirectory: deletions == 0
                || (session.known.isSame && !executor.issues.hasForeignMounts),
            isManifestRebuilt: session.isManifestRebuilt
                || (isUnconfirmed && options.deletesExtra && !options.allowsRebinding),
            allowsEmpty: options.allowsEmpty || deletions == 0 && onlyBringsBack,
            limit: options.deletionLimit
        )
        check.keptRows = coverage.unselected.rows
        check.heldRows = coverage.unselected.held.total
        check.bare = coverage.bare(\.total)
        check.leftOutObjects = coverage.unselected.objects.total
        check.leftOutNames = coverage.leftOut.total + coverage.unselected.entries.total
        check.branches = coverage.branches(of: paths, rows: rows)
        return check
    }

    /// What was planned to be deleted before anything showed that its disk was rolled back is as
    /// unknown as what came after.
    private func forgetRolledBack() async throws {
        guard executor.issues.hasRolledBack else { return }
        let planned = RowSelection.deletions(run: context.run, side: .remote)
        for try await batch in context.manifest.pages(planned, limit: context.limits.batch) {
            let keys = batch.map(\.key).filter { executor.issues.isRolledBack($0) }
            try await context.manifest.record(keys.map { .forget($0) })
        }
    }

    /// True if the run fetches what was freed and nothing else: if that is gone, the user gives it
    /// up.
    private var onlyBringsBack: Bool {
        setup.freed.bringsBack && direction == .pull
            && paths.paths.allSatisfy {
                session.freed.contains($0.key) || session.freed.names($0.beneath)
            }
    }

    /// Carries out what was planned for after the transfers, if the guards allow it.
    func delete(
        _ coverage: PlanCoverage,
        rows: RecordedRows,
        _ watch: DirectoryWatch
    ) async throws {
        let uploads = DeferredUploads(executor: executor)
        try await uploads.settle()
        var held = try await holdBackForRules()
        if held == nil { held = try await holdBackBeneathNames() }
        let renames = try await LocalRenames(executor: executor).resolve()
        if let stop = ledger.stop { throw stop }
        try Task.checkCancellation()
        guard ledger.cancelledItems == 0 else { throw CancellationError() }
        try await forgetRolledBack()
        let planned = try await context.manifest.plannedDeletionCount(run: context.run)
        var check = try await deletionGuard(
            coverage,
            rows: rows,
            deletions: planned.local + planned.remote + ledger.vanishedFiles
        )
        let moved = try await movedObjects() + renamedThere()
        check.renames = renames.count + moved
        if let outcome = settings.shard?.outcome {
            uploads.leave()
            // A file cannot change its name here without a deletion.
            check.renames = moved
            return try await leave(check, held, renames, to: outcome, coverage)
        }
        switch check.verdict {
        case .allowed:
            if let held { context.tracker.count { $0.deletionsHeldBack = held } }
            try await deletePlanned(renames, watch)
            try await uploads.run()
            try await DeferredDownloads(executor: executor).run()
            try await RoomMaking(executor: executor).run()
            guard ledger.cancelledItems == 0 else { throw CancellationError() }
            if try await mayConfirm(coverage) {
                try await RebuiltManifest.confirm(direction, filter, context.manifest)
            }
        case .refused(let refusal):
            try await context.manifest.clearPlannedDeletions(run: context.run)
            let message = explained(refusal)
            context.tracker.count { $0.deletionsHeldBack = message }
            if refusal.isSafetyRefusal {
                ledger.stop(TransferError(code: .refused, message: refusal.message))
            }
            uploads.fail()
            DeferredDownloads(executor: executor).skip()
            try await LocalRenames(executor: executor).download(
                [LocalRenames.Proven](renames.values)
            )
            await RoomMaking(executor: executor).fail()
        }
        if let end = ledger.fullBucket { ledger.stop(end) }
    }

    /// How many of the objects that are to be deleted have other names in the bucket by now, which
    /// this run gave their contents.
    private func movedObjects() async throws -> Int {
        guard ledger.hasMoved else { return 0 }
        var count = 0
        let planned = RowSelection.deletions(run: context.run, side: .remote)
        for try await batch in context.manifest.pages(planned, limit: context.limits.batch) {
            count += batch.count { ledger.newName(of: $0) != nil }
        }
        return count
    }

    /// How many of the files that are to be deleted were fetched under other names.
    private func renamedThere() async throws -> Int {
        var found = ledger.renamesThere
        guard !found.isEmpty else { return 0 }
        let planned = RowSelection.deletions(run: context.run, side: .local)
        for try await batch in context.manifest.pages(planned, limit: context.limits.batch) {
            for deletion in batch {
                found.noteGone(try await context.manifest.entry(deletion.key))
            }
        }
        return found.count
    }

    /// What is said of a refusal, with the way out if it would be the same in every run.
    private func explained(_ refusal: DeletionRefusal) -> String {
        guard case .itemsFailed(let count, _) = refusal, let key = ledger.onlyRefused,
            let hint = FilterHint(key, isFileOnly: true)
        else { return refusal.message }
        let others = count == 1 ? "" : ", the first of them"
        return refusal.message + " The store refuses '\(key.display)'\(others)\(hint.text)"
    }

    /// True if what is extra on the side that a run writes to is all deleted, once it has deleted
    /// what it has planned: a rebuilt manifest is as good as any other from then on.
    func mayConfirm(_ coverage: PlanCoverage) async throws -> Bool {
        guard options.deletesExtra, !paths.isLimited, options.plan == nil,
            !session.isManifestRebuilt,
            ledger.failedItems == 0,
            context.tracker.summary.skipped == 0 || options.allowsRebinding,
            session.known.unmounted.isEmpty, filter.isLasting,
            coverage.isListingProven, coverage.isScanProven, !ledger.hasReadFailures
        else { return false }
        return try await RebuiltManifest.isUnconfirmed(direction, filter, context.manifest)
    }

    /// Drops what is planned in a run that does not come to the ignore file, if the bucket's is not
    /// the recorded one: by its rules, what is to be deleted may be excluded.
    private func holdBackForRules() async throws -> String? {
        guard paths.isLimited, !paths.contains(IgnoreFile.key) else { return nil }
        let planned = try await context.manifest.plannedDeletionCount(run: context.run)
        let count = planned.local + planned.remote
        guard count > 0 else { return nil }
        let recorded = try await context.manifest.entry(IgnoreFile.key)?.etag
        var found: ETag?
        do throws(StorageError) {
            let key = context.objectKey(IgnoreFile.key)
            found = try await context.store.head(key, versionID: nil).etag
        } catch {
            guard error.isNotFound else { throw error }
        }
        guard found != recorded else { return nil }
        try await context.manifest.clearPlannedDeletions(run: context.run)
        return Self.heldBack(count)
            + "the bucket's '.osssyncignore' is not the one of the last run; "
            + "run once without PATHs."
    }

    /// Drops what is planned at or beneath names that were skipped; what is said of it, if anything
    /// was.
    private func holdBackBeneathNames() async throws -> String? {
        let before = try await context.manifest.plannedDeletionCount(run: context.run)
        guard before.local + before.remote > 0 else { return nil }
        let names = try await namesInDoubt()
        guard !names.isEmpty else { return nil }
        try await context.manifest.dropPlannedDeletions(run: context.run, atOrBeneath: names)
        let after = try await context.manifest.plannedDeletionCount(run: context.run)
        let held = before.local + before.remote - after.local - after.remote
        return Self.heldBack(held, beneath: names, ledger.onlyCopy)
    }

    /// Names at or beneath which nothing is deleted.
    ///
    /// Those that were skipped, and those of objects whose files are here under other names that
    /// were not sent: they may be the only copies. `planned` are the deletions of a plan that is
    /// only shown; nil for those that the manifest has.
    func namesInDoubt(_ planned: Set<ObjectKey>? = nil) async throws -> [ObjectKey] {
        guard direction != .pull else { return ledger.skippedNames }
        try await doubtCopies(planned)
        let files = ledger.unsentFiles
        guard context.policy.judgesInodes, !files.isEmpty else { return ledger.skippedNames }
        let births = await births(of: files, context.disk)
        try await session.manifest.forEachPage(
            inodes: Set(files.keys),
            in: paths.ranges.ranges,
            scanning: settings.limits.batch
        ) { rows in
            try Task.checkCancellation()
            for row in rows where !row.isOlder(than: births[row.inode]) {
                // A directory that was renamed with its tag is left out under its new name.
                let above = filter.tags.mayBeTag(row.key) ? try? row.path.parent?.key : nil
                ledger.countSkippedName(above ?? row.key, of: files[row.inode])
            }
        }
        return ledger.skippedNames
    }

    /// Counts names of objects whose files were perhaps moved by a copy and a removal, as from one
    /// disk to another: a file that was not sent has their size and time.
    private func doubtCopies(_ planned: Set<ObjectKey>?) async throws {
        guard ledger.mayHaveCopies else { return }
        let manifest = context.manifest
        func doubt(_ key: ObjectKey) async throws {
            if let row = try await manifest.entry(key), let file = ledger.copy(of: row) {
                ledger.countSkippedName(key, of: file)
            }
        }
        if let planned {
            for key in planned { try await doubt(key) }
        } else {
            let limit = settings.limits.batch
            let selection = RowSelection.deletions(run: context.run, side: .remote)
            for try await page in manifest.pages(selection, limit: limit) {
                for deletion in page { try await doubt(deletion.key) }
            }
        }
    }

    /// When files of these inodes were made: one may only have the inode of another that is gone.
    ///
    /// What cannot be looked at, or was kept under another name since, may be the file of the row.
    private func births(
        of files: [UInt64: ObjectKey],
        _ disk: BlockingQueue
    ) async -> [UInt64: Timestamp] {
        let directory = session.directory
        return await disk.run {
            var births: [UInt64: Timestamp] = [:]
            for (inode, name) in files {
                guard let path = try? RelativePath(key: name),
                    case .file(let file)? = try? directory.identity(of: path), file.inode == inode
                else { continue }
                births[inode] = (try? directory.birth(of: path)) ?? nil
            }
            return births
        }
    }

    /// The message about deletions that wait for names; nil if there are none.
    static func heldBack(
        _ held: Int,
        beneath names: [ObjectKey],
        _ onlyCopy: (object: ObjectKey, file: ObjectKey)?
    ) -> String? {
        guard held > 0, let first = names.first else { return nil }
        let others =
            switch names.count {
            case 1: ""
            case 2: " and 1 other name"
            default: " and \(names.count - 1) other names"
            }
        return heldBack(held)
            + "at or beneath '\(first.display)'\(others), skipped, or renamed to a name that was "
            + "skipped or left out"
            + (onlyCopy.map { "; '\($0.object.display)' may be '\($0.file.display)' now." } ?? ".")
    }

    private static func heldBack(_ count: Int) -> String {
        (count == 1 ? "1 deletion was" : "\(count) deletions were") + " held back: "
    }
}

// MARK: - What was judged

extension RunDeletions {
    /// Deletes what was planned, unless the directory goes away before or meanwhile.
    func deletePlanned(
        _ renames: [ObjectKey: LocalRenames.Proven],
        _ watch: DirectoryWatch,
        isRepeated: Bool = false
    ) async throws {
        do {
            try await DeletionPass(
                context: context,
                executor: executor,
                watch: watch,
                renames: renames,
                isRepeated: isRepeated,
                freedElsewhere: FreedElsewhere(
                    context.setup.settings,
                    nested: executor.issues.nestedMirrors,
                    acceptsMounts: session.known.acceptsMounts
                )
            ).run()
        } catch let error as TransferError where error.code == .refused {
            context.tracker.count { $0.deletionsHeldBack = error.message }
            // The refusal is what counts; the next run drops a plan that is left.
            if !isRepeated {
                try? await context.manifest.clearPlannedDeletions(run: context.run)
            }
            throw error
        }
    }

    /// Leaves what is planned to be deleted in the manifest, for the step that proves all shards.
    private func leave(
        _ check: DeletionGuard,
        _ held: String?,
        _ renames: [ObjectKey: LocalRenames.Proven],
        to outcome: ShardOutcome,
        _ coverage: PlanCoverage
    ) async throws {
        var check = check
        try await LocalRenames(executor: executor).download([LocalRenames.Proven](renames.values))
        await RoomMaking(executor: executor).fail()
        check.failedItems = ledger.failedItems
        outcome.note(
            ShardOutcome.Found(
                check: check,
                waiting: ledger.waiting(\.downloads).items.count,
                mayConfirm: try await mayConfirm(coverage),
                recorded: try await session.manifest.entryCount()
            )
        )
        if let held { context.tracker.count { $0.deletionsHeldBack = held } }
        DeferredDownloads(executor: executor).skip()
    }
}
