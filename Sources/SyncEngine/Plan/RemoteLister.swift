internal import ObjectStorage
internal import SyncModel
internal import Synchronization

/// The remote's objects in key order, listed ahead of use by several concurrent requests.
///
/// `ListingRanges` decides which page is requested next. Pages of later ranges are held until the
/// reader has read those before: the result is one ordered stream whose memory does not depend on
/// the number of objects.
final class RemoteLister: Sendable {
    /// See ``ListingRanges/Limits``.
    private static let pagesAhead = 64

    private let store: any ObjectReader
    private let prefix: ObjectKey
    private let width: Int
    /// Set where the store drops the slashes of markers; then it is listed by one request at a
    /// time.
    private let markers: MarkerReader?
    private let ranges: Mutex<ListingRanges>
    private let contradictions = Atomic<Int>(0)
    /// The keys of the mirror's trash in the bucket, of which a page at most is listed.
    private let trash: (prefix: ObjectKey, end: ObjectKey)
    private let trashed = Atomic(false)
    private let leavesOut: @Sendable (ObjectKey) -> ObjectKey?
    /// Raised when a page has arrived, was read, or cannot be listed.
    private let progress = Condition()

    /// `prefix` is empty or ends in "/", and the objects' keys come without it; `ranges` are of
    /// keys without it, and so are `splits`, which ascend and have about `pagesPerSplit` pages
    /// between them; `width` is how many requests are made at once.
    ///
    /// Of a directory that `leavesOut` names for a key in it, without the prefix and with a "/" at
    /// its end, a page at most is listed.
    init(
        store: any ObjectReader,
        prefix: ObjectKey,
        ranges: KeyRanges,
        splits: [ObjectKey],
        pagesPerSplit: Int,
        width: Int,
        markers: MarkerReader? = nil,
        leavingOut leavesOut: @escaping @Sendable (ObjectKey) -> ObjectKey? = { _ in nil }
    ) {
        self.markers = markers
        self.leavesOut = leavesOut
        self.store = store
        self.prefix = prefix
        self.width = markers == nil ? max(1, width) : 1
        func whole(_ key: ObjectKey) -> ObjectKey { ObjectKey(prefix.bytes + key.bytes) }
        trash = (whole(RemoteTrash.keys), whole(RemoteTrash.lastKey))
        self.ranges = Mutex(
            ListingRanges(
                ranges.ranges.map {
                    KeyRange(from: whole($0.lower), before: $0.upper.map(whole))
                },
                prefixes: ranges.ranges.map { whole($0.commonPrefix) },
                splits: splits.map(whole),
                pagesPerSplit: pagesPerSplit,
                constant: prefix.bytes.count,
                limits: ListingRanges.Limits(width: self.width, pages: Self.pagesAhead)
            )
        )
    }

    /// False once a page contradicted those before it: what such a listing lacks may be there.
    var isInOrder: Bool { contradictions.load(ordering: .acquiring) == 0 }

    /// True if the bucket has a trash of this mirror.
    var hasTrash: Bool { trashed.load(ordering: .relaxed) }

    /// Lists until the end or a failure; runs beside ``next(_:)``, which learns of the failure.
    ///
    /// A listing that fails ends the stream where it stands in the order: earlier listings continue
    /// to their ends, and later ones are not started.
    func run() async {
        let work: () async throws -> ListingRanges.Step? = {
            while !Task.isCancelled {
                let version = self.progress.version
                switch self.ranges.withLock({ $0.next() }) {
                case .list(let step): return step
                case .later: await self.progress.wait(after: version)
                case .never: return nil
                }
            }
            return nil
        }
        // Its bodies throw nothing.
        try? await forEachBounded(limit: width, next: work) { step in
            do {
                try await self.list(step)
            } catch {
                self.ranges.withLock { $0.fail(step, error) }
            }
            self.progress.raise()
        }
        // What was not listed has a reader that must not wait for ever.
        ranges.withLock { $0.stop(CancellationError()) }
        progress.raise()
    }

    /// Where a reader is.
    struct Position: Sendable {
        fileprivate var order = MarkerOrder()
    }

