package import SyncModel

/// Parts by ascending number.
package struct ListPartsPage: Sendable {
    package var parts: [UploadedPart]
    /// The last number of this page; nil on the last page.
    package var next: PartNumber?
    /// True if each part of the upload has a CRC-32C.
    package var hasChecksums = false
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

/// Decodes a page of ListParts.
package func decodeListParts(_ bytes: [UInt8]) throws(XMLFailure) -> ListPartsPage {
    let document = try decodeFields(bytes, .listPartsResult, [.part], style: .strict)
    var parts: [UploadedPart] = []
    for fields in document.entries {
        let part = try UploadedPart(fields)
        if let last = parts.last, last.number >= part.number {
            throw .unordered(element: XMLElement.partNumber.rawValue)
        }
        parts.append(part)
    }
    var next: PartNumber?
    if try require(document.boolean(.isTruncated), .isTruncated) {
        let element = XMLElement.nextPartNumberMarker
        let text = try require(document.text(element), element)
        guard let marker = parseDecimal(text.utf8).flatMap({ PartNumber(Int(clamping: $0)) }),
            marker >= parts.last?.number ?? marker
        else { throw .invalid(element, text) }
        next = marker
    }
    var page = ListPartsPage(parts: parts, next: next)
    page.hasChecksums =
        document[.checksumAlgorithm] == "CRC32C" || parts.contains { $0.crc32c != nil }
    return page
}

extension UploadedPart {
    fileprivate init(_ fields: XMLFields) throws(XMLFailure) {
        let text = try require(fields[.partNumber], .partNumber)
        guard let number = parseDecimal(text.utf8).flatMap({ PartNumber(Int(clamping: $0)) }) else {
            throw .invalid(.partNumber, text)
        }
        var crc64: CRC64?
        if let text = fields[.hashCRC64] {
            guard let value = parseUnsignedDecimal(text.utf8) else {
                throw .invalid(.hashCRC64, text)
            }
            crc64 = CRC64(value: value)
        }
        self.init(
            number: number,
            size: try require(fields.number(.size), .size),
            etag: try fields.etag(),
            crc64: crc64
        )
        crc32c = fields[.checksumCRC32C].flatMap { checksumValue($0.utf8) }
    }
}
