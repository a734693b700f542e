internal import SyncPlanner

extension MirrorRun {
    /// What the plan's streams were, for the guards of deletion.
    struct Findings: Sendable {
        var listedObjects = 0
        var walkedEntries = 0
        var isListingProven = false
        var isScanProven = false
        var listingFailure: (any Error)?

        /// Why there may be objects that the plan did not have; nil if there are none.
        var listingDoubt: String? {
            if let error = listingFailure {
                let reason = SyncError(any: error).message
                return "the listing of the remote could not be read to its end: \(reason)"
            }
            if isListingProven { return nil }
            return "a page of the listing contradicted those before it, so that objects may have "
                + "been passed over; run again"
        }
    }

    func findings(
        _ loop: PlanLoop,
        _ issues: ScanIssues,
        _ reserved: ReservedObjects
    ) -> Findings {
        Findings(
            // A listing that has nothing else is as good as empty.
            listedObjects: loop.listedObjects - reserved.count,
            walkedEntries: loop.walkedEntries,
            isListingProven: loop.listingFailure == nil && loop.lister.isInOrder
                && loop.join.coversEverything,
            isScanProven: issues.isScanProven && loop.isWalkFinished,
            listingFailure: loop.listingFailure
        )
    }
}
