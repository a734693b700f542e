internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner

/// Feeds the merge from the three streams and yields its entries one by one.
struct PlanLoop {
    let manifest: ManifestStore
    let lister: RemoteLister
    let scan: LocalScan
    /// Rows of the manifest.
    private let rowsAtOnce: Int
    private(set) var join = MergeJoin()
    private var listing = RemoteLister.Position()
    private var lastRow: ObjectKey?
    /// Objects that the listing had.
    private(set) var listedObjects = 0
    /// Files and directories that the walk had.
    private(set) var walkedEntries = 0
    /// True once the walk was read to its end.
    private(set) var isWalkFinished = false
    /// Why the listing ended before its end, nil if it did not.
    private(set) var listingFailure: (any Error)?

    init(
        manifest: ManifestStore,
        lister: RemoteLister,
        scan: LocalScan,
        rowsAtOnce: Int
    ) {
        self.rowsAtOnce = rowsAtOnce
        self.manifest = manifest
        self.lister = lister
        self.scan = scan
    }

    /// The next key, with what the three sides say of it; nil at the end.
    ///
    /// - Throws: What makes the whole plan impossible: a broken order, the manifest, the walk's
    ///   root, a cancellation. A listing that ends early does not throw: what it said is used,
    ///   and ``listingFailure`` says that it is not the whole.
    mutating func next() async throws -> JoinedEntry? {
        while true {
            switch try join.next() {
            case .joined(let entry): return entry
            case .finished: return nil
            case .needs(.remote): try await feedRemote()
            case .needs(.base): try await feedBase()
            case .needs(.local): try await feedLocal()
            }
        }
    }

    private mutating func feedRemote() async throws {
        do {
            guard let objects = try await lister.next(&listing) else {
                join.finish(.remote)
                return
            }
            listedObjects += objects.count
            try join.feed(remote: objects)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            if (error as? StorageError)?.isCancelled == true { throw CancellationError() }
            listingFailure = error
            join.abandon(.remote)
        }
    }

    private mutating func feedBase() async throws {
        let rows = try await manifest.entries(
            after: lastRow,
            through: nil,
            limit: rowsAtOnce
        )
        guard let last = rows.last else {
            join.finish(.base)
            return
        }
        lastRow = last.key
        try join.feed(base: rows)
    }

    private mutating func feedLocal() async throws {
        guard let entries = try await scan.next() else {
            join.finish(.local)
            isWalkFinished = true
            return
        }
        walkedEntries += entries.count
        try join.feed(local: entries)
    }
}

/// The walk of the directory, run ahead of its use on a thread of its own.
final class LocalScan: Sendable {
    /// Takes the mounts found so far, and those of them that are new.
    typealias MountNote =
        @Sendable ([[UInt8]], _ new: ArraySlice<[UInt8]>) async throws -> Void

    private static let batchesAhead = 8

    private let directory: MirrorDirectory
    private let batch: Int
    private let expected: [[UInt8]]
    private let isExcluded: DirectoryWalk.Exclusion
    private let noteMounts: MountNote
    private let queue: BlockingQueue
    private let batches = BoundedChannel<[LocalEntry]>(capacity: batchesAhead)
    private let issues: ScanIssues

    init(
        directory: MirrorDirectory,
        threads: BlockingThreads,
        batch: Int,
        expecting mountPoints: [[UInt8]],
        leavingOut isExcluded: @escaping DirectoryWalk.Exclusion,
        reportingTo issues: ScanIssues,
        noteMounts: @escaping MountNote = { _, _ in }
    ) {
        self.directory = directory
        self.batch = batch
        expected = mountPoints
        self.isExcluded = isExcluded
        self.noteMounts = noteMounts
        queue = BlockingQueue(label: "osssync.walk", width: 1, threads: threads)
        self.issues = issues
    }

    /// Walks to the end; runs beside ``next()``.
    func run() async throws {
        do {
            let (directory, batch) = (directory, batch)
            let walk = directory.walk(leavingOut: isExcluded)
            var noted = 0
            while true {
                let batch = try await queue.run { () throws(LocalError) in
                    try walk.next(limit: batch)
                }
                // Before anything beneath them is transferred: a run that ends early has rows of
                // what the next one may find unmounted.
                let mounts = walk.mountPoints
                if mounts.count > noted { try await noteMounts(mounts, mounts[noted...]) }
                noted = mounts.count
                for issue in batch.issues { issues.report(issue) }
                if !batch.entries.isEmpty { try await batches.send(batch.entries) }
                if batch.isFinished { break }
            }
            let found = walk.mountPoints
            issues.mountPoints = found
            reportUnmounted(found)
            batches.finish()
        } catch {
            batches.finish(throwing: error)
            throw error
        }
    }

    /// What was there when the session was opened, and was not when the walk came by: the walk
    /// waits for the listing, and a disk may go meanwhile.
    private func reportUnmounted(_ found: [[UInt8]]) {
        let found = Set(found)
        for path in expected where !found.contains(path) {
            issues.report(WalkIssue(path: path, reason: .notMounted))
        }
    }

    func next() async throws -> [LocalEntry]? {
        try await batches.next()
    }
}
