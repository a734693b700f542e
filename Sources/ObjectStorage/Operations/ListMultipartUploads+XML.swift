internal import SyncModel

/// Decodes a page of ListMultipartUploads; `style` is the dialect's.
package func decodeListUploads(
    _ bytes: [UInt8],
    style: PercentEncodingStyle
) throws(XMLFailure) -> ListUploadsPage {
    try decodeXML(bytes, ListUploadsDecoder(style: style))
}

private struct ListUploadsDecoder: XMLDecoder {
    private struct Fields {
        var key: [UInt8]?
        var uploadID: UploadID?
        var initiated: Timestamp?
    }

    let root = XMLElement.listMultipartUploadsResult
    private var encoding: XMLKeyEncoding
    private var uploads: [Fields] = []
    private var current = Fields()
    private var isTruncated: Bool?
    private var nextKey: [UInt8]?
    private var nextUpload: String?

    init(style: PercentEncodingStyle) {
        encoding = XMLKeyEncoding(style: style)
    }

    mutating func close(_ field: XMLField) throws(XMLFailure) {
        switch (field.parent, field.element) {
        case (.upload, .key): try setOnce(&current.key, try field.keyBytes(), .key)
        case (.upload, .uploadID):
            try setOnce(&current.uploadID, try field.uploadID(), .uploadID)
        case (.upload, .initiated): current.initiated = field.timestamp()
        case (.listMultipartUploadsResult, .upload):
            uploads.append(current)
            current = Fields()
        case (.listMultipartUploadsResult, .encodingType): try encoding.set(field)
        case (.listMultipartUploadsResult, .isTruncated):
            try setOnce(&isTruncated, try field.boolean(), .isTruncated)
        case (.listMultipartUploadsResult, .nextKeyMarker):
            try setOnce(&nextKey, try field.keyBytes(), .nextKeyMarker)
        case (.listMultipartUploadsResult, .nextUploadIDMarker):
            try setOnce(&nextUpload, try field.optionalText(), .nextUploadIDMarker)
        default: break
        }
    }

    func value() throws(XMLFailure) -> ListUploadsPage {
        // rclone's server leaves it out; what is missing from this listing is only not cleaned up.
        let isTruncated = isTruncated ?? false
        var result: [MultipartUpload] = []
        for fields in uploads {
            result.append(
                MultipartUpload(
                    key: try encoding.key(try require(fields.key, .key), .key),
                    upload: try require(fields.uploadID, .uploadID),
                    initiated: fields.initiated
                )
            )
        }
        guard isTruncated else { return ListUploadsPage(uploads: result, next: nil) }
        let key = try encoding.key(try require(nextKey, .nextKeyMarker), .nextKeyMarker)
        let upload = nextUpload.map(UploadID.init(_:))
        return ListUploadsPage(uploads: result, next: UploadMarker(key: key, upload: upload))
    }
}
