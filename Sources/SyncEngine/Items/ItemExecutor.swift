internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Carries out the decision on one key, in a worker: everything that moves bytes or reads files.
///
/// 1. `Dispatcher` finishes what needs neither and puts the rest into `WorkQueue`.
/// 2. A worker takes an item; `carryOut` looks at the decision and downloads, uploads, copies or
///    compares. The transfer itself is `Downloader`'s or `Uploader`'s.
/// 3. The result is recorded in the manifest, for a download by `PublicationQueue`, and reported.
///
/// Not guaranteed: an order among items; large and small ones have lanes of their own. A failed
/// item is reported and the run continues, unless `RunLedger` says that every other item would
/// fail.
struct ItemExecutor: ItemWorker {
    let parts: ItemParts

    var contents: ContentComparison { ContentComparison(parts) }
    var damage: DamagedFiles { DamagedFiles(parts) }
    var downloads: FileDownloads { FileDownloads(parts) }
    var markers: DirectoryMarkers { DirectoryMarkers(parts) }
    var permissions: Permissions { Permissions(parts) }
    var places: FilePlaces { FilePlaces(parts) }
    var smallRenames: SmallRenames { SmallRenames(parts) }
    var sources: CopySources { CopySources(parts) }
    var uploads: FileUploads { FileUploads(parts) }

    /// Where an upload or a comparison needs more than the decision: what was planned.
    struct Work: Sendable {
        let entry: JoinedEntry
        let decision: Decision
        /// Rows that a new small file may have had before it was renamed.
        var earlier: [ManifestEntry] = []

        /// Bytes that may move, for the lanes and the progress.
        var size: Int64 {
            let remote = entry.remote?.size
            let local = entry.local?.identity?.size
            return (decision.sendsFile ? local ?? remote : remote ?? local) ?? 0
        }
    }

    /// Counts work that is certain to move content as planned.
    func countAsPlanned(_ work: Work) {
        guard work.decision.movesBytes else { return }
        context.tracker.planned(bytes: work.size)
    }

    func run(_ work: Work) async {
        if case .upload = work.decision, !work.earlier.isEmpty {
            return await uploads.upload(work.entry, earlier: work.earlier)
        }
        await carryOut(work.decision, work.entry)
    }

    /// Every case that a worker can get; the plan's own loop handles the others.
    ///
    /// `fetched` is the object, where it is there already.
    func carryOut(
        _ decision: Decision,
        _ entry: JoinedEntry,
        _ fetched: FileDownloads.Fetched? = nil
    ) async {
        if case .skip = decision { noteUnsent(entry) }
        switch decision {
        case .download(let reason):
            if fetched == nil, let settled = await settled(decision, entry) {
                context.tracker.abandonedItem(bytes: entry.remote?.size ?? 0)
                countAsPlanned(Work(entry: entry, decision: settled))
                return await carryOut(settled, entry)
            }
            let isForced = reason == .replacesLocalChange
            await downloads.download(
                entry,
                isForced ? discarding(entry) : replacing(entry, reason),
                fetched
            )
        case .upload:
            await uploads.upload(entry)
        case .uploadMarker:
            await markers.send(planned: entry)
        case .compare(let comparison, let same, let different):
            await compare(entry, comparison, same: same, different: different)
        case .conflict(let kind, let resolution):
            await resolve(entry, kind, resolution, fetched)
        case .adopt where RelativePath.isDirectory(entry.key):
            await markers.ask(planned: entry)
        case .adopt:
            await adopt(entry, checksum: entry.base?.crc64, etag: nil, nil, readSince: nil)
        case .refresh(let reason):
            await refresh(entry, reason, readSince: nil)
        case .carryMode(.object) where entry.local?.isDirectory == true:
            await markers.send(planned: entry)
        case .carryMode(.file) where entry.local?.isDirectory == true:
            await markers.ask(planned: entry)
        case .carryMode(let target):
            await permissions.carryMode(entry, to: target, readSince: nil)
        case .deleteLocal, .deleteRemote:
            await planDeletion(decision, entry)
        case .keepLocalChange:
            keepLocalChange(entry)
        case .skip(let reason) where reason.isDamage:
            await damage.reportDamage(entry, reason)
            await askForRepair(entry)
        case .skip(.replaced):
            if let cover = issues.cover(of: entry.key) { issues.count(entry, under: cover) }
            ItemReports(context: context, ledger: ledger).skipReplaced(entry)
        case .skip(.shadowedByDirectory) where await markers.adoptMarker(entry):
            break
        case .skip(.needsRestore(let storageClass, isOngoing: false)):
            await askToRestore(entry, storageClass)
        case .skip(let reason) where reason.holdsNothingBack:
            skipWithoutDoubt(entry.key, size: entry.remote?.size ?? 0, message: reason.message)
        case .skip(let reason) where reason.isOfName:
            skipName(entry, reason)
        case .skip(let reason):
            if reason.isOfStore { ledger.countSkipped() }
            skip(entry.key, size: entry.remote?.size ?? 0, message: reason.message)
        case .nothing(let reason):
            leave(reason, entry)
        case .forget, .makeDirectory, .downloadAfterDeletions:
            break
        }
    }

