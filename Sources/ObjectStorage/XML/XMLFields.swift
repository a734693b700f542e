internal import SyncModel

/// The leaves right below the root of a small document.
struct XMLFields {
    let encoding: XMLKeyEncoding
    let values: [XMLElement: String]

    func required(_ element: XMLElement) throws(XMLFailure) -> String {
        let value = try require(values[element], element)
        guard !value.isEmpty else { throw .invalid(element: element.rawValue, value: "") }
        return value
    }

    func etag() throws(XMLFailure) -> ETag {
        let etag = ETag(wire: try required(.etag))
        guard etag.isUsable else {
            throw .textTooLong(element: XMLElement.etag.rawValue, limit: ETag.maximumLength)
        }
        return etag
    }

    func uploadID() throws(XMLFailure) -> UploadID {
        let text = try required(.uploadID)
        guard text.utf8.count <= UploadID.maximumLength else {
            let element = XMLElement.uploadID.rawValue
            throw .textTooLong(element: element, limit: UploadID.maximumLength)
        }
        return UploadID(text)
    }

    func key() throws(XMLFailure) -> ObjectKey? {
        guard let text = values[.key] else { return nil }
        return try encoding.key([UInt8](text.utf8), .key)
    }
}

func decodeFields(
    _ bytes: [UInt8],
    _ root: XMLElement,
    style: PercentEncodingStyle
) throws(XMLFailure) -> XMLFields {
    try decodeXML(bytes, FieldsDecoder(root: root, encoding: XMLKeyEncoding(style: style)))
}

private struct FieldsDecoder: XMLDecoder {
    let root: XMLElement
    private var encoding: XMLKeyEncoding
    private var values: [XMLElement: String] = [:]

    init(root: XMLElement, encoding: XMLKeyEncoding) {
        self.root = root
        self.encoding = encoding
    }

    mutating func close(_ field: XMLField) throws(XMLFailure) {
        guard field.depth == 2, field.isLeaf, field.element != .unknown else { return }
        if field.element == .encodingType { try encoding.set(field) }
        try setOnce(&values[field.element], field.text, field.element)
    }

    func value() throws(XMLFailure) -> XMLFields {
        XMLFields(encoding: encoding, values: values)
    }
}
