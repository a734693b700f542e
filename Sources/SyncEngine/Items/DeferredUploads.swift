internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Uploads that the store refuses because of an object that this run deletes: where stores are
/// directories beneath, `a` and `a/b` cannot both be there.
struct DeferredUploads: Sendable {
    let executor: ItemExecutor

    private var context: RunContext { executor.context }

    /// Keeps those whose place a planned deletion frees, and reports the others: what such an
    /// upload waits for must not be held back because it failed.
    func settle() async throws {
        for deferred in executor.ledger.takeDeferredUploads() {
            if try await isBlocked(deferred.entry.key) {
                executor.ledger.keepDeferredUpload(deferred)
            } else {
                report(deferred)
            }
        }
    }

    /// Sends them, after the deletions.
    func run() async throws {
        let waiting = executor.ledger.takeDeferredUploads()
        try await executor.forEach(waiting) { deferred in
            let isMarker = RelativePath.isDirectory(deferred.entry.key)
            let decision: Decision = isMarker ? .uploadMarker : .upload(.new)
            let work = ItemExecutor.Work(entry: deferred.entry, decision: decision)
            executor.countAsPlanned(work)
            await executor.carryOut(work.decision, deferred.entry)
        }
    }

    /// Reports them, because nothing was deleted.
    func fail() {
        for deferred in executor.ledger.takeDeferredUploads() { report(deferred) }
    }

    /// Leaves them to the run that deletes what blocks them.
    func leave() {
        for deferred in executor.ledger.takeDeferredUploads() {
            executor.skipWithoutDoubt(
                deferred.entry.key,
                size: deferred.entry.local?.identity?.size ?? 0,
                message: "an object in its place is to be deleted first; the next run uploads it"
            )
        }
    }

    private func report(_ deferred: RunLedger.DeferredUpload) {
        let size = deferred.entry.local?.identity?.size ?? 0
        executor.fail(.upload, deferred.entry.key, size: size, deferred.failure)
    }

    /// True if an object above the key or beneath it is to be deleted.
    private func isBlocked(_ key: ObjectKey) async throws -> Bool {
        let slash = UInt8(ascii: "/")
        let name = key.isDirectoryMarker ? key.bytes.dropLast() : key.bytes[...]
        var places = name.indices.filter { name[$0] == slash }
        if key.isDirectoryMarker { places.append(name.endIndex) }
        for end in places where end > name.startIndex {
            let above = ObjectKey([UInt8](name[..<end]))
            if try await firstDeletion(atOrAfter: above)?.key == above { return true }
        }
        let beneath = ObjectKey(name + [slash])
        return try await firstDeletion(atOrAfter: beneath)?.key.hasPrefix(beneath) == true
    }

    private func firstDeletion(atOrAfter key: ObjectKey) async throws -> PlannedDeletion? {
        // Without its last byte a key comes right before all that begin with it.
        var after: ObjectKey? = ObjectKey([UInt8](key.bytes.dropLast()))
        while true {
            let page = try await context.manifest.plannedDeletions(
                run: context.run,
                side: .remote,
                after: after,
                limit: context.limits.batch
            )
            guard let last = page.last else { return nil }
            if let found = page.first(where: { $0.key >= key }) { return found }
            after = last.key
        }
    }
}