    /// Asks for a copy of an archived object that can be read, where the run's options say so.
    ///
    /// Making it takes the store minutes to days; a later run sees in its listing that it is there.
    private func askToRestore(_ entry: JoinedEntry, _ storageClass: StorageClass) async {
        guard let object = entry.remote else { return }
        // A file that was renamed in the bucket may have its content there only.
        ledger.countSkipped()
        let archived = SkipReason.needsRestore(storageClass, isOngoing: false)
        guard let days = context.options.restoreDays else {
            let message =
                context.options.asOf == nil
                ? archived.message
                : "the version is archived (\(displayText(storageClass.name.utf8))) and must be "
                    + "restored with the store's own tools before it can be read"
            return skip(entry.key, size: object.size, message: message)
        }
        if !context.options.isDryRun {
            do throws(StorageError) {
                try await requestCopy(of: entry.key, days)
            } catch {
                return fail(.download, entry.key, size: object.size, ItemFailure(error))
            }
        }
        let request = context.options.isDryRun ? "would be requested" : "was requested"
        skip(
            entry.key,
            size: object.size,
            message: "the object is archived (\(displayText(storageClass.name.utf8))); a copy for "
                + "\(days == 1 ? "1 day" : "\(days) days") \(request), and a later run downloads "
                + "it"
        )
    }

    /// The same of a damaged file's object, for the repair; the file was reported.
    private func askForRepair(_ entry: JoinedEntry) async {
        guard let days = context.options.restoreDays, !context.options.isDryRun,
            let object = entry.remote, object.needsRestore, object.restoreState != .ongoing
        else { return }
        do throws(StorageError) {
            try await requestCopy(of: entry.key, days)
        } catch {
            context.emit(
                .warning(
                    message: "'\(entry.key.display)' was not requested from the archive: "
                        + error.message
                )
            )
        }
    }

    private func requestCopy(of key: ObjectKey, _ days: Int) async throws(StorageError) {
        try await context.store.restore(context.objectKey(key), days: days, tier: nil)
    }

    /// What becomes of a local version that is as recorded.
    ///
    /// In the moment of the run it may change and keep its size and its times: then its content
    /// says whether it may go.
    private func replacing(_ entry: JoinedEntry, _ reason: DownloadReason) -> BackupPolicy {
        let keeps = context.options.backupDirectory != nil || context.options.keepsReplaced
        let isOlder = reason == .changed && isOlderObject(entry)
        let isKept = keeps || isOlder && context.options.keepsRemoved
        if isOlder { tellOlder(isKept: isKept) }
        if isKept { return .moveToTrash(run: context.trashName) }
        guard reason == .changed, let file = entry.local?.identity,
            let checksum = entry.base?.crc64,
            RecordedTime.mayHide(
                aChangeOf: file,
                since: context.clocks.start,
                now: context.environment.now()
            )
        else { return .replace }
        return .replaceHolding(checksum)
    }

    /// True for an object that was written before the recorded one: another store has the address,
    /// or this one was put back.
    private func isOlderObject(_ entry: JoinedEntry) -> Bool {
        guard let known = entry.base?.lastModified, let found = entry.remote?.lastModified else {
            return false
        }
        // Answers and listings may round differently.
        return found.seconds < known.seconds - 1
    }

    private func tellOlder(isKept: Bool) {
        guard ledger.tellsOnce(.olderObjects) else { return }
        let message =
            "objects are older than those of their names were in the last run: the bucket, or "
            + "another one in its place, was put back to an earlier time"
            + (isKept ? "; the files that they replace are kept in the trash" : "")
        context.emit(.warning(message: message))
    }

    /// What becomes of a local version that the user gave up.
    private func discarding(_ entry: JoinedEntry) -> BackupPolicy {
        ledger.keepOwnTrash()
        guard context.options.keepsRemoved else { return .replace }
        // Nothing but its content can have shown that what looks as recorded is not.
        let isDamaged =
            entry.base.map { base in
                let judges = context.policy.judgesInodes
                let change = LocalChange(of: entry.local, since: base, judgesInodes: judges)
                return base.isDamaged || change == .same
            } ?? false
        return .moveToTrash(run: isDamaged ? context.damagedTrashName : context.trashName)
    }
}

// MARK: - Records

