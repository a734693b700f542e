internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

extension MirrorEngine {
    private static let interruptedLimit = 1_000
    private static let issueLimit = 100

    /// Counts what a pull, a push and a sync would do, and names what was interrupted; changes
    /// nothing and reads no content.
    package func status(options: RunOptions) async throws(SyncError) -> StatusReport {
        let session = try await MirrorSession.open(settings, locks: false, allowsRebinding: false)
        do {
            return try await status(session, options)
        } catch {
            throw SyncError(any: error)
        }
    }

    private func status(
        _ session: MirrorSession,
        _ options: RunOptions
    ) async throws -> StatusReport {
        let run = MirrorRun(
            settings: settings,
            session: session,
            direction: .pull,
            options: options,
            onEvent: { _ in }
        )
        let rows = try await session.manifest.entryCount()
        let issues = IssueTexts(limit: Self.issueLimit)
        let judgesInodes = try session.directory.keepsInodeNumbers()
        let selection = Selection(
            run.filter,
            .sync,
            deletesExcluded: false,
            held: session.held,
            judgesInodes: judgesInodes,
            onCostly: { issues.add("'\($0.display)': the rules of what to exclude take too long") }
        )
        let hidden = ScanIssues { issues.add($0.message) }
        var differences = DifferenceCounter(hidden, judgesInodes: judgesInodes)
        func counter(_ direction: SyncDirection) -> WorkCounter {
            var policy = DecisionPolicy(direction, options, prefix: settings.prefix)
            policy.judgesInodes = judgesInodes
            policy.knowsDirectory = session.known.isSame
            return WorkCounter(policy, hidden)
        }
        var (pull, push, sync) = (counter(.pull), counter(.push), counter(.sync))
        let loop = try await run.join(
            rows: rows,
            selection,
            hidden,
            onEntry: { entry in
                pull.add(entry)
                push.add(entry)
                sync.add(entry)
                differences.add(entry)
                hidden.planReached(entry.key)
            }
        )
        pull.finish()
        push.finish()
        sync.finish()
        if let error = loop.listingFailure { throw error }
        if let message = selection.withheldMessage { issues.add(message) }
        let context = run.parts(RunID(0)).context
        var interrupted: [InterruptedTransfer] = []
        try await Housekeeping(context: context).forEachDownload { checkpoint in
            interrupted.append(InterruptedTransfer(checkpoint))
        }
        try await Housekeeping(context: context).forEachUpload { checkpoint in
            interrupted.append(InterruptedTransfer(checkpoint))
        }
        return StatusReport(
            pull: pull.work,
            push: push.work,
            sync: sync.work,
            differences: differences.counted(selection),
            interrupted: Array(interrupted.prefix(Self.interruptedLimit)),
            recorded: rows,
            issues: run.warnings + issues.texts
                + [hidden.unnamedMessage, sync.reserved.message].compactMap(\.self)
        )
    }

    /// Drops checkpoints: deletes partial files and aborts multipart uploads.
    ///
    /// `path` is a file or directory beneath the mirrored one; nil means all.
    package func cancelTransfers(path: String?) async throws(SyncError) -> CancelReport {
        let session = try await MirrorSession.open(settings, locks: true, allowsRebinding: false)
        let selected = path.map { ObjectKey(Self.relative($0)) }
        let run = MirrorRun(
            settings: settings,
            session: session,
            direction: .pull,
            options: .housekeeping,
            onEvent: { _ in }
        )
        do {
            let housekeeping = Housekeeping(context: run.parts(RunID(0)).context)
            var report = CancelReport()
            try await housekeeping.forEachDownload { checkpoint in
                guard Self.selects(selected, checkpoint.key) else { return }
                try await housekeeping.drop(checkpoint)
                report.downloadsDropped += 1
                let bytes = InterruptedTransfer(checkpoint).bytesFinished
                report.bytesDropped = report.bytesDropped.addingClamped(bytes)
            }
            try await housekeeping.forEachUpload { checkpoint in
                guard Self.selects(selected, checkpoint.key) else { return }
                try await housekeeping.drop(checkpoint)
                report.uploadsAborted += 1
                let bytes = InterruptedTransfer(checkpoint).bytesFinished
                report.bytesDropped = report.bytesDropped.addingClamped(bytes)
            }
            try await session.manifest.checkpointAndClose()
            return report
        } catch {
            throw SyncError(any: error)
        }
    }

    /// A path as the shell completes it: without "./" before and "/" behind.
    private static func relative(_ path: String) -> [UInt8] {
        var bytes = [UInt8](path.utf8)[...]
        while bytes.starts(with: "./".utf8) { bytes = bytes.dropFirst(2) }
        while bytes.last == UInt8(ascii: "/") { bytes = bytes.dropLast() }
        return [UInt8](bytes)
    }

    private static func selects(_ selected: ObjectKey?, _ key: ObjectKey) -> Bool {
        guard let selected, !selected.isEmpty else { return true }
        return key == selected
            || key.hasPrefix(ObjectKey(selected.bytes + [UInt8(ascii: "/")]))
    }
}

