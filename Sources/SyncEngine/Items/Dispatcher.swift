internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Finishes at once what needs neither network nor reading, and queues the rest for the workers.
///
/// Rows and planned deletions are written in batches: a run that finds ten million unchanged keys
/// writes nothing, one that deletes a million waits for a few thousand transactions.
struct Dispatcher {
    let executor: ItemExecutor
    /// Nil where only directories are made.
    let queue: WorkQueue<ItemExecutor.Work>?
    private var changes: [ManifestChange] = []
    private var deletions: [PlannedDeletion] = []
    private var hasMadeDirectories = false
    /// Markers of directories that are not here and would stay so, each beneath the one before,
    /// until it is known whether the run fetches something into them.
    private var held: [PlannedItem] = []
    /// True once a small file that was recorded had its name no more.
    private var hasLostSmallFile = false
    /// Rows of small files in whose place are other ones now, by inode: the uploads of those
    /// replace the rows.
    ///
    /// What there is no room for keeps no properties.
    private var replacedRows: [UInt64: ManifestEntry] = [:]

    init(executor: ItemExecutor, queue: WorkQueue<ItemExecutor.Work>?) {
        self.executor = executor
        self.queue = queue
    }

    private var context: RunContext { executor.context }

    mutating func dispatch(_ item: PlannedItem) async throws {
        while let last = held.last, !item.entry.key.hasPrefix(last.entry.key) {
            held.removeLast()
            try await settle(last)
        }
        if item.isMarkerWithoutDirectory { return held.append(item) }
        if item.needsDirectories {
            let markers = held
            held = []
            for marker in markers { try await makeDirectory(marker.entry) }
        }
        try await settle(item)
    }

    private mutating func settle(_ item: PlannedItem) async throws {
        let entry = item.entry
        let decision = item.decision
        executor.countGrowth(decision, entry)
        if let row = entry.base, executor.smallRenames.mayHaveBeenRenamed(entry) {
            hasLostSmallFile = true
            let hasRoom = replacedRows.count < context.limits.waiting
            if entry.local != nil, hasRoom { replacedRows[row.inode] = row }
        }
        switch decision {
        case .upload(.new) where executor.smallRenames.mayBeRenamed(entry):
            try await keepSmallUpload(entry)
        case .nothing(let reason):
            if executor.forgets(reason, entry) { try await append(.forget(entry.key)) }
            executor.leave(reason, entry)
        case .forget:
            let isKept =
                entry.local?.isDirectory == true
                && entry.base.map(context.closed.keepForDeletions) ?? false
            if !isKept { try await append(.forget(entry.key)) }
        case .deleteLocal, .deleteRemote:
            guard let deletion = decision.plannedDeletion(of: entry) else { return }
            deletions.append(deletion)
            try await flushBatch()
        case .makeDirectory:
            try await makeDirectory(entry)
        case .adopt where entry.local?.isDirectory == true:
            try await recordDirectory(entry, .adopt)
        case .refresh(let reason) where entry.local?.isDirectory == true:
            executor.leave(reason, entry)
            if let base = entry.base { try await append(.upsert(base.leftOut(false))) }
        case .downloadAfterDeletions:
            leaveForLater(item)
        case .skip(.shadowedByDirectory) where executor.markers.mayBeMarker(entry) && queue != nil:
            // It is asked for, which the plan does not wait for.
            try await queue?.push(ItemExecutor.Work(entry: entry, decision: decision), .small)
        case .skip(.needsRestore(_, isOngoing: false)) where context.options.restoreDays != nil:
            let work = ItemExecutor.Work(entry: entry, decision: decision)
            try await queue?.push(work, .small)
        case .carryMode(.neither) where entry.local?.isOthersDirectory == true:
            executor.refuseDirectory(entry)
        case .keepLocalChange, .skip:
            await executor.carryOut(decision, entry)
        case .download, .upload, .uploadMarker, .compare, .adopt, .refresh, .carryMode, .conflict:
            if decision.sendsDirectory(of: entry), executor.permissions.closesMore(entry) {
                executor.parts.privateMarkers.expect(entry)
            }
            if case .carryMode(.file) = decision, entry.local?.isDirectory == true {
                executor.parts.newMarkers.expect(entry)
            }
            let work = ItemExecutor.Work(entry: entry, decision: decision)
            executor.countAsPlanned(work)
            try await queue?.push(work, work.size > context.limits.largeItem ? .large : .small)
        }
    }

    /// Keeps an item until the deletions were carried out.
    ///
    /// What there is no room for in memory is left to the next run, and is no doubt for the
    /// deletions of this one, which would never come else.
    private func leaveForLater(_ item: PlannedItem) {
        let obstacle: SkipReason =
            if case .awaiting(let file) = item.place {
                .blockedByFile(file)
            } else {
                .shadowedByDirectory
            }
        let waiting = RunLedger.Deferred(entry: item.entry, obstacle: obstacle)
        guard !executor.ledger.add(waiting, to: \.downloads) else { return }
        executor.skipWithoutDoubt(
            item.entry.key,
            size: item.entry.remote?.size ?? 0,
            message: "too many files become directories, or directories files, in this run; run "
                + "again"
        )
    }

