package import SyncModel

/// Parts by ascending number.
package struct ListPartsPage: Sendable {
    package var parts: [UploadedPart]
    /// The last number of this page; nil on the last page.
    package var next: PartNumber?
    /// True if each part of the upload has a CRC-32C.
    package var hasChecksums = false

    package init(parts: [UploadedPart], next: PartNumber?) {
        self.parts = parts
        self.next = next
    }
}

extension StorageClient {
    package func listParts(
        _ key: ObjectKey,
        _ upload: UploadID,
        after: PartNumber?
    ) async throws(StorageError) -> ListPartsPage {
        var wire = StorageRequest("ListParts", .get, key)
        wire.query = [("uploadId", upload.text), ("max-parts", "1000")]
        if let after { wire.query.append(("part-number-marker", String(after.value))) }
        wire.query += documentEncoding
        let listing = wire
        return try await repeating { (context) throws(StorageError) in
            let response = try await self.send(listing, &context)
            let page = try listing.decoding(response, self) { (body) throws(XMLFailure) in
                try decodeListParts(body)
            }
            if let after, page.parts.contains(where: { $0.number <= after }) {
                throw listing.failure(.protocolViolation("the listing of parts does not advance"))
            }
            if let next = page.next, page.parts.isEmpty || after.map({ next <= $0 }) == true {
                throw listing.failure(.protocolViolation("the listing of parts does not advance"))
            }
            if page.hasChecksums { self.partChecksums.add(upload) }
            return page
        }
    }
}
