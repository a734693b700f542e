internal import ManifestStore
internal import SyncModel

extension ItemAction {
    /// True if the sides have the same content once it is done.
    var leavesBothEqual: Bool {
        [.download, .upload, .copyLocal, .copyRemote, .adopt].contains(self)
    }
}

extension RunSummary {
    /// Adds what a run of another shard did.
    mutating func add(_ other: RunSummary) {
        transferred += other.transferred
        conflictCopies += other.conflictCopies
        bytes = bytes.addingClamped(other.bytes)
        bytesFailed = bytesFailed.addingClamped(other.bytesFailed)
        bytesResumed = bytesResumed.addingClamped(other.bytesResumed)
        bytesCopied = bytesCopied.addingClamped(other.bytesCopied)
        deleted += other.deleted
        renamed += other.renamed
        adopted += other.adopted
        modes += other.modes
        unchanged += other.unchanged
        bytesInBoth = bytesInBoth.addingClamped(other.bytesInBoth)
        conflicts += other.conflicts
        failed += other.failed
        skipped += other.skipped
        vanished += other.vanished
        localChanges += other.localChanges
        damaged += other.damaged
        onlyLocal += other.onlyLocal
        notMirrored += other.notMirrored
        notMirroredKinds.formUnion(other.notMirroredKinds)
        onlyRemote += other.onlyRemote
        deletedHere += other.deletedHere
        deletedThere += other.deletedThere
        excluded += other.excluded
        notInPlan += other.notInPlan
        unlistedSizes += other.unlistedSizes
        directoryChanged = directoryChanged || other.directoryChanged
        requests += other.requests
        retries += other.retries
        throttled += other.throttled
        throttledSeconds += other.throttledSeconds
        deletionsHeldBack = deletionsHeldBack ?? other.deletionsHeldBack
        stopped = stopped ?? other.stopped
        reachedLimit = reachedLimit ?? other.reachedLimit
        interrupted += other.interrupted
        notTried += other.notTried
        bytesLeft = bytesLeft.addingClamped(other.bytesLeft)
        bytesKept = bytesKept.addingClamped(other.bytesKept)
        isPlanComplete = isPlanComplete && other.isPlanComplete
    }

    /// Counts items that are as they were.
    mutating func countUnchanged(_ count: Int, bytes: Int64) {
        unchanged += count
        bytesInBoth = bytesInBoth.addingClamped(bytes)
    }

    /// Counts an item whose content was transferred.
    mutating func countTransfer(of key: ObjectKey) {
        transferred += 1
        if key.isConflictCopy { conflictCopies += 1 }
    }

    /// What the manifest keeps.
    var recorded: [RunCount: Int64] {
        [
            .transferred: Int64(transferred), .bytes: bytes, .bytesResumed: bytesResumed,
            .deleted: Int64(deleted), .renamed: Int64(renamed), .adopted: Int64(adopted),
            .unchanged: Int64(unchanged), .conflicts: Int64(conflicts), .failed: Int64(failed),
            .skipped: Int64(skipped), .localChanges: Int64(localChanges),
            .requests: Int64(requests), .vanished: Int64(vanished), .bytesInBoth: bytesInBoth,
        ]
    }
}
