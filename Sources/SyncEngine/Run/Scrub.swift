internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Reads the recorded files in key order, a page of rows in memory.
struct Scrub {
    static let rowsAtOnce = 256

    let executor: ItemExecutor
    let options: VerifyOptions
    let paths: RunPaths
    let freed: FreedPaths
    let onFinding: @Sendable (VerifyFinding) -> Void
    let onProgress: (@Sendable (RunProgress) -> Void)?
    var report = VerifyReport()
    /// Rows that are to be written: those that were found damaged, or whole again.
    private var changes: [ManifestChange] = []
    /// True once the store said something of an object.
    private var hasAnswered = false
    /// Why it says nothing, if that concerns every object, and of how many.
    private var unanswered: ItemFailure?
    private var unansweredCount = 0
    private var count = 0
    private var maximum = Int.max
    private let began: Duration
    /// All files and their bytes; nil where only some are read, or without a caller that asks.
    private var total: (files: Int, bytes: Int64)?
    private var nextProgress = Duration.zero
    private static let progressInterval = Duration.milliseconds(200)

    init(
        executor: ItemExecutor,
        options: VerifyOptions,
        paths: RunPaths,
        freed: FreedPaths,
        onFinding: @escaping @Sendable (VerifyFinding) -> Void,
        onProgress: (@Sendable (RunProgress) -> Void)?
    ) {
        self.executor = executor
        self.options = options
        self.paths = paths
        self.freed = freed
        self.onFinding = onFinding
        self.onProgress = onProgress
        began = executor.context.environment.monotonic()
    }

    var context: RunContext { executor.context }

    mutating func run() async throws {
        let manifest = context.manifest
        var position: ObjectKey?
        if case .percent(let percent)? = options.budget {
            maximum = max(1, try await manifest.entryCount() * percent / 100)
        }
        if options.budget != nil, !paths.isLimited {
            position = try await VerifyRecord.position(manifest)
        }
        if onProgress != nil, options.budget == nil, !paths.isLimited {
            let totals = try await manifest.totals()
            total = (Int(totals.files), totals.bytes)
        }
        let keepsPosition = !paths.isLimited
        for range in paths.ranges.ranges {
            try await scrub(range, after: position, keepsPosition: keepsPosition)
        }
        try await context.session.damaged.markOtherNames()
        // Of no object anything is known, and nothing else was found.
        if let unanswered, !hasAnswered, report.damaged == 0, report.failed == unansweredCount {
            throw TransferError(any: unanswered)
        }
        if keepsPosition, report.isFinished {
            try await VerifyRecord.setCompleted(context.environment.now(), in: manifest)
        }
    }

    private mutating func scrub(
        _ range: KeyRange,
        after start: ObjectKey?,
        keepsPosition: Bool
    ) async throws {
        let manifest = context.manifest
        var last = start
        let notes = keepsPosition && options.budget != nil
        let entries = RowSelection.entries(in: range, after: start)
        for try await rows in manifest.pages(entries, limit: Self.rowsAtOnce) {
            last = try await verify(rows) ?? last
            // What follows objects of which nothing is known is looked at again, as they are.
            if notes, unanswered == nil || hasAnswered {
                try await VerifyRecord.setPosition(last, in: manifest)
            }
            try Task.checkCancellation()
            guard report.isFinished else { return }
        }
        if keepsPosition { try await VerifyRecord.setPosition(nil, in: manifest) }
    }

    /// Verifies rows until the budget is used up; the key of the last one.
    @discardableResult
    private mutating func verify(_ rows: [ManifestEntry]) async throws -> ObjectKey? {
        var last: ObjectKey?
        for row in rows {
            if Task.isCancelled { break }
            if isBudgetUsedUp {
                report.isFinished = false
                break
            }
            count += 1
            if !RelativePath.isDirectory(row.key) {
                try await verifyFile(row)
                if options.checksRemote { try await verifyObject(row) }
            }
            last = row.key
            reportProgress()
        }
        // Before the position: a kill must not leave a damaged file behind it unnoted.
        if !changes.isEmpty { try await context.manifest.record(changes) }
        changes = []
        return last
    }

