package import SyncModel

/// One page of a listing is asked for by `token`, or by `startAfter` for the first one.
package struct ListRequest: Sendable {
    package var prefix: ObjectKey
    /// Only keys after this one; not used together with a token.
    package var startAfter: ObjectKey?
    package var token: ContinuationToken?
    package var delimiter: String?
    /// From 1 to 1,000.
    package var maximumKeys: Int

    package init(
        prefix: ObjectKey,
        startAfter: ObjectKey? = nil,
        token: ContinuationToken? = nil,
        delimiter: String? = nil,
        maximumKeys: Int = 1_000
    ) {
        self.prefix = prefix
        self.startAfter = startAfter
        self.token = token
        self.delimiter = delimiter
        self.maximumKeys = maximumKeys
    }
}

/// Keys are whole, prefix included, in the order of the server's answer.
package struct ListPage: Sendable {
    package var objects: [RemoteObject]
    package var commonPrefixes: [ObjectKey]
    /// Nil on the last page.
    package var next: ContinuationToken?

    package init(
        objects: [RemoteObject],
        commonPrefixes: [ObjectKey],
        next: ContinuationToken?
    ) {
        self.objects = objects
        self.commonPrefixes = commonPrefixes
        self.next = next
    }
}

extension StorageClient {
    package func list(_ request: ListRequest) async throws(StorageError) -> ListPage {
        var wire = StorageRequest("ListObjectsV2", .get, nil)
        wire.query = [("list-type", "2")]
        guard isValidUTF8(request.prefix.bytes), isValidUTF8(request.startAfter?.bytes ?? []) else {
            throw wire.failure(.invalidRequest("a prefix must be UTF-8"))
        }
        if !request.prefix.isEmpty { wire.query.append(("prefix", request.prefix.queryText)) }
        if let token = request.token {
            wire.query.append(("continuation-token", token.text))
        } else if let start = request.startAfter {
            wire.query.append(("start-after", start.queryText))
        }
        if let delimiter = request.delimiter { wire.query.append(("delimiter", delimiter)) }
        wire.query.append(("max-keys", String(request.maximumKeys)))
        // Without it a key with a control character makes the whole page unreadable.
        wire.query.append(("encoding-type", "url"))
        if let attributes = dialect.listingAttributes { wire.headers.append(attributes) }
        let listing = wire
        return try await repeating { (context) throws(StorageError) in
            let response = try await self.send(listing, &context)
            let page = try listing.decoding(response, self) { (body) throws(XMLFailure) in
                let page = try decodeListObjects(body, style: self.keyEncoding(of: body))
                guard let prefix = page.prefix, prefix != request.prefix else { return page }
                // What it was asked for tells how it writes a plus.
                let strict = try decodeListObjects(body, style: .strict)
                guard strict.prefix == request.prefix else { return page }
                self.noteKeptPlus()
                return strict
            }
            try self.checkEcho(of: page, request, listing)
            if let time = response.head["date"].flatMap({ Timestamp(httpText: $0) }) {
                self.environment.observe(.serviceTime(time))
            }
            return ListPage(
                objects: page.objects,
                commonPrefixes: page.commonPrefixes,
                next: page.next
            )
        }
    }

    /// An endpoint that lists something else than it was asked for is not ours.
    private func checkEcho(
        of page: ListObjectsDocument,
        _ request: ListRequest,
        _ wire: StorageRequest
    ) throws(StorageError) {
        if let bucket = page.bucket, bucket != configuration.bucket {
            throw wire.failure(
                .protocolViolation(
                    "it listed the bucket '\(displayText(bucket.utf8))', not"
                        + " '\(displayText(configuration.bucket.utf8))'"
                )
            )
        }
        if let prefix = page.prefix, prefix != request.prefix {
            throw wire.failure(
                .protocolViolation(
                    "it listed the prefix '\(prefix.display)', not '\(request.prefix.display)'"
                )
            )
        }
    }
}
