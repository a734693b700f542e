internal import ObjectStorage
internal import SyncModel
internal import Synchronization

/// The remote's objects in key order, listed ahead of use by several concurrent listings.
///
/// The ranges are cut at `splits`; each segment is one listing that starts after its lower bound
/// and stops at its upper one, and holds a few pages at most. The segments are read in order, and
/// none is begun before the one `width` places ahead of it was read to its end: the result is one
/// ordered stream whose memory does not depend on the number of objects.
final class RemoteLister: Sendable {
    /// Pages that one segment may hold before its listing waits.
    private static let pagesAhead = 8

    private struct Segment: Sendable {
        /// In key order.
        let listings: [Listing]
        let pages: Channel<[RemoteObject]>
    }

    /// What one sequence of requests lists; keys are without the remote's prefix.
    private struct Listing: Sendable {
        let range: KeyRange
        /// What the keys begin with.
        let prefix: ObjectKey
    }

    private let store: any ObjectStore
    private let prefix: ObjectKey
    private let segments: [Segment]
    private let width: Int
    /// Set where the store drops the slashes of markers; then there are no splits.
    private let markers: MarkerReader?
    private let contradictions = Atomic<Int>(0)
    /// Segments that were read to their ends.
    private let segmentsRead = Atomic<Int>(0)
    /// Raised when a segment was read, or a listing failed.
    private let progress = Condition()

    /// `prefix` is empty or ends in "/", and the objects' keys come without it; `ranges` are of
    /// keys without it, and so are `splits`, which ascend; `width` is how many listings run side by
    /// side.
    init(
        store: any ObjectStore,
        prefix: ObjectKey,
        ranges: KeyRanges,
        splits: [ObjectKey],
        width: Int,
        markers: MarkerReader? = nil
    ) {
        precondition(markers == nil || splits.isEmpty)
        self.markers = markers
        self.store = store
        self.prefix = prefix
        self.width = max(1, width)
        let listings = ranges.ranges.flatMap { range in
            range.cut(behind: splits).map { Listing(range: $0, prefix: range.commonPrefix) }
        }
        // A marker without its slash can belong behind keys of the next ranges.
        let cuts = markers == nil ? listings.map { [$0] } : [listings]
        segments = cuts.map { Segment(listings: $0, pages: Channel(capacity: Self.pagesAhead)) }
    }

    /// False once a page contradicted those before it: what such a listing lacks may be there.
    var isInOrder: Bool { contradictions.load(ordering: .acquiring) == 0 }

    /// Lists until the end or a failure; runs beside ``next(_:)``, which learns of the failure.
    ///
    /// A listing that fails ends the stream where it stands in the order: earlier listings continue
    /// to their ends, and later ones are not started.
    func run() async {
        var remaining = segments[...]
        let failure = Mutex<(any Error)?>(nil)
        // A listing whose end is known holds all its pages until they are read.
        let work: () async throws -> Segment? = {
            while !Task.isCancelled, !remaining.isEmpty {
                let version = self.progress.version
                if failure.withLock({ $0 != nil }) { return nil }
                let read = self.segmentsRead.load(ordering: .acquiring)
                if remaining.startIndex < read + self.width { return remaining.popFirst() }
                await self.progress.wait(after: version)
            }
            return nil
        }
        // Its bodies throw nothing.
        try? await forEachBounded(limit: width, next: work) { segment in
            do {
                try await self.list(segment)
                segment.pages.finish()
            } catch {
                segment.pages.finish(throwing: error)
                failure.withLock { $0 = $0 ?? error }
                self.progress.raise()
            }
        }
        // Segments that were never begun have a reader that must not wait for ever.
        let reason = failure.withLock { $0 } ?? CancellationError()
        for segment in segments { segment.pages.finish(throwing: reason) }
    }

    /// Where a reader is.
    struct Position: Sendable {
        fileprivate var segment = 0
    }

    /// The next objects, keys without the prefix; nil at the end.
    func next(_ position: inout Position) async throws -> [RemoteObject]? {
        while position.segment < segments.count {
            if let page = try await segments[position.segment].pages.next() { return page }
            position.segment += 1
            segmentsRead.store(position.segment, ordering: .releasing)
            progress.raise()
        }
        return nil
    }

    private func list(_ segment: Segment) async throws {
        var order = MarkerOrder()
        for listing in segment.listings { try await list(listing, &order, to: segment.pages) }
        let rest = order.finish()
        if !rest.isEmpty { try await segment.pages.send(rest) }
    }

    /// Lists one range, and once more from where it was in order after a page that was not: what
    /// a service or a proxy gets wrong once costs a run its deletions, but not its transfers.
    private func list(
        _ listing: Listing,
        _ order: inout MarkerOrder,
        to pages: Channel<[RemoteObject]>
    ) async throws {
        var validator = ListingValidator()
        var last = listing.range.startAfter(within: listing.prefix).map(whole)
        var hasListedAgain = false
        var request = ListRequest(
            prefix: whole(listing.prefix),
            startAfter: last,
            delimiter: nil,
            maximumKeys: listing.range.isSingle ? 1 : 1_000
        )
        while true {
            let page = try await store.list(request)
            do throws(StorageError) {
                try validator.accept(page, request: request)
            } catch {
                contradictions.add(1, ordering: .acquiringAndReleasing)
                guard !hasListedAgain else { throw error }
                hasListedAgain = true
                validator = ListingValidator()
                request.token = nil
                request.startAfter = last
                continue
            }
            last = page.objects.last?.key ?? last
            let objects = try await withSlashes(inside(listing.range, page.objects), &order)
            if !objects.isEmpty { try await pages.send(objects) }
            let isPastEnd = last.map { whole(listing.range, isPassedBehind: $0) } ?? false
            guard let next = page.next, !isPastEnd else { return }
            request.token = next
            request.startAfter = nil
        }
    }

    /// The key as the store has it.
    private func whole(_ key: ObjectKey) -> ObjectKey { ObjectKey(prefix.bytes + key.bytes) }

    /// True if no key of `range` follows the store's `key`.
    private func whole(_ range: KeyRange, isPassedBehind key: ObjectKey) -> Bool {
        range.upper.map { whole($0) <= key.next } ?? false
    }

    /// The page's objects that lie in the range, without the prefix.
    private func inside(
        _ range: KeyRange,
        _ page: [RemoteObject]
    ) async throws -> [RemoteObject] {
        let bounds = KeyRange(from: whole(range.lower), before: range.upper.map(whole))
        // The prefix itself is the mirrored directory's own marker.
        let objects = page.filter {
            bounds.contains($0.key) && $0.key.bytes.count > prefix.bytes.count
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
        RemoteObject(
            key: ObjectKey([UInt8](object.key.bytes.dropFirst(prefix.bytes.count))),
            size: target?.size ?? object.size,
            etag: target?.etag ?? object.etag,
            lastModified: object.lastModified,
            storageClass: target?.storageClass ?? object.storageClass,
            kind: target == nil ? object.kind : .normal,
            restoreState: target == nil ? object.restoreState : target?.restoreState,
            isThroughLink: target != nil
        )
    }
}
