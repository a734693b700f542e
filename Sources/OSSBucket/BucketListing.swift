public import OSSTransfer
internal import ObjectStorage
public import ObjectTransfer
internal import SyncModel

/// The elements of a listing, which are requested a page of up to 1,000 at a time.
///
/// ```swift
/// for try await object in client.objects(prefix: "photos/") {
///     print(object.displayKey, object.size)
/// }
/// ```
///
/// Each loop lists from the beginning. One page is in memory, and the next one is requested when
/// the loop has used it up: a loop that is left or cancelled makes no more requests.
public struct BucketListing<Element: Sendable>: AsyncSequence, Sendable {
    /// Requests a page; and what requests the one after it, nil after the last.
    struct Page: Sendable {
        let request: @Sendable () async throws(TransferError) -> (elements: [Element], next: Page?)
    }

    private let first: Page

    init(first: Page) {
        self.first = first
    }

    /// A listing of known elements, for tests and previews.
    public init(_ elements: [Element]) {
        first = Page { (elements, nil) }
    }

    /// One pass over a listing.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var page: Page?
        private var elements: ArraySlice<Element> = []

        init(_ first: Page) {
            page = first
        }

        /// The next element; nil after the last.
        ///
        /// - Throws: `TransferError`: `cancelled` if the task is cancelled; an error also if pages
        ///   do not follow each other in the order of keys. Nothing follows an error.
        public mutating func next() async throws(TransferError) -> Element? {
            try await next(isolation: nil)
        }

        /// The same, for a caller that stays where it is.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(TransferError) -> Element? {
            while elements.isEmpty, let current = page {
                page = nil
                let (found, next) = try await current.request()
                elements = found[...]
                page = next
            }
            return elements.popFirst()
        }
    }

    /// A pass from the beginning.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(first) }
}

extension BucketClient {
    /// Lists the objects whose keys begin with `prefix`, in key order.
    ///
    /// - Parameter prefix: How the keys begin, not only up to a slash; empty for all objects.
    /// - Returns: The objects; no request is made before the loop begins.
    public func objects(prefix: String = "") -> BucketListing<ListedObject> {
        listing(ListRequest(prefix: ObjectKey(prefix))) { page in
            page.objects.map { ListedObject($0) }
        }
    }

    /// Lists one level of the objects whose keys begin with `prefix`, as a directory is listed, in
    /// key order: objects without a "/" after the prefix, and of the others how their keys begin,
    /// up to that "/".
    ///
    /// - Parameter prefix: How the keys begin; for a directory with "/" at its end.
    /// - Returns: The entries; no request is made before the loop begins.
    package func level(prefix: String = "") -> BucketListing<LevelEntry> {
        listing(ListRequest(prefix: ObjectKey(prefix), delimiter: "/")) { page in
            var entries: [LevelEntry] = []
            var directories = page.commonPrefixes[...]
            for object in page.objects {
                while let first = directories.first, first < object.key {
                    directories.removeFirst()
                    entries.append(LevelEntry(first))
                }
                entries.append(.object(ListedObject(object)))
            }
            return entries + directories.map { LevelEntry($0) }
        }
    }

    /// Lists every version of the objects whose keys begin with `prefix`, by key, and of one key
    /// the newest first.
    ///
    /// - Parameter prefix: How the keys begin, not only up to a slash.
    /// - Returns: The versions; no request is made before the loop begins.
    package func versions(prefix: String = "") -> BucketListing<ListedVersion> {
        BucketListing(first: versions(ObjectKey(prefix), after: nil))
    }

    private func listing<Element: Sendable>(
        _ request: ListRequest,
        _ elements: @escaping @Sendable (ListPage) -> [Element]
    ) -> BucketListing<Element> {
        BucketListing(first: page(request, ListingValidator(), elements))
    }

    private func page<Element: Sendable>(
        _ request: ListRequest,
        _ validator: ListingValidator,
        _ elements: @escaping @Sendable (ListPage) -> [Element]
    ) -> BucketListing<Element>.Page {
        BucketListing.Page { () async throws(TransferError) in
            var (validator, next) = (validator, request)
            let page = try await call { () throws(StorageError) in
                let page = try await store.list(request)
                try validator.accept(page, request: request)
                return page
            }
            next.token = page.next
            return (
                elements(page),
                next.token == nil ? nil : self.page(next, validator, elements)
            )
        }
    }

    private func versions(
        _ prefix: ObjectKey,
        after marker: ListingMarker<VersionID>?
    ) -> BucketListing<ListedVersion>.Page {
        BucketListing.Page { () async throws(TransferError) in
            try await call { () throws(StorageError) in
                let page = try await store.listVersions(
                    ListVersionsRequest(prefix: prefix, marker: marker)
                )
                let versions = page.entries.map { ListedVersion($0) }
                guard let next = page.next else { return (versions, nil) }
                guard !versions.isEmpty else {
                    throw StorageError(
                        kind: .protocolViolation("the listing does not advance"),
                        operation: "ListObjectVersions"
                    )
                }
                return (versions, self.versions(prefix, after: next))
            }
        }
    }
}

// MARK: - Versions

extension BucketClient {
    /// True if something was beneath the prefix at a time.
    package func hadObjects(beneath prefix: String, at time: StoreTime) async throws(TransferError)
        -> Bool
    {
        let past = PastStore(store, .at(time.timestamp))
        var request = ListRequest(prefix: ObjectKey(prefix))
        return try await call { () throws(StorageError) in
            repeat {
                let page = try await past.list(request)
                if !page.objects.isEmpty { return true }
                request.token = page.next
            } while request.token != nil
            return false
        }
    }

    /// True if listings tell which archived objects were restored.
    package var listsRestoredObjects: Bool { store.dialect.listsRestoredObjects }

    /// Nil if there is nothing beneath the prefix; false if its first 1,000 objects have no
    /// versions, as in a bucket that never kept any.
    package func keepsVersions(beneath prefix: String) async throws(TransferError) -> Bool? {
        var count = 0
        for try await version in versions(prefix: prefix) {
            if version.versionID != "null" { return true }
            count += 1
            if count == 1_000 { break }
        }
        return count == 0 ? nil : false
    }
}
