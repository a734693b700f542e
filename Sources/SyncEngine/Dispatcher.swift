internal import LocalStorage
internal import ManifestStore
internal import SyncModel
internal import SyncPlanner

/// Settles at once what needs neither network nor reading, and queues the rest for the workers.
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

    init(executor: ItemExecutor, queue: WorkQueue<ItemExecutor.Work>?) {
        self.executor = executor
        self.queue = queue
    }

    private var context: TransferContext { executor.context }

    mutating func dispatch(_ item: PlannedItem) async throws {
        let entry = item.entry
        if item.decision.dependsOnWalk, executor.issues.hides(entry.key) {
            executor.skipHidden(entry)
            return
        }
        let decision = executor.doubting(item.decision, entry)
        switch decision {
        case .nothing(let reason):
            executor.leave(reason, entry)
        case .forget, .deleteRemote:
            // What the walk could not take is not what the user deleted.
            guard !executor.issues.hides(entry.key) else { return }
            try await drop(item)
        case .deleteLocal:
            try await drop(item)
        case .makeDirectory:
            try await makeDirectory(entry)
        case .adopt where entry.key.isDirectoryMarker:
            try await recordDirectory(entry)
        case .downloadAfterDeletions:
            DeferredDownloads(executor: executor).add(item)
        case .skip(.shadowedByDirectory) where executor.mayBeMarker(entry) && queue != nil:
            // It is asked for, which the plan does not wait for.
            try await queue?.push(ItemExecutor.Work(entry: entry, decision: decision), .small)
        case .keepLocalChange, .skip, .resolveLink:
            await executor.carryOut(decision, entry)
        case .download, .upload, .uploadMarker, .compare, .adopt, .refresh, .conflict:
            let work = ItemExecutor.Work(entry: entry, decision: decision)
            executor.announce(work)
            try await queue?.push(work, work.size > context.limits.largeItem ? .large : .small)
        }
    }

    private mutating func drop(_ item: PlannedItem) async throws {
        if case .forget = item.decision {
            changes.append(.forget(item.entry.key))
        } else if let deletion = Self.deletion(item.decision, item.entry) {
            deletions.append(deletion)
        }
        if changes.count + deletions.count >= context.limits.batch { try await flush() }
    }

    /// Writes what was batched.
    mutating func flush() async throws {
        if hasMadeDirectories {
            // A row whose directory a power cut took would look like a deletion by the user.
            let directory = context.directory
            try await context.disk.run { () throws(LocalError) in try directory.synchronize() }
        }
        hasMadeDirectories = false
        if !changes.isEmpty { try await context.manifest.record(changes) }
        changes = []
        if !deletions.isEmpty {
            try await context.manifest.planDeletions(deletions, run: context.run)
        }
        deletions = []
    }

    static func deletion(_ decision: Decision, _ entry: JoinedEntry) -> PlannedDeletion? {
        if case .deleteRemote = decision {
            guard let object = entry.remote else { return nil }
            return PlannedDeletion(
                key: entry.key,
                side: .remote,
                size: object.size,
                etag: object.etag,
                identity: nil
            )
        }
        let file = entry.local?.identity
        return PlannedDeletion(
            key: entry.key,
            side: .local,
            size: file?.size ?? 0,
            etag: nil,
            identity: file
        )
    }

    /// Makes the directory that a marker stands for.
    mutating func makeDirectory(_ entry: JoinedEntry) async throws {
        do {
            let path = try RelativePath(key: entry.key)
            let directory = context.directory
            try await context.disk.run { () throws(LocalError) in
                try directory.makeDirectory(path)
            }
            hasMadeDirectories = true
        } catch let error as LocalError {
            executor.fail(.download, entry.key, size: 0, ItemFailure(error))
            return
        } catch let error as UnsafeKey {
            executor.skip(entry.key, size: 0, message: error.message)
            return
        }
        try await recordDirectory(entry)
    }

    /// The directory and its marker are both there.
    private mutating func recordDirectory(_ entry: JoinedEntry) async throws {
        guard let object = entry.remote else { return }
        changes.append(
            .upsert(
                ManifestEntry(
                    marker: entry.key,
                    etag: object.etag,
                    lastModified: object.lastModified,
                    storageClass: object.storageClass
                )
            )
        )
        if entry.local == nil {
            context.tracker.count { $0.transferred += 1 }
            context.item(.download, .done, entry.key, size: 0)
        } else {
            context.tracker.count { $0.adopted += 1 }
        }
        if changes.count >= context.limits.batch { try await flush() }
    }
}

extension Decision {
    /// True if carrying it out surely moves content, which the progress counts.
    var movesBytes: Bool {
        switch self {
        case .download, .upload, .uploadMarker: true
        case .conflict(_, let resolution):
            switch resolution {
            case .downloadKeepingLocal, .download, .upload: true
            case .deleteLocal, .deleteRemote, .leaveBoth, .stopRun: false
            }
        default: false
        }
    }

    /// True if what is moved, if anything, is the file's content.
    var sendsFile: Bool {
        switch self {
        case .upload, .uploadMarker, .conflict(_, .upload): true
        case .compare(_, let same, let different): same.sendsFile || different.sendsFile
        default: false
        }
    }

    /// True if it puts something in the key's place in the directory, or follows from nothing being
    /// there: both are wrong where the walk could not look.
    var dependsOnWalk: Bool {
        if case .conflict(.localGoneRemoteChanged, _) = self { return true }
        return createsLocal
    }
}