    /// The next objects, keys without the prefix; nil at the end.
    ///
    /// There is one reader.
    func next(_ position: inout Position) async throws -> [RemoteObject]? {
        while true {
            try Task.checkCancellation()
            let version = progress.version
            switch try ranges.withLock({ ranges throws in try ranges.take() }) {
            case .page(let page):
                progress.raise()
                let objects = try await withSlashes(page, &position.order)
                if !objects.isEmpty { return objects }
            case .later: await progress.wait(after: version)
            case .end:
                let rest = position.order.finish()
                return rest.isEmpty ? nil : rest
            }
        }
    }

    /// Lists one page, and once more one that was out of order.
    private func list(_ step: ListingRanges.Step) async throws {
        var step = step
        while true {
            let page = try await store.list(step.cursor.request)
            let isInOrder: Bool
            do throws(StorageError) {
                isInOrder = try step.cursor.accept(page)
            } catch {
                contradictions.add(1, ordering: .acquiringAndReleasing)
                throw error
            }
            guard isInOrder else {
                contradictions.add(1, ordering: .acquiringAndReleasing)
                continue
            }
            var keys = page.objects.map(\.key)
            if step.cursor.skip(trash.prefix, to: trash.end) {
                keys.append(trash.end)
            } else if let end = skipLeftOut(&step.cursor, keys.last) {
                keys.append(end)
            }
            let range = ranges.withLock { $0.range(of: step, reaching: keys.last) }
            guard let range else { return ranges.withLock { $0.accept([], keys, for: step) } }
            let objects = try await inside(range, page.objects)
            ranges.withLock { $0.accept(objects, keys, for: step) }
            return
        }
    }

    /// Goes on behind the directory that the page ends in, if that is left out; nil if it is not.
    private func skipLeftOut(_ cursor: inout ListingCursor, _ last: ObjectKey?) -> ObjectKey? {
        guard let last, last.bytes.count > prefix.bytes.count, last.hasPrefix(prefix),
            let directory = leavesOut(ObjectKey(last.bytes.dropFirst(prefix.bytes.count)))
        else { return nil }
        let whole = ObjectKey(prefix.bytes + directory.bytes)
        // Behind all keys but those that begin with the last character there is.
        let end = ObjectKey(whole.bytes + "\u{10FFFF}".utf8)
        return cursor.skip(whole, to: end) ? end : nil
    }

    /// The page's objects that lie in the range, without the prefix.
    private func inside(
        _ range: KeyRange,
        _ page: [RemoteObject]
    ) async throws -> [RemoteObject] {
        // The prefix itself is the mirrored directory's own marker.
        let objects = page.filter { object in
            guard range.contains(object.key), object.key.bytes.count > prefix.bytes.count else {
                return false
            }
            guard object.key.hasPrefix(trash.prefix) else { return true }
            trashed.store(true, ordering: .relaxed)
            return false
        }
        let targets = try await LinkTargets(store: store, prefix: prefix).targets(of: objects)
        return objects.enumerated().map { index, object in
            self.described(object, as: targets[index])
        }
    }

    /// The objects with those markers as directories whose names lack the slash.
    private func withSlashes(
        _ objects: [RemoteObject],
        _ order: inout MarkerOrder
    ) async throws -> [RemoteObject] {
        guard let markers else { return objects }
        var ordered: [RemoteObject] = []
        for object in objects {
            ordered += order.add(object, isMarker: try await markers.isMarker(object))
        }
        return ordered
    }

    /// The object under its relative key.
    ///
    /// A symlink object is described by its target, as a GET of it will be; one that is not
    /// followed keeps its kind, and the plan skips it.
    private func described(_ object: RemoteObject, as target: ObjectMetadata?) -> RemoteObject {
        let described = object.beneath(prefix)
        guard let target else { return described }
        return RemoteObject(
            key: described.key,
            size: target.size,
            etag: target.etag ?? object.etag,
            lastModified: object.lastModified,
            storageClass: target.storageClass,
            restoreState: target.restoreState,
            isThroughLink: true
        )
    }
}