    /// At least one row is verified in any case.
    private var isBudgetUsedUp: Bool {
        switch options.budget {
        case nil: false
        case .percent: count >= maximum
        case .time(let limit):
            count > 0 && context.environment.monotonic() - began >= limit
        }
    }

    private mutating func reportProgress() {
        guard let onProgress else { return }
        let now = context.environment.monotonic()
        guard now >= nextProgress else { return }
        nextProgress = now + Self.progressInterval
        onProgress(
            RunProgress(
                isPlanComplete: total != nil,
                itemsPlanned: total?.files ?? count,
                itemsFinished: min(count, total?.files ?? count),
                bytesPlanned: total?.bytes ?? report.bytes,
                bytesFinished: report.bytes,
                bytesResumed: 0,
                active: []
            )
        )
    }

    func found(_ row: ManifestEntry, _ kind: VerifyFinding.Kind, _ message: String) {
        onFinding(
            VerifyFinding(
                key: row.key.text,
                displayKey: row.key.display,
                size: row.size,
                kind: kind,
                message: message
            )
        )
    }
}

// MARK: - One key

extension Scrub {
    private mutating func verifyFile(_ row: ManifestEntry) async throws {
        do {
            guard let (path, file) = try await fileThatIsShown(row) else {
                if !row.isFreed, !freed.contains(row.key) { report.missing += 1 }
                return
            }
            let entry = LocalEntry(path: row.key, kind: .file(file), isLink: row.isLink)
            let judgesInodes = context.policy.judgesInodes
            let change = LocalChange(of: entry, since: row, judgesInodes: judgesInodes)
            guard let recorded = row.crc64 else {
                report.unverifiable += 1
                return
            }
            guard change != .changed else {
                guard row.isDamaged else {
                    report.changed += 1
                    return
                }
                // As runs do: they keep the object until the user decides.
                report.damaged += 1
                return found(row, .damaged, SkipReason.damagedAndChanged.message)
            }
            if change == .shortened { return try await damaged(row, file, Self.isShortened) }
            let start = context.environment.now()
            let checksum: CRC64
            do {
                checksum = try await executor.checksum(of: path, expected: file)
            } catch  where ItemFailure.isOfDamagedSource(error) {
                let reason = ItemFailure(any: error).message
                return try await damaged(row, file, "its content cannot be read: " + reason)
            }
            report.bytes = report.bytes.addingClamped(file.size)
            if checksum == recorded {
                note(row, file, isSame: change == .same, readSince: start)
                report.verified += 1
            } else if change == .touched, !row.isDamaged {
                // Somebody wrote it.
                report.changed += 1
            } else {
                let what =
                    change == .same
                    ? "its content changed, although its size and time did not"
                    : "it was found damaged, and its content is still not the recorded one"
                try await damaged(row, file, what)
            }
        } catch ItemFailure.sourceKeepsChanging {
            report.changed += 1
        } catch LocalError.targetChanged {
            // A followed link is a file now.
            report.changed += 1
        } catch {
            let failure = ItemFailure(any: error)
            guard failure != .cancelled else { throw CancellationError() }
            report.failed += 1
            found(row, .failed, failure.message)
        }
    }

    private static let isShortened =
        "it is shorter than recorded, although its times did not change"

    private mutating func damaged(
        _ row: ManifestEntry,
        _ file: FileIdentity,
        _ what: String
    ) async throws {
        if !row.isDamaged { try await context.session.damaged.mark(row) }
        report.damaged += 1
        let next =
            options.repairs
            ? row.mayHaveTime(of: file) ? "" : "; it is kept as a conflict copy"
            : SkipReason.repairAdvice
        found(row, .damaged, what + "; a push does not upload it without --force" + next)
    }

