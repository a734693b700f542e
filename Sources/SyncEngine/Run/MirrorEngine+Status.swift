internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
package import ObjectTransfer
package import SyncModel
internal import SyncPlanner
internal import Synchronization

extension MirrorEngine {
    private static let interruptedLimit = 1_000
    private static let issueLimit = 100

    /// Counts what a pull, a push and a sync would do, and names what was interrupted; changes
    /// nothing and reads no content.
    ///
    /// A direction that has options of its own is counted by them, but for their filter.
    package func status(
        options: RunOptions,
        of directions: [SyncDirection: RunOptions] = [:]
    ) async throws(SyncError) -> StatusReport {
        let session = try await MirrorSession.open(settings, locks: false, allowsRebinding: false)
        do {
            return try await status(session, options, directions)
        } catch {
            throw SyncError(any: error)
        }
    }

    private func status(
        _ session: MirrorSession,
        _ options: RunOptions,
        _ directions: [SyncDirection: RunOptions]
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
        let scope = PlanScope(
            run.filter,
            .sync,
            deletesExcluded: false,
            held: session.held,
            now: settings.environment.now(),
            judgesInodes: judgesInodes,
            onCostly: { issues.add("'\($0.display)': the exclude patterns take too long to match") }
        )
        let hidden = ScanIssues { issues.add($0.message) }
        var differences = DifferenceCounter(hidden, judgesInodes: judgesInodes)
        let all = try await policies(options, directions, session, judgesInodes)
        var works = WorkCounters(all, hidden)
        // A key that one direction compares by content is passed over in none.
        var common = all.sync
        common.comparesContent =
            all.pull.comparesContent || all.push.comparesContent
            || all.sync.comparesContent
        let loop = try await run.join(
            rows: rows,
            scope,
            hidden,
            common,
            passes: { works.pass(to: $0) },
            onUnchanged: { works.addUnchanged($0) },
            onEntry: { entry in
                works.add(entry)
                differences.add(entry)
                hidden.planReached(entry.key)
            }
        )
        works.finish()
        if let error = loop.listingFailure { throw error }
        if let message = scope.withheldMessage { issues.add(message) }
        if hidden.hasLostNames {
            issues.add("files disappeared while the directory was read; run it again to see them")
        }
        let housekeeping = Housekeeping(context: run.parts(RunID(0)).context)
        var interrupted: [InterruptedTransfer] = []
        try await housekeeping.forEachDownload { interrupted.append(InterruptedTransfer($0)) }
        try await housekeeping.forEachUpload { interrupted.append(InterruptedTransfer($0)) }
        return StatusReport(
            pull: works.pull.work,
            push: works.push.work,
            sync: works.sync.work,
            differences: differences.counted(scope),
            interrupted: Array(interrupted.prefix(Self.interruptedLimit)),
            recorded: rows,
            lastSuccess: try await LastSuccess.read(session.manifest),
            issues: issues.texts + [hidden.unnamedMessage].compactMap(\.self),
            warnings: run.warnings + [works.sync.reserved.message].compactMap(\.self)
        )
    }

    private func policies(
        _ options: RunOptions,
        _ directions: [SyncDirection: RunOptions],
        _ session: MirrorSession,
        _ judgesInodes: Bool
    ) async throws -> Policies {
        let damaged = try await DamageRecord.read(session.manifest)
        func policy(_ direction: SyncDirection) -> DecisionPolicy {
            let options = directions[direction] ?? options
            var policy = DecisionPolicy(direction, options, prefix: settings.prefix)
            policy.judgesInodes = judgesInodes
            policy.knowsDirectory = session.known.isSame
            policy.damaged = damaged
            return policy
        }
        return (policy(.pull), policy(.push), policy(.sync))
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

/// Counts what differs, regardless of what a run would do about it.
private struct DifferenceCounter {
    private let issues: ScanIssues
    private let judgesInodes: Bool
    private var found = Differences()

    init(_ issues: ScanIssues, judgesInodes: Bool) {
        self.issues = issues
        self.judgesInodes = judgesInodes
    }

    func counted(_ scope: PlanScope) -> Differences {
        var found = found
        found.onlyLocal += issues.notMirroredCount
        found.excluded = scope.excludedCount + issues.taggedCount
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

private typealias Policies = (pull: DecisionPolicy, push: DecisionPolicy, sync: DecisionPolicy)

/// Counts the plans of all directions.
private struct WorkCounters {
    private(set) var pull: WorkCounter
    private(set) var push: WorkCounter
    private(set) var sync: WorkCounter

    init(_ policies: Policies, _ issues: ScanIssues) {
        pull = WorkCounter(policies.pull, issues)
        push = WorkCounter(policies.push, issues)
        sync = WorkCounter(policies.sync, issues)
    }

    mutating func add(_ entry: JoinedEntry) {
        pull.add(entry)
        push.add(entry)
        sync.add(entry)
    }

    /// See ``RunPlan/pass(to:)``; true if all may.
    mutating func pass(to key: ObjectKey) -> Bool {
        let areFree = [pull.pass(to: key), push.pass(to: key), sync.pass(to: key)]
        return areFree.allSatisfy(\.self)
    }

    mutating func addUnchanged(_ count: Int) {
        pull.addUnchanged(count)
        push.addUnchanged(count)
        sync.addUnchanged(count)
    }

    mutating func finish() {
        pull.finish()
        push.finish()
        sync.finish()
    }
}

/// Counts the plan of one direction.
private struct WorkCounter {
    private var plan: RunPlan
    private(set) var work = PlannedWork()

    init(_ policy: DecisionPolicy, _ issues: ScanIssues) {
        plan = RunPlan(policy, issues)
    }

    var reserved: ReservedObjects { plan.reserved }

    mutating func add(_ entry: JoinedEntry) {
        plan.add(entry)
        while let item = plan.next() { count(item) }
    }

    mutating func pass(to key: ObjectKey) -> Bool {
        let isFree = plan.pass(to: key)
        while let item = plan.next() { count(item) }
        return isFree
    }

    mutating func addUnchanged(_ count: Int) { work.unchanged += count }

    mutating func finish() {
        plan.finish()
        while let item = plan.next() { count(item) }
    }

    private mutating func count(_ item: PlannedItem) {
        let received = item.entry.remote?.size ?? 0
        let sent = item.entry.local?.identity?.size ?? 0
        switch item.decision {
        case .deleteLocal, .deleteRemote: work.deletions += 1
        case .nothing(.unchanged), .refresh(.unchanged), .adopt: work.unchanged += 1
        case .nothing, .refresh, .forget: break
        case .makeDirectory where item.entry.local != nil: break
        case .download, .downloadAfterDeletions, .makeDirectory: transfer(received)
        case .upload, .uploadMarker: transfer(sent)
        case .compare: work.comparisons += 1
        case .conflict(_, let resolution):
            work.conflicts += 1
            switch resolution {
            case .downloadKeepingLocal where item.entry.key == IgnoreFile.key: break
            case .download, .downloadKeepingLocal: transfer(received)
            case .upload: transfer(sent)
            case .deleteLocal, .deleteRemote: work.deletions += 1
            case .leaveBoth, .stopRun: break
            }
        case .keepLocalChange: work.localChanges += 1
        case .skip: work.skipped += 1
        }
    }

    private mutating func transfer(_ bytes: Int64) {
        work.transfers += 1
        work.bytes = work.bytes.addingClamped(bytes)
    }
}
