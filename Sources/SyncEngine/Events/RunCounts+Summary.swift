internal import ManifestStore

extension RunCounts {
    init(_ summary: RunSummary) {
        self.init()
        transferred = Int64(summary.transferred)
        transferredBytes = summary.bytes
        resumedBytes = summary.bytesResumed
        deleted = Int64(summary.deleted)
        renamed = Int64(summary.renamed)
        adopted = Int64(summary.adopted)
        unchanged = Int64(summary.unchanged)
        conflicts = Int64(summary.conflicts)
        failed = Int64(summary.failed)
        skipped = Int64(summary.skipped)
        vanished = Int64(summary.vanished)
        localChanges = Int64(summary.localChanges)
        requests = Int64(summary.requests)
    }
}
