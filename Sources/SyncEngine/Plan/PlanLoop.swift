internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner

/// Joins the listing, the manifest and the directory walk into one stream of keys, in key order.
///
/// 1. `RemoteLister` and `LocalScan` read ahead, a few pages each; the manifest is read in pages.
/// 2. `MergeJoin` asks for the side that it needs next and yields one `JoinedEntry` per key, but
///    for unchanged ones that nothing else depends on, which are only counted.
/// 3. `PlanSource.join` narrows each entry to what the run may touch (`PlanScope`) and has
///    `PrefixConflicts` make one `Decision` of it.
///
/// Not guaranteed: a complete listing. One that fails ends the stream early and is reported in
/// `listingFailure`; nothing may be deleted then. A side out of order throws and ends the plan.
struct PlanLoop {
    let manifest: ManifestStore
    let lister: RemoteLister
    let scan: LocalScan
    /// Rows of the manifest.
    private let rowsAtOnce: Int
    /// The ranges of which no row was read.
    private var rowRanges: ArraySlice<KeyRange>
    private let names: NamePolicy
    private let keepsEmptyDirectories: Bool
    private(set) var join = MergeJoin()
    private var listing = RemoteLister.Position()
    private var rows: RowPages<ManifestEntry>?
    /// Objects that the listing had.
    private(set) var listedObjects = 0
    /// Files and empty directories that the walk had; another directory counts by what it holds.
    private(set) var walkedEntries = 0
    /// The same by paths; nil for a run of the whole mirror.
    private(set) var tallies: (listed: RangeTally, walked: RangeTally)?
    /// What of both is not selected.
    private(set) var unselected: Unselected
    /// True once the walk was read to its end.
    private(set) var isWalkFinished = false
    /// Why the listing ended before its end, nil if it did not.
    private(set) var listingFailure: (any Error)?

    /// What the listing and the walk have and the run does not take, by its paths.
    struct Unselected: Sendable {
        /// Objects whose keys no run takes.
        var unsafe: RangeTally
        /// Objects that the filters leave out.
        var objects: RangeTally
        /// Files and empty directories that they leave out of what was walked.
        var entries: RangeTally
        /// What one side lost while it was left out, which is selected again.
        var unseen: RangeTally
        /// Recorded links and escaped names, which the options of the run leave as they are.
        var held: RangeTally
        /// Rows of what the run leaves out.
        var rows = 0
        /// What is selected and no content: of the rows, the listing and the walk.
        var bare: (rows: RangeTally, objects: RangeTally, entries: RangeTally)

        init(_ paths: RunPaths) {
            let tally = RangeTally(paths.isLimited ? paths.ranges : .all)
            (unsafe, objects, entries, unseen, held) = (tally, tally, tally, tally, tally)
            bare = (tally, tally, tally)
        }
    }

    init(
        manifest: ManifestStore,
        lister: RemoteLister,
        scan: LocalScan,
        paths: RunPaths,
        options: RunOptions,
        rowsAtOnce: Int
    ) {
        names = options.names
        keepsEmptyDirectories = options.keepsEmptyDirectories
        self.rowsAtOnce = rowsAtOnce
        rowRanges = paths.ranges.ranges[...]
        unselected = Unselected(paths)
        if paths.isLimited { tallies = (RangeTally(paths.ranges), RangeTally(paths.ranges)) }
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

    /// The next key, if it is here and all three sides have it.
    var commonKey: ObjectKey? { join.commonKey }

    /// Passes over unchanged keys: see ``MergeJoin/skipUnchanged(_:where:)``.
    mutating func skipUnchanged(
        _ policy: DecisionPolicy,
        where isTaken: (ObjectKey) -> Bool
    ) throws(PlanError) -> (count: Int, bytes: Int64, last: ObjectKey)? {
        try join.skipUnchanged(policy, where: isTaken)
    }

    private mutating func feedRemote() async throws {
        do {
            guard let objects = try await lister.next(&listing) else {
                join.finish(.remote)
                return
            }
            listedObjects += objects.count
            if tallies != nil {
                for object in objects { tallies?.listed.add(object.key) }
            }
            try join.feed(remote: objects)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            if (error as? StorageError)?.isCancelled == true { throw CancellationError() }
            listingFailure = error
            join.abandon(.remote)
        }
    }

    /// Counts what of an entry is not selected; what no run takes is as good as nothing.
    mutating func note(_ entry: JoinedEntry, isSelected: Bool, isHeld: Bool) {
        if entry.remote != nil {
            if !takes(entry.key) {
                unselected.unsafe.add(entry.key)
            } else if !isSelected {
                unselected.objects.add(entry.key)
            }
        }
        if let local = entry.local, local.countsAsContent,
            !isSelected || local.isDirectory && !keepsEmptyDirectories
        {
            unselected.entries.add(entry.key)
        }
        if !isSelected, entry.base != nil { unselected.rows += 1 }
        let isUnseen = isSelected && entry.hasVanishedUnseen
        if isUnseen { unselected.unseen.add(entry.key) }
        // What was found damaged stays, whether its object is in this bucket or in an earlier one.
        let isKept = isHeld || entry.remote == nil && entry.base?.isDamaged == true
        if isKept { unselected.held.add(entry.key) }
        guard isSelected, RelativePath.isDirectory(entry.key) || entry.key == IgnoreFile.key else {
            return
        }
        if entry.base != nil, !isUnseen { unselected.bare.rows.add(entry.key) }
        if entry.remote != nil, takes(entry.key) { unselected.bare.objects.add(entry.key) }
        if let local = entry.local, local.countsAsContent,
            !local.isDirectory || keepsEmptyDirectories
        {
            unselected.bare.entries.add(entry.key)
        }
    }

    /// False for a key that no run takes.
    private func takes(_ key: ObjectKey) -> Bool {
        RelativePath.isSafe(key) || (names == .escape && RelativePath.isEscaped(key))
    }

    private mutating func feedBase() async throws {
        while true {
            if let page = try await rows?.next() { return try join.feed(base: page) }
            guard let range = rowRanges.popFirst() else { return join.finish(.base) }
            rows = manifest.pages(.entries(in: range), limit: rowsAtOnce)
        }
    }

    private mutating func feedLocal() async throws {
        guard let entries = try await scan.next() else {
            join.finish(.local)
            isWalkFinished = true
            return
        }
        for entry in entries {
            guard entry.countsAsContent else {
                // It shows that something is there, and not that the rest was deleted.
                scan.leftOut.add([UInt8](entry.path.bytes.dropLast()), isDirectory: true)
                continue
            }
            walkedEntries += 1
            tallies?.walked.add(entry.path)
        }
        try join.feed(local: entries)
    }
}

extension LocalEntry {
    /// False for a directory that holds something.
    fileprivate var countsAsContent: Bool { kind != .directory(isEmpty: false) }
}
