internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

extension MirrorRun {
    /// Listings side by side.
    private static let listingWidth = 6

    /// What the plan's streams were, for the guards of deletion.
    struct PlanCoverage: Sendable {
        var listedObjects = 0
        var walkedEntries = 0
        var isListingProven = false
        var isScanProven = false
        var listingFailure: (any Error)?

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
        _ issues: ScanIssues,
        _ reserved: ReservedObjects
    ) -> PlanCoverage {
        PlanCoverage(
            // A listing that has nothing else is as good as empty.
            listedObjects: loop.listedObjects - reserved.count,
            walkedEntries: loop.walkedEntries,
            isListingProven: loop.listingFailure == nil && loop.lister.isInOrder
                && loop.join.coversEverything,
            isScanProven: issues.isScanProven && loop.isWalkFinished,
            listingFailure: loop.listingFailure
        )
    }

    /// Listings side by side, cut where the manifest says that the keys are.
    func makeLister(rows: Int) async throws -> RemoteLister {
        let count = max(1, rows / settings.limits.rowsPerListing)
        let (prefix, manifest) = (settings.prefix, session.manifest)
        let hasShortMarkers = try await ShortenedMarkers.areKnown(to: manifest) == true
        return RemoteLister(
            store: store,
            prefix: prefix,
            splits: hasShortMarkers ? [] : try await manifest.splitKeys(count: count),
            width: Self.listingWidth,
            markers: hasShortMarkers
                ? MarkerReader(store: store, manifest: manifest, prefix: prefix) : nil
        )
    }
}
