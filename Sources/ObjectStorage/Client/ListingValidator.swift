internal import SyncModel

/// Proves of one listing, page by page, that it is whole and in order: what is missing from it may
/// be deleted, so nothing may be missing by mistake.
package struct ListingValidator: Sendable {
    /// Pages in a row that have nothing but a token.
    private static let maximumEmptyPages = 100

    private var last: ObjectKey?
    /// Hashes of the tokens: a listing has as many as it has pages, and each may be long.
    private var tokens: Set<Int> = []
    private var emptyPages = 0
    private var isFinished = false

    package init() {}

    /// Throws if `page`, the answer to `request`, can't be the next page of the listing.
    package mutating func accept(
        _ page: ListPage,
        request: ListRequest
    ) throws(StorageError) {
        guard !isFinished else { throw violation("a page comes after the last one") }
        if let token = request.token {
            tokens.insert(token.hashValue)
        } else if let start = request.startAfter, last == nil {
            last = start
        }
        let limit = max(request.maximumKeys, 1_000)
        guard page.objects.count + page.commonPrefixes.count <= limit else {
            throw violation("a page has more entries than were asked for")
        }
        var greatest = last
        try accept(page.objects.lazy.map(\.key), within: request.prefix, &greatest)
        for prefix in page.commonPrefixes {
            guard let delimiter = request.delimiter,
                prefix.bytes.count > request.prefix.bytes.count,
                ends(prefix, with: delimiter)
            else { throw violation("a common prefix '\(prefix.display)' was not asked for") }
        }
        try accept(page.commonPrefixes, within: request.prefix, &greatest)
        last = greatest
        try acceptNext(page)
    }

    /// Every key must be greater than the one before it, and than all of earlier pages.
    private func accept(
        _ keys: some Sequence<ObjectKey>,
        within prefix: ObjectKey,
        _ greatest: inout ObjectKey?
    ) throws(StorageError) {
        var previous = last
        for key in keys {
            guard key.hasPrefix(prefix) else {
                throw violation("the key '\(key.display)' is outside the prefix")
            }
            if let previous, key <= previous {
                throw violation(
                    "the key '\(key.display)' comes after '\(previous.display)', out of order"
                )
            }
            previous = key
        }
        if let previous, greatest.map({ $0 < previous }) ?? true { greatest = previous }
    }

    private mutating func acceptNext(_ page: ListPage) throws(StorageError) {
        guard let next = page.next else {
            isFinished = true
            return
        }
        guard !next.text.isEmpty, tokens.insert(next.hashValue).inserted else {
            throw violation("the listing does not advance")
        }
        emptyPages = page.objects.isEmpty && page.commonPrefixes.isEmpty ? emptyPages + 1 : 0
        guard emptyPages <= Self.maximumEmptyPages else {
            throw violation("the listing does not advance")
        }
    }

    private func ends(_ key: ObjectKey, with delimiter: String) -> Bool {
        key.bytes.suffix(delimiter.utf8.count).elementsEqual(delimiter.utf8)
    }

    private func violation(_ what: String) -> StorageError {
        StorageError(kind: .protocolViolation(what), operation: "ListObjectsV2")
    }
}