    /// The file of a row; what the disk fails to show is noted, for it may be gone soon.
    private func fileThatIsShown(
        _ row: ManifestEntry
    ) async throws -> (RelativePath, FileIdentity)? {
        do {
            return try await file(of: row)
        } catch  where ItemFailure.isOfDamagedSource(error) {
            // Of a whole directory that is not shown, it is one.
            let directory = try row.path.parent
            var isShown = true
            if let directory { isShown = (try? await context.state(of: directory)) == .directory }
            let place = isShown ? nil : directory.map { ObjectKey($0.bytes) }
            try await context.session.damaged.noteUnread([place ?? row.key])
            throw error
        }
    }

    /// The file has the recorded content: its row has no mark, and the ctime until which that is
    /// known.
    ///
    /// The ctime only of a file that is as recorded: what moved is for the next run to look at.
    private mutating func note(
        _ row: ManifestEntry,
        _ file: FileIdentity,
        isSame: Bool,
        readSince start: Timestamp
    ) {
        let lacksChange = isSame && row.changed == nil && context.policy.judgesInodes
        guard row.isDamaged || lacksChange else { return }
        guard lacksChange else { return changes.append(.upsert(row.replacing())) }
        changes.append(
            .upsert(
                row.replacing(
                    localModified: executor.recordedTime(file, since: start),
                    changed: file.recordedChange
                )
            )
        )
    }

    /// The file of a row; nil if there is none.
    func file(of row: ManifestEntry) async throws -> (RelativePath, FileIdentity)? {
        let path = try row.path
        let state = try await context.state(of: path)
        guard case .file(let identity) = state else { return nil }
        return (path, identity)
    }

    private mutating func verifyObject(_ row: ManifestEntry) async throws(TransferError) {
        do throws(ItemFailure) {
            let object = try await executor.head(row.key, knownSize: row.size)
            hasAnswered = true
            // A link's headers are its target's or its own, as the store likes.
            guard !row.isThroughLink else { return }
            guard object.etag == row.etag, object.size == row.size else {
                report.remoteChanged += 1
                return found(row, .remoteChanged, "the object was replaced since the last run")
            }
            if let checksum = object.crc64, let recorded = row.crc64, checksum != recorded {
                report.remoteDamaged += 1
                found(row, .remoteDamaged, "the object's checksum is not the recorded one")
            } else if object.sealed != nil, try await !isEncryptedFrom(row, object) {
                report.remoteDamaged += 1
                found(row, .remoteDamaged, "the object is not what the file was encrypted to")
            }
        } catch {
            if error.isVanished {
                hasAnswered = true
                report.remoteMissing += 1
                found(row, .remoteMissing, "the object is missing in the bucket")
            } else {
                report.failed += 1
                found(row, .failed, error.message)
                if let cause = error.sharedCause {
                    unanswered = unanswered ?? error
                    unansweredCount += 1
                    if context.store.failures.failed(cause) {
                        throw TransferError(error, repeated: cause)
                    }
                }
            }
        }
    }

    /// False if the object is not what a file becomes that is as recorded; of other files, nothing
    /// is known.
    private func isEncryptedFrom(
        _ row: ManifestEntry,
        _ object: ObjectMetadata
    ) async throws(ItemFailure) -> Bool {
        do {
            guard let recorded = row.crc64, let (path, identity) = try await file(of: row),
                identity.size == row.size
            else { return true }
            let directory = context.directory
            let file = try await context.disk.run {
                try ItemExecutor.openForReading(path, in: directory)
            }
            let verdict = try await context.transfer.compareSealed(file, with: object, of: row.key)
            guard verdict == .contentMismatch(isSure: true) else { return true }
            return try await executor.checksum(of: path, expected: identity) != recorded
        } catch let error as LocalError where !error.isMediaFailure {
            // What is wrong with the file was told when it was read.
            return true
        } catch {
            let failure = ItemFailure(any: error)
            if failure == .sourceKeepsChanging { return true }
            throw failure
        }
    }
}
