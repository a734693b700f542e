internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

extension MirrorRun {
    /// Listings side by side, if the run may have as many requests.
    private static let listingWidth = 32
    /// Objects of a page.
    private static let pageSize = 1_000

    /// Rows of the manifest when the run began.
    struct RecordedRows: Sendable {
        var count: Int
        /// Of a limited run: for each path those in it as a directory, without its own.
        var beneath: [Int] = []
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
        /// Of a limited run: what was found of each path.
        var tallies: (listed: RangeTally, walked: RangeTally)?

        /// Why there may be objects that the plan did not have; nil if there are none.
        var listingDoubt: String? {
            if let error = listingFailure {
                let reason = SyncError(any: error).message
                return "the listing of the remote could not be read completely: \(reason)"
            }
            if isListingProven { return nil }
            return "a page of the listing contradicted those before it, so objects may have "
                + "been missed; run again"
        }
    }

    func coverage(
        _ loop: PlanLoop,
        _ issues: ScanIssues
    ) -> PlanCoverage {
        let unselected = loop.unselected
        return PlanCoverage(
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
            tallies: loop.tallies
        )
    }

    /// How many rows the manifest has of what the run is limited to.
    func recordedRows() async throws(ManifestError) -> RecordedRows {
        let manifest = session.manifest
        guard paths.isLimited else { return RecordedRows(count: try await manifest.entryCount()) }
        var rows = RecordedRows(count: 0)
        for path in paths.paths {
            let beneath = try await manifest.entryCount(in: KeyRange(prefix: path.beneath))
            rows.count += beneath
            if try await manifest.entry(path.key) != nil { rows.count += 1 }
            let hasOwn = try await manifest.entry(path.beneath) != nil
            rows.beneath.append(hasOwn ? beneath - 1 : beneath)
        }
        return rows
    }

    /// What the guards of deletion are to know of each path; nil for a run of the whole mirror.
    func branches(_ coverage: PlanCoverage, rows: RecordedRows) -> [DeletionGuard.Branch]? {
        guard let tallies = coverage.tallies else { return nil }
        let unselected = coverage.unselected
        return zip(paths.paths, rows.beneath).map { path, rows in
            DeletionGuard.Branch(
                path: path.key,
                // What went away while it was left out, or is held, shows that nothing is missing.
                rows: rows - unselected.unseen.count(of: path) - unselected.held.count(of: path),
                listedObjects: tallies.listed.count(of: path) - unselected.unsafe.count(of: path)
                    - unselected.objects.count(of: path),
                walkedEntries: tallies.walked.count(of: path) - unselected.entries.count(of: path),
                leftOutObjects: unselected.objects.count(of: path),
                leftOutNames: coverage.leftOut.count(of: path)
                    + unselected.entries.count(of: path)
            )
        }
    }

    /// Listings side by side, cut where the manifest says that the keys are, and where they turn
    /// out to be.
    func makeLister(rows: RecordedRows) async throws -> RemoteLister {
        // The cuts are those of the whole mirror, of which a limited run uses some.
        let recorded = paths.isLimited ? try await session.manifest.entryCount() : rows.count
        let count = max(1, recorded / settings.limits.rowsPerListing)
        let (prefix, manifest) = (settings.prefix, session.manifest)
        let hasShortMarkers = try await ShortenedMarkers.areKnown(to: manifest) == true
        let excluding = options.deletesExcluded ? FileFilter() : filter
        return RemoteLister(
            store: store,
            prefix: prefix,
            ranges: paths.ranges,
            splits: hasShortMarkers ? [] : try await manifest.splitKeys(count: count),
            pagesPerSplit: 1 + settings.limits.rowsPerListing / Self.pageSize,
            width: min(options.connectionLimit, Self.listingWidth),
            markers: hasShortMarkers
                ? MarkerReader(store: store, manifest: manifest, prefix: prefix) : nil,
            leavingOut: { excluding.excludedDirectory(of: $0) }
        )
    }
}

extension MirrorRun {
    /// What unfinished transfers of the paths have moved, for uploads with parts of `partSize`.
    func keptTransfers(partSize: Int64) async throws -> KeptTransfers {
        try await KeptTransfers(
            in: session.manifest,
            paths.ranges,
            settings.store.dialect,
            partSize: partSize
        )
    }
}