extension RunOptions {
    /// For work that plans nothing.
    fileprivate static let housekeeping = RunOptions(
        isDryRun: true,
        deletesKnown: false,
        deletesExtra: false,
        deletionLimit: .count(0),
        allowsEmpty: false,
        allowsRebinding: false,
        replacesLocalChanges: false,
        conflictPolicy: .skip,
        comparesContent: false,
        connectionLimit: 1,
        partSize: 1 << 20,
        durability: .full,
        trashDays: 0
    )
}

extension InterruptedTransfer {
    init(_ checkpoint: DownloadCheckpoint) {
        self.init(
            action: .download,
            key: checkpoint.key.display,
            size: checkpoint.size,
            bytesFinished: checkpoint.ranges.reduce(0) { $0.addingClamped($1.received) }
        )
    }

    init(_ checkpoint: UploadCheckpoint) {
        self.init(
            action: .upload,
            key: checkpoint.key.display,
            size: checkpoint.source.size,
            bytesFinished: checkpoint.parts.reduce(0) { $0.addingClamped($1.size) }
        )
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

/// Counts what differs, whatever a run would do about it.
private struct DifferenceCounter {
    private let issues: ScanIssues
    private let judgesInodes: Bool
    private var found = Differences()

    init(_ issues: ScanIssues, judgesInodes: Bool) {
        self.issues = issues
        self.judgesInodes = judgesInodes
    }

    func counted(_ selection: Selection) -> Differences {
        var found = found
        found.onlyLocal += issues.notMirroredCount
        found.excluded = selection.excludedCount
        return found
    }

    mutating func add(_ entry: JoinedEntry) {
        guard !entry.key.isEmpty else { return }
        var hasEntries = false
        if case .directory(isEmpty: false)? = entry.local?.kind { hasEntries = true }
        switch (entry.base, entry.local, entry.remote) {
        case (_, nil, nil): break
        case (nil, .some, nil): if !hasEntries { found.onlyLocal += 1 }
        case (nil, nil, .some):
            if !issues.hides(entry.key), !Self.isReserved(entry.key) { found.onlyRemote += 1 }
        case (nil, .some, .some): if !entry.key.isDirectoryMarker { found.unknown += 1 }
        case (.some, .some, nil): if !hasEntries { found.deletedThere += 1 }
        case (.some, nil, .some): if !issues.hides(entry.key) { found.deletedHere += 1 }
        case (let base?, let local?, let remote?): addChanges(base, local, remote)
        }
    }

    /// True for a name of osssync's own files, which are never mirrored.
    private static func isReserved(_ key: ObjectKey) -> Bool {
        do throws(UnsafeKey) {
            _ = try RelativePath(key: key)
            return false
        } catch {
            return error == .reserved
        }
    }

    private mutating func addChanges(
        _ base: ManifestEntry,
        _ local: LocalEntry,
        _ remote: RemoteObject
    ) {
        if remote.kind != .symlink, RemoteChange(of: remote, since: base) == .changed {
            found.remoteChanges += 1
        }
        switch LocalChange(of: local, since: base, judgesInodes: judgesInodes) {
        case .changed: found.localChanges += 1
        case .touched: found.unknown += 1
        case .absent, .same: break
        }
    }
}

/// Counts the decisions of one direction.
private struct WorkCounter {
    private var decider: PrefixConflicts
    private let issues: ScanIssues
    private(set) var work = PlannedWork()
    private(set) var reserved = ReservedObjects()

    init(_ policy: DecisionPolicy, _ issues: ScanIssues) {
        self.issues = issues
        decider = PrefixConflicts(policy: policy)
    }

    mutating func add(_ entry: JoinedEntry) {
        decider.add(entry)
        count()
    }

    mutating func finish() {
        decider.finish()
        count()
    }

    private mutating func count() {
        while let item = decider.next() {
            reserved.note(item)
            count(item)
        }
    }

    private mutating func count(_ item: PlannedItem) {
        let isHidden = issues.hides(item.entry.key)
        if isHidden, item.decision.dependsOnWalk {
            work.skipped += 1
            return
        }
        switch item.decision {
        // What the walk could not take is not what the user deleted.
        case .deleteLocal, .deleteRemote: if !isHidden { work.deletions += 1 }
        case .nothing(.unchanged), .forget, .refresh(.unchanged), .adopt: work.unchanged += 1
        case .nothing, .refresh: break
        case .download, .downloadAfterDeletions, .makeDirectory:
            if case .makeDirectory = item.decision, item.entry.local != nil { return }
            transfer(item.entry.remote?.size ?? 0)
        case .upload, .uploadMarker: transfer(item.entry.local?.identity?.size ?? 0)
        case .compare: work.comparisons += 1
        case .conflict: work.conflicts += 1
        case .keepLocalChange: work.localChanges += 1
        case .skip, .resolveLink: work.skipped += 1
        }
    }

    private mutating func transfer(_ bytes: Int64) {
        work.transfers += 1
        work.bytes = work.bytes.addingReportingOverflow(bytes).partialValue
    }
}
