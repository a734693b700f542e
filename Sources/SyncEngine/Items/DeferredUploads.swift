internal import ManifestStore
internal import ObjectStorage
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
        for deferred in executor.ledger.take(\.uploads) {
            if try await isBlocked(deferred.entry.key) {
                executor.ledger.putBack(deferred, to: \.uploads)
            } else if let object = await objectThatStays(beside: deferred) {
                // A name that this store refuses says nothing of others.
                executor.skipName(deferred.entry, .besideObject(object))
            } else {
                report(deferred)
            }
        }
    }

    /// Sends them, after the deletions.
    func run() async throws {
        let waiting = executor.ledger.take(\.uploads)
        executor.parts.privateMarkers.retry()
        try await executor.forEach(waiting, countsRest: true) { deferred in
            let isMarker = RelativePath.isDirectory(deferred.entry.key)
            let decision: Decision = isMarker ? .uploadMarker : .upload(.new)
            let work = ItemExecutor.Work(entry: deferred.entry, decision: decision)
            executor.countAsPlanned(work)
            await executor.carryOut(work.decision, deferred.entry)
        }
    }

    /// Reports them, because nothing was deleted.
    func fail() {
        for deferred in executor.ledger.take(\.uploads) { report(deferred) }
    }

    /// Leaves them to the run that deletes what blocks them.
    func leave() {
        for deferred in executor.ledger.take(\.uploads) {
            executor.skipWithoutDoubt(
                deferred.entry.key,
                size: deferred.entry.local?.identity?.size ?? 0,
                message: "an object in its place is to be deleted first; the next run uploads it"
            )
        }
    }

    private func report(_ deferred: RunLedger.DeferredUpload) {
        let size = deferred.entry.local?.identity?.size ?? 0
        guard !executor.parts.privateMarkers.isPostponed(above: deferred.entry.key) else {
            // Its marker failed, and only that.
            let message = deferred.failure.message
            return executor.skip(deferred.entry.key, size: size, message: message)
        }
        executor.fail(.upload, deferred.entry.key, size: size, deferred.failure)
    }

    /// True if an object above the key or beneath it is to be deleted.
    private func isBlocked(_ key: ObjectKey) async throws -> Bool {
        for above in Self.places(above: key) {
            if try await firstDeletion(atOrAfter: above)?.key == above { return true }
        }
        let beneath = Self.place(beneath: key)
        return try await firstDeletion(atOrAfter: beneath)?.key.hasPrefix(beneath) == true
    }

    /// The object above a refused one or beneath it, if the bucket has one.
    private func objectThatStays(beside refused: RunLedger.DeferredUpload) async -> ObjectKey? {
        // An error of the store may have any cause, and a run that stops asks no more.
        guard refused.failure.answer?.status != 500, executor.ledger.stop == nil,
            !Task.isCancelled
        else { return nil }
        let key = refused.entry.key
        for above in Self.places(above: key) where (try? await executor.head(above)) != nil {
            return above
        }
        // What lies beneath a directory is not a reason to refuse its marker.
        guard !key.isDirectoryMarker else { return nil }
        let request = ListRequest(
            prefix: context.objectKey(Self.place(beneath: key)),
            delimiter: nil,
            maximumKeys: 1
        )
        let found = try? await context.store.list(request).objects.first?.key
        return found.map { ObjectKey([UInt8]($0.bytes.dropFirst(context.prefix.bytes.count))) }
    }

    /// The keys of which only a directory can be, where the key is a path.
    private static func places(above key: ObjectKey) -> [ObjectKey] {
        let name = key.isDirectoryMarker ? key.bytes.dropLast() : key.bytes[...]
        var ends = name.indices.filter { name[$0] == UInt8(ascii: "/") }
        if key.isDirectoryMarker { ends.append(name.endIndex) }
        return ends.filter { $0 > name.startIndex }.map { ObjectKey([UInt8](name[..<$0])) }
    }

    private static func place(beneath key: ObjectKey) -> ObjectKey {
        key.isDirectoryMarker ? key : ObjectKey(key.bytes + [UInt8(ascii: "/")])
    }

    private func firstDeletion(atOrAfter key: ObjectKey) async throws -> PlannedDeletion? {
        // Without its last byte a key comes right before all that begin with it.
        let before = ObjectKey([UInt8](key.bytes.dropLast()))
        let planned = RowSelection.deletions(run: context.run, side: .remote, after: before)
        for try await page in context.manifest.pages(planned, limit: context.limits.batch) {
            if let found = page.first(where: { $0.key >= key }) { return found }
        }
        return nil
    }
}
