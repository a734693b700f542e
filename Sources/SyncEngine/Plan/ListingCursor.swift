internal import ObjectStorage
internal import SyncModel

/// The listing of one range of keys, page by page: what to request next, and whether a page is in
/// order.
///
/// After a page that is not, the rest is listed once more from the last key in order: what a
/// service or a proxy gets wrong once costs a run its deletions, but not its transfers.
struct ListingCursor: Sendable {
    private(set) var request: ListRequest
    private var validator = ListingValidator()
    /// The greatest key so far, or the one that the range begins after.
    private var last: ObjectKey?
    private var hasListedAgain = false
    /// False after the last page.
    private(set) var hasMore = true

    /// Keys are those of the store, and all of `range` begin with `prefix`.
    init(_ range: KeyRange, prefix: ObjectKey) {
        last = range.startAfter(within: prefix)
        request = ListRequest(
            prefix: prefix,
            startAfter: last,
            delimiter: nil,
            maximumKeys: range.isSingle ? 1 : 1_000
        )
    }

    /// Advances the request behind `page`; false if the page was out of order, and the request is
    /// one that repeats it.
    ///
    /// - Throws: What is wrong with the page, the second time.
    mutating func accept(_ page: ListPage) throws(StorageError) -> Bool {
        do throws(StorageError) {
            try validator.accept(page, request: request)
        } catch {
            guard !hasListedAgain else { throw error }
            hasListedAgain = true
            validator = ListingValidator()
            request.token = nil
            request.startAfter = last
            return false
        }
        last = page.objects.last?.key ?? last
        request.token = page.next
        request.startAfter = nil
        hasMore = page.next != nil
        return true
    }

    /// Continues behind `end` if the pages so far end within `prefix`; what else begins with it is
    /// not listed.
    mutating func skip(_ prefix: ObjectKey, to end: ObjectKey) -> Bool {
        guard hasMore, let reached = last, reached.hasPrefix(prefix), reached < end else {
            return false
        }
        last = end
        validator = ListingValidator()
        request.token = nil
        request.startAfter = end
        return true
    }
}
