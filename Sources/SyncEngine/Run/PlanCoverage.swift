internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Rows of the manifest when the run began.
struct RecordedRows: Sendable {
    var count: Int
    /// Of a limited run: for each path those in it as a directory, without its own.
    var beneath: [Int] = []
}

extension RecordedRows {
    /// What the manifest has of these paths.
    init(_ paths: RunPaths, in manifest: ManifestStore) async throws(ManifestError) {
        guard paths.isLimited else {
            self.init(count: try await manifest.entryCount())
            return
        }
        self.init(count: 0)
        for path in paths.paths {
            let beneath = try await manifest.entryCount(in: KeyRange(prefix: path.beneath))
            count += beneath
            if try await manifest.entry(path.key) != nil { count += 1 }
            let hasOwn = try await manifest.entry(path.beneath) != nil
            self.beneath.append(hasOwn ? beneath - 1 : beneath)
        }
    }
}

/// What the plan's streams were, for the guards of deletion.
struct PlanCoverage: Sendable {
    /// False if not even a page of the listing could be read.
    var hasListing = false
    /// What the run selects of both.
    var listedObjects = 0
    var walkedEntries = 0
    /// What the filters left out of the walk, unread.
    var leftOut = RangeTally(.all)
    var unselected: PlanLoop.Unselected
    /// True if the bucket has a trash of this mirror.
    var hasRemoteTrash = false
    var isListingProven = false
    var isScanProven = false
    var listingFailure: (any Error)?
    /// Freed files that are here again, and how many are nowhere.
    var returned: Set<ObjectKey> = []
    var lostFreed = 0
    /// Of a limited run: what was found of each path.
    var tallies: (listed: RangeTally, walked: RangeTally)?

    /// Why there may be objects that the plan did not have; nil if there are none.
    var listingDoubt: String? {
        if let error = listingFailure {
            let reason = TransferError(any: error).message
            return "the listing of the remote could not be read completely: \(reason)"
        }
        if isListingProven { return nil }
        return "a page of the listing contradicted those before it, so objects may have "
            + "been missed; run again"
    }
}

extension PlanCoverage {
    init(_ loop: PlanLoop, _ issues: ScanIssues, _ freed: FreedScope.Seen = .init()) {
        let unselected = loop.unselected
        self.init(
            hasListing: loop.listedObjects > 0,
            // A listing that has nothing else is as good as empty.
            listedObjects: loop.listedObjects - unselected.unsafe.total - unselected.objects.total,
            walkedEntries: loop.walkedEntries - unselected.entries.total,
            leftOut: loop.scan.leftOut.tally,
            unselected: unselected,
            hasRemoteTrash: loop.lister.hasTrash,
            isListingProven: loop.listingFailure == nil && loop.lister.isInOrder
                && loop.join.coversEverything,
            isScanProven: issues.isScanProven && loop.isWalkFinished,
            listingFailure: loop.listingFailure,
            returned: freed.returned,
            lostFreed: freed.lost.count,
            tallies: loop.tallies
        )
    }

    /// What the guards of deletion are to know of each path; nil for a run of the whole mirror.
    func branches(of paths: RunPaths, rows: RecordedRows) -> [DeletionGuard.Branch]? {
        guard let tallies else { return nil }
        return zip(paths.paths, rows.beneath).map { path, rows in
            DeletionGuard.Branch(
                path: path.key,
                // What went away while it was left out, or is held, shows that nothing is missing.
                rows: rows - unselected.unseen.count(of: path) - unselected.held.count(of: path),
                listedObjects: tallies.listed.count(of: path) - unselected.unsafe.count(of: path)
                    - unselected.objects.count(of: path),
                walkedEntries: tallies.walked.count(of: path) - unselected.entries.count(of: path),
                leftOutObjects: unselected.objects.count(of: path),
                leftOutNames: leftOut.count(of: path)
                    + unselected.entries.count(of: path),
                bare: bare { $0.count(of: path) }
            )
        }
    }

    /// What of what the run selects is no content.
    func bare(_ count: (RangeTally) -> Int) -> DeletionGuard.Bare {
        let bare = unselected.bare
        return DeletionGuard.Bare(
            rows: count(bare.rows),
            objects: count(bare.objects),
            entries: count(bare.entries)
        )
    }
}
