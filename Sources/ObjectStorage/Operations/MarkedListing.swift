package import SyncModel

/// What tells apart what one key may have several of: versions, or uploads in parts.
package protocol ListedID: Sendable, Hashable {
    init(_ text: String)
    var text: String { get }
}

extension VersionID: ListedID {}
extension UploadID: ListedID {}

/// A position in a listing of versions or uploads.
package struct ListingMarker<ID: ListedID>: Sendable, Hashable {
    package let key: ObjectKey
    package let id: ID?
}

/// Asks for a page of versions or uploads.
package struct MarkedListRequest<ID: ListedID>: Sendable {
    package var prefix: ObjectKey
    /// Where the page begins: what `next` of the page before said.
    package var marker: ListingMarker<ID>?

    package init(prefix: ObjectKey, marker: ListingMarker<ID>? = nil) {
        self.prefix = prefix
        self.marker = marker
    }
}

/// Versions or uploads by key.
package struct MarkedPage<Entry: Sendable, ID: ListedID>: Sendable {
    package var entries: [Entry]
    /// Nil on the last page.
    package var next: ListingMarker<ID>?

    /// `nextID` is the element that a marker's ID stands in.
    init(
        _ document: XMLFields,
        isTruncated: Bool,
        nextID: XMLElement,
        _ entry: (XMLFields) throws(XMLFailure) -> Entry
    ) throws(XMLFailure) {
        entries = []
        entries.reserveCapacity(document.entries.count)
        for fields in document.entries { entries.append(try entry(fields)) }
        guard isTruncated else { return }
        next = ListingMarker(
            key: try document.key(.nextKeyMarker),
            id: document.text(nextID).map { ID($0) }
        )
    }
}

extension StorageClient {
    /// Requests a page of the listing that `parameter` asks for; `name` is that of a marker's ID.
    func list<ID, Entry>(
        _ operation: String,
        _ parameter: String,
        _ request: MarkedListRequest<ID>,
        markedBy name: String,
        limit: String,
        _ decode:
            @escaping (
                [UInt8], PercentEncodingStyle
            ) throws(XMLFailure) -> MarkedPage<Entry, ID>
    ) async throws(StorageError) -> MarkedPage<Entry, ID> {
        var wire = StorageRequest(operation, .get, nil)
        wire.query = [(parameter, "")]
        if !request.prefix.isEmpty { wire.query.append(("prefix", request.prefix.queryText)) }
        if let marker = request.marker {
            wire.query.append(("key-marker", marker.key.queryText))
            if let id = marker.id { wire.query.append((name, id.text)) }
        }
        wire.query += [(limit, "1000"), ("encoding-type", "url")]
        let listing = wire
        return try await repeating { (context) throws(StorageError) in
            let response = try await self.send(listing, &context)
            let page = try listing.decoding(response, self) { (body) throws(XMLFailure) in
                try decode(body, self.keyEncoding(of: body))
            }
            if let next = page.next, next == request.marker {
                throw listing.failure(.protocolViolation("the listing does not advance"))
            }
            return page
        }
    }
}
