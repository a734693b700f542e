internal import SyncModel

/// Decodes a page of ListParts.
package func decodeListParts(_ bytes: [UInt8]) throws(XMLFailure) -> ListPartsPage {
    try decodeXML(bytes, ListPartsDecoder())
}

private struct ListPartsDecoder: XMLDecoder {
    private struct Fields {
        var number: PartNumber?
        var size: Int64?
        var etag: ETag?
        var crc64: CRC64?
        var crc32c: UInt32?
    }

    let root = XMLElement.listPartsResult
    private var parts: [UploadedPart] = []
    private var current = Fields()
    private var isTruncated: Bool?
    private var nextNumber: Int64?
    private var hasChecksums = false

    mutating func close(_ field: XMLField) throws(XMLFailure) {
        switch (field.parent, field.element) {
        case (.part, .partNumber):
            guard let number = PartNumber(Int(try field.number())) else { throw field.invalid }
            try setOnce(&current.number, number, .partNumber)
        case (.part, .size): try setOnce(&current.size, try field.number(), .size)
        case (.part, .etag): try setOnce(&current.etag, try field.etag(), .etag)
        case (.part, .hashCRC64):
            guard let value = parseUnsignedDecimal(field.bytes) else { throw field.invalid }
            try setOnce(&current.crc64, CRC64(value: value), .hashCRC64)
        case (.part, .checksumCRC32C): current.crc32c = checksumValue(field.bytes)
        case (.listPartsResult, .checksumAlgorithm):
            hasChecksums = field.bytes.elementsEqual("CRC32C".utf8)
        case (.listPartsResult, .part): try appendPart()
        case (.listPartsResult, .isTruncated):
            try setOnce(&isTruncated, try field.boolean(), .isTruncated)
        case (.listPartsResult, .nextPartNumberMarker):
            guard field.isLeaf, !field.bytes.isEmpty else { return }
            try setOnce(&nextNumber, try field.number(), .nextPartNumberMarker)
        default: break
        }
    }

    private mutating func appendPart() throws(XMLFailure) {
        let number = try require(current.number, .partNumber)
        if let last = parts.last, last.number >= number { throw .unordered(element: "PartNumber") }
        var part = UploadedPart(
            number: number,
            size: try require(current.size, .size),
            etag: try require(current.etag, .etag),
            crc64: current.crc64
        )
        part.crc32c = current.crc32c
        parts.append(part)
        current = Fields()
    }

    func value() throws(XMLFailure) -> ListPartsPage {
        var next: PartNumber?
        if try require(isTruncated, .isTruncated) {
            let number = try require(nextNumber, .nextPartNumberMarker)
            guard let marker = PartNumber(Int(clamping: number)),
                marker >= parts.last?.number ?? marker
            else { throw .invalid(element: "NextPartNumberMarker", value: String(number)) }
            next = marker
        }
        var page = ListPartsPage(parts: parts, next: next)
        page.hasChecksums = hasChecksums || parts.contains { $0.crc32c != nil }
        return page
    }
}