extension ItemExecutor {
    /// Both sides hold the same content: the row is written from what they are now.
    ///
    /// `start` is a moment before the file was read; nil if it was not.
    func adopt(
        _ entry: JoinedEntry,
        checksum: CRC64?,
        etag: ETag?,
        _ metadata: ObjectMetadata?,
        readSince start: Timestamp?
    ) async {
        guard let object = entry.remote, let file = entry.local?.identity else { return }
        if object.size == 0 {
            // Nothing was read of it.
            do throws(ItemFailure) {
                try await requireReadable(entry)
            } catch {
                return fail(.adopt, entry.key, size: 0, error)
            }
        }
        let checksum = object.size == 0 ? CRC64() : checksum
        let mode = await permissions.adoptedMode(entry, metadata)
        var row = ManifestEntry(
            key: entry.key,
            size: object.size,
            etag: etag ?? object.etag,
            crc64: checksum,
            lastModified: object.lastModified,
            storageClass: object.storageClass,
            localModified: recordedTime(file, since: start),
            inode: file.inode,
            isThroughLink: object.isThroughLink,
            isLink: entry.local?.isLink == true,
            changed: file.recordedChange,
            mode: mode
        )
        // Another tag of the same content does not make it this machine's, and of what nobody
        // recorded it is not known whose it is.
        row.isFetched = entry.base.map { $0.isFetched && $0.inode == file.inode } ?? true
        // Checkpoints stay: one leads the end of the run to the partial file that a kill right
        // after the download left, or to an upload that did not make this object.
        await record([.upsert(row)] + uploads.unrecordedParts(metadata, row.key), .adopt, entry)
        context.tracker.count { $0.adopted += 1 }
        context.item(.adopt, .done, entry.key, size: object.size)
        await permissions.carryAdopted(entry, row)
    }

    /// The file has the recorded content: the row gets its times and inode.
    func refresh(_ entry: JoinedEntry, _ reason: QuietReason, readSince start: Timestamp?) async {
        guard let base = entry.base, let file = entry.local?.identity else { return }
        let row = refreshed(base, entry, file, readSince: start)
        // The next run looks at it again, and has nothing else to hold it against.
        if row.crc64 == nil, row.localModified != file.modified { ledger.keepFetchedContents() }
        await record([.upsert(row)], .adopt, entry)
        leave(reason, entry)
    }

    func planDeletion(_ decision: Decision, _ entry: JoinedEntry) async {
        guard let deletion = decision.plannedDeletion(of: entry) else { return }
        do {
            try await context.manifest.record(.planDeletion(deletion, context.run))
        } catch {
            fail(.deleteLocal, entry.key, size: 0, ItemFailure(error))
        }
    }
}

// MARK: - Conflicts

extension ItemExecutor {
    private func resolve(
        _ entry: JoinedEntry,
        _ kind: ConflictKind,
        _ resolution: ConflictResolution,
        _ fetched: FileDownloads.Fetched?
    ) async {
        if let settled = await settled(.conflict(kind, resolution), entry) {
            if case .download = settled { return await carryOut(settled, entry, fetched) }
            // A kill may leave it, too: it is swept by the next run.
            if let fetched { try? await downloads.drop(fetched, entry.key) }
            countAsPlanned(Work(entry: entry, decision: settled))
            return await carryOut(settled, entry)
        }
        if resolution != .upload { noteUnsent(entry) }
        context.tracker.count { $0.conflicts += 1 }
        // Where nothing can be put in its place, nothing is kept beside it, either.
        var shown = resolution
        if resolution == .downloadKeepingLocal, entry.key != IgnoreFile.key,
            await downloads.refusal(of: entry) != nil
        {
            shown = .leaveBoth
        }
        let message = PlanOutline.reason(kind, shown, entry.key, context.policy)
        let size = entry.sizeOfEither
        context.keptItem(.conflict, .skipped, entry.key, size: size, message: message)
        switch resolution {
        case .downloadKeepingLocal where PlanOutline.keepsRules(resolution, entry.key):
            ledger.countSkipped()
            if let fetched { try? await downloads.drop(fetched, entry.key) }
        case .downloadKeepingLocal:
            await downloads.download(entry, .keepBeside(suffix: conflictSuffix), fetched)
        case .download:
            await downloads.download(entry, discarding(entry), fetched)
        case .upload:
            await uploads.upload(entry)
        case .deleteLocal:
            ledger.keepOwnTrash()
            await planDeletion(.deleteLocal(.known), entry)
        case .deleteRemote:
            await planDeletion(.deleteRemote(.known), entry)
        case .leaveBoth:
            // Nothing may be deleted on its account, which says nothing of any other key; but
            // rules decide on others.
            if entry.key == IgnoreFile.key {
                ledger.countSkipped()
            } else {
                ledger.countSkippedName(entry.key)
            }
        case .stopRun:
            ledger.stop(
                TransferError(code: .conflict, message: "'\(entry.key.display)': \(message)")
            )
        }
    }

    /// `.conflict-20260102T030405Z-host`, which goes before the name's extension.
    private var conflictSuffix: String {
        let time = CivilTime(context.environment.now()).basicText
        return ".conflict-\(time)-\(context.environment.safeHostName)"
    }
}
