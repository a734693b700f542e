internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// Asks once more, right before objects are deleted, which of them are still the versions that the
/// run's listing had; and right before files are deleted, whether their objects are gone.
///
/// Hours of transfers may lie between the two, and neither service supports conditional deletes:
/// what another writer wrote meanwhile is kept. A page of a listing answers for as many deletions
/// as lie in its range; where they lie far apart, a HEAD for each costs less. Only what was seen is
/// deleted: a page without an object may come from a proxy, and a new object belongs to another
/// writer. See `docs/decisions/0008-listing-again-before-deletions.md`.
struct DeletionRecheck: Sendable {
    private static let keysAtOnce = 1_000
    /// A page that answers for fewer deletions than this is dearer than as many HEADs side by side.
    private static let worthwhileYield = 8
    /// Deletions that are asked for one by one before the next page is tried.
    private static let askedOneByOne = 128

    let context: RunContext
    let executor: ItemExecutor

    /// What became of the objects that are to be deleted; those that are neither were reported.
    struct Answer: Sendable {
        /// They are the versions that the run's listing had.
        var unchanged: [PlannedDeletion] = []
        /// Another writer deleted them.
        var gone: [PlannedDeletion] = []

        fileprivate static func += (answer: inout Answer, other: Answer) {
            answer.unchanged += other.unchanged
            answer.gone += other.gone
        }
    }

    /// Asks for those of `batch`, which are in ascending key order.
    func inspect(at batch: [PlannedDeletion]) async -> Answer {
        var rest = batch[...]
        var answer = Answer()
        while !rest.isEmpty, !Task.isCancelled, executor.ledger.stop == nil {
            let (answered, found) = await listed(rest)
            answer += found
            rest = rest.dropFirst(answered)
            guard answered < Self.worthwhileYield else { continue }
            answer += await asked(rest.prefix(Self.askedOneByOne))
            rest = rest.dropFirst(Self.askedOneByOne)
        }
        return Task.isCancelled ? Answer() : await readable(answer)
    }

    /// Without versions that no row is of and are encrypted, in a mirror that is not.
    private func readable(_ answer: Answer) async -> Answer {
        guard context.store.refusesSealed else { return answer }
        let unchanged = Mutex<Set<ObjectKey>>([])
        do {
            try await executor.forEach(answer.unchanged) { item in
                do {
                    if let etag = item.etag,
                        try await context.manifest.entry(item.key)?.etag != etag,
                        try await context.store.isSealed(
                            context.objectKey(item.key),
                            etag,
                            size: item.size
                        )
                    {
                        throw ItemFailure.encryptedAndKept
                    }
                    unchanged.withLock { _ = $0.insert(item.key) }
                } catch {
                    let failure = ItemFailure(ofTransfer: error)
                    executor.fail(.deleteRemote, item.key, size: item.size, failure)
                }
            }
        } catch {
            return Answer()
        }
        let keys = unchanged.withLock { $0 }
        var answer = answer
        answer.unchanged.removeAll { !keys.contains($0.key) }
        return answer
    }

    /// How many of the first deletions one page answers for, and its answer; none if the request
    /// failed or its answer is not a page of a listing.
    private func listed(
        _ rest: ArraySlice<PlannedDeletion>
    ) async -> (answered: Int, answer: Answer) {
        let ranges = context.paths.ranges
        guard let first = rest.first, let start = Self.placeBefore(context.objectKey(first.key)),
            let index = ranges.index(notPassedBy: first.key)
        else { return (0, Answer()) }
        let range = ranges.ranges[index]
        let prefix = context.objectKey(range.commonPrefix)
        let request = ListRequest(
            prefix: prefix,
            startAfter: start < prefix ? nil : start,
            delimiter: nil,
            maximumKeys: Self.keysAtOnce
        )
        let page: ListPage
        do {
            page = try await context.store.list(request)
            var validator = ListingValidator()
            try validator.accept(page, request: request)
        } catch {
            // The single questions say what is wrong, each of its own object.
            return (0, Answer())
        }
        return await classify(rest.prefix { range.contains($0.key) }, by: page)
    }

    private func classify(
        _ rest: ArraySlice<PlannedDeletion>,
        by page: ListPage
    ) async -> (answered: Int, answer: Answer) {
        var objects = page.objects[...]
        var answered = 0
        var answer = Answer()
        var doubtful: [PlannedDeletion] = []
        for deletion in rest {
            let key = context.objectKey(deletion.key)
            objects = objects.drop { $0.key < key }
            // Beyond the page's last key, only the last page knows that there is nothing.
            guard !objects.isEmpty || page.next == nil else { break }
            answered += 1
            guard let object = objects.first, object.key == key else {
                // That it is gone, only its own answer says.
                doubtful.append(deletion)
                continue
            }
            if object.kind == .symlink {
                // Listed with its own tag, recorded with its target's.
                doubtful.append(deletion)
            } else if object.etag == deletion.etag {
                answer.unchanged.append(deletion)
            } else {
                refuse(deletion)
            }
        }
        if !doubtful.isEmpty { answer += await asked(doubtful[...]) }
        return (answered, answer)
    }

    /// Asks for each by itself.
    private func asked(_ batch: ArraySlice<PlannedDeletion>) async -> Answer {
        let answer = Mutex(Answer())
        do {
            try await executor.forEach(batch) { item in
                do throws(ItemFailure) {
                    let metadata = try await executor.head(item.key)
                    guard metadata.etag == item.etag else { return refuse(item) }
                    answer.withLock { $0.unchanged.append(item) }
                } catch {
                    guard error.isVanished else {
                        executor.fail(.deleteRemote, item.key, size: item.size, error)
                        return
                    }
                    answer.withLock { $0.gone.append(item) }
                }
            }
        } catch {
            return Answer()
        }
        return answer.withLock { $0 }
    }

    /// True if the object of this file or directory is gone; anything else is reported.
    ///
    /// Only a HEAD of the object proves that it is gone: a page may come from a lagging store or a
    /// cache. What the filter hides is deleted in any case.
    func isGone(_ deletion: PlannedDeletion) async -> Bool {
        if context.filter.excludes(deletion.key) { return true }
        do throws(ItemFailure) {
            _ = try await executor.head(deletion.key)
            throw .objectExists
        } catch {
            if error.isVanished { return true }
            executor.fail(.deleteLocal, deletion.key, size: deletion.size, error)
            return false
        }
    }

    private func refuse(_ deletion: PlannedDeletion) {
        executor.fail(.deleteRemote, deletion.key, size: deletion.size, .alreadyExists(nil))
    }

    /// A place in the order of keys shortly before `key`: without its last character; nil for a key
    /// that no listing can be asked to start at.
    private static func placeBefore(_ key: ObjectKey) -> ObjectKey? {
        guard isValidUTF8(key.bytes) else { return nil }
        let end = key.bytes.lastIndex { $0 & 0xC0 != 0x80 } ?? 0
        return end > 0 ? ObjectKey([UInt8](key.bytes[..<end])) : nil
    }
}

extension MirrorDirectory {
    /// True if the link at this path, which may have taken the place of a directory, is mirrored as
    /// the file that it leads to.
    func isFollowedFile(_ link: RelativePath) -> Bool {
        guard let path = try? RelativePath(following: link.key) else { return false }
        if case .file? = try? identity(of: path) { return true }
        return false
    }
}