    /// Keeps the upload of a small file until it is known which rows it may have had.
    private func keepSmallUpload(_ entry: JoinedEntry) async throws {
        executor.countAsPlanned(ItemExecutor.Work(entry: entry, decision: .upload(.new)))
        guard !executor.ledger.add(entry, to: \.smallUploads) else { return }
        // Other rows are of names that come later.
        try await sendSmallUploads(looksForRows: true)
        _ = executor.ledger.add(entry, to: \.smallUploads)
    }

    private func sendSmallUploads(looksForRows: Bool) async throws {
        var waiting = executor.ledger.take(\.smallUploads)[...]
        defer { executor.ledger.countUntried(waiting.count) }
        guard !waiting.isEmpty else { return }
        let rows =
            looksForRows
            ? try await executor.smallRenames.earlierRows(of: [JoinedEntry](waiting)) : [:]
        var turns = OldNameTurns()
        while let entry = waiting.first {
            var work = ItemExecutor.Work(entry: entry, decision: .upload(.new))
            if let file = entry.local?.identity {
                let replaced = replacedRows[file.inode].flatMap { $0.isOf(file) ? $0 : nil }
                let earlier = (rows[file.inode] ?? []) + [replaced].compactMap(\.self)
                let next = turns.next(file, of: earlier.count)
                work.earlier = [ManifestEntry](earlier[next...] + earlier[..<next])
            }
            try await queue?.push(work, .small)
            waiting.removeFirst()
        }
    }

    private mutating func append(_ change: ManifestChange) async throws {
        changes.append(change)
        try await flushBatch()
    }

    private mutating func flushBatch() async throws {
        if changes.count + deletions.count >= context.limits.batch { try await flush() }
    }

    /// To be called after the last item.
    mutating func finish() async throws {
        while let last = held.popLast() { try await settle(last) }
        // A saved plan does not have what is only missing.
        let looksForRows = hasLostSmallFile || context.options.appliedPlan != nil
        try await sendSmallUploads(looksForRows: looksForRows)
        try await flush()
    }

    /// Writes what was batched.
    mutating func flush() async throws {
        if hasMadeDirectories {
            // A row whose directory a power cut took would look like a deletion by the user.
            try await context.synchronize()
        }
        hasMadeDirectories = false
        if !changes.isEmpty { try await context.manifest.record(changes) }
        changes = []
        try await context.manifest.record(deletions.map { .planDeletion($0, context.run) })
        deletions = []
    }

    /// Makes the directory that a marker stands for: one that was here with the permissions that it
    /// had, any other for its owner alone, so that no other user reads there until the marker was
    /// asked.
    mutating func makeDirectory(_ entry: JoinedEntry) async throws {
        do {
            let path = try RelativePath(key: entry.key)
            let (directory, recorded) = (context.directory, entry.base?.mode)
            let (asks, ordinary) = (
                context.options.keepsFileMetadata, context.policy.ordinaryDirectory
            )
            await DirectoriesAbove(executor.parts).make(above: path)
            try await context.closed.writing([path]) { () throws(LocalError) in
                if asks, let recorded, recorded != ordinary {
                    try directory.makeDirectory(path, permissions: recorded | 0o700)
                } else if asks {
                    try directory.makeUnaskedDirectory(path)
                } else {
                    try directory.makeDirectory(path)
                }
            }
            hasMadeDirectories = true
        } catch let error as LocalError {
            executor.fail(.download, entry.key, size: 0, ItemFailure(error))
            return
        } catch let error as UnsafeKey {
            executor.skip(entry.key, size: 0, message: error.message)
            return
        }
        try await recordDirectory(entry.withoutDirectory, .download)
    }

    /// The directory and its marker are both there.
    private mutating func recordDirectory(
        _ entry: JoinedEntry,
        _ action: ItemAction
    ) async throws {
        guard let row = executor.permissions.row(entry, mode: nil, at: entry.remote?.lastModified)
        else {
            return
        }
        if context.options.keepsFileMetadata {
            // The marker is asked for permissions, which the plan does not wait for.
            guard let queue else {
                await executor.permissions.settleDirectory(entry, action)
                return
            }
            if entry.local != nil { executor.parts.newMarkers.expect(entry) }
            let work = ItemExecutor.Work(entry: entry, decision: .adopt)
            return try await queue.push(work, .small)
        }
        executor.permissions.reportDirectory(entry)
        try await append(.upsert(row))
    }
}

extension JoinedEntry {
    /// The entry of a directory that this run made, of whose row nothing is left.
    fileprivate var withoutDirectory: JoinedEntry {
        JoinedEntry(key: key, base: nil, local: nil, remote: remote)
    }
}

extension Decision {
    /// True for what gives the marker of a directory its permissions.
    fileprivate func sendsDirectory(of entry: JoinedEntry) -> Bool {
        switch self {
        case .uploadMarker: true
        case .carryMode(.object): entry.local?.isDirectory == true
        default: false
        }
    }
}

extension PlannedItem {
    /// True for the marker of a directory that is not here, and that the plan does not make.
    var isMarkerWithoutDirectory: Bool {
        guard entry.key.isDirectoryMarker, entry.local == nil, entry.remote != nil else {
            return false
        }
        switch decision {
        case .nothing, .deleteRemote: return true
        default: return false
        }
    }

    /// True for what the run makes here, in directories that it may have to make for it.
    var needsDirectories: Bool {
        guard entry.local == nil, entry.remote != nil else { return false }
        switch decision {
        case .download, .makeDirectory: return true
        default: return false
        }
    }
}
