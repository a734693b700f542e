internal import SyncModel

extension XMLField {
    /// A number of plain digits below 2^63.
    func number() throws(XMLFailure) -> Int64 {
        guard isLeaf, let number = parseDecimal(bytes) else { throw invalid }
        return number
    }

    func boolean() throws(XMLFailure) -> Bool {
        guard isLeaf else { throw invalid }
        if bytes.elementsEqual("true".utf8) { return true }
        if bytes.elementsEqual("false".utf8) { return false }
        throw invalid
    }

    /// A key or prefix as the document has it, perhaps still encoded.
    func keyBytes() throws(XMLFailure) -> [UInt8] {
        guard isLeaf else { throw invalid }
        guard bytes.count <= XMLLimits.keyTextBytes else {
            throw .textTooLong(element: element.rawValue, limit: XMLLimits.keyTextBytes)
        }
        return [UInt8](bytes)
    }

    /// Text that must not be empty.
    func requiredText() throws(XMLFailure) -> String {
        guard isLeaf, !bytes.isEmpty else { throw invalid }
        return text
    }

    func etag() throws(XMLFailure) -> ETag {
        let etag = ETag(wire: try requiredText())
        guard etag.isUsable else {
            throw .textTooLong(element: element.rawValue, limit: ETag.maximumLength)
        }
        return etag
    }

    func uploadID() throws(XMLFailure) -> UploadID {
        let text = try requiredText()
        guard text.utf8.count <= UploadID.maximumLength else {
            throw .textTooLong(element: element.rawValue, limit: UploadID.maximumLength)
        }
        return UploadID(text)
    }

    /// Nil for an empty element, which stands for an absent one.
    func optionalText() throws(XMLFailure) -> String? {
        guard isLeaf else { throw invalid }
        return bytes.isEmpty ? nil : text
    }

    /// Nil for a time that can't be read: nothing depends on the store's time alone.
    func timestamp() -> Timestamp? {
        isLeaf ? Timestamp(extendedText: text) : nil
    }

    /// True for `url`, false for an empty element.
    func isURLEncoding() throws(XMLFailure) -> Bool {
        guard isLeaf else { throw invalid }
        if bytes.isEmpty { return false }
        guard bytes.elementsEqual("url".utf8) else { throw invalid }
        return true
    }

    var invalid: XMLFailure {
        .invalid(
            element: name,
            value: String(decoding: bytes.prefix(64), as: UTF8.self)
        )
    }
}

/// Sets what a document may say once.
func setOnce<Value>(
    _ place: inout Value?,
    _ value: Value?,
    _ element: XMLElement
) throws(XMLFailure) {
    guard place == nil else { throw .duplicate(element: element.rawValue) }
    place = value
}

/// What a document must have said.
func require<Value>(_ value: Value?, _ element: XMLElement) throws(XMLFailure) -> Value {
    guard let value else { throw .missing(element: element.rawValue) }
    return value
}

/// How the keys of a document are written, known when all of it was read.
struct XMLKeyEncoding {
    /// What stands for a space, in a document that says it is encoded.
    let style: PercentEncodingStyle
    private(set) var isURL: Bool?

    init(style: PercentEncodingStyle) {
        self.style = style
    }

    mutating func set(_ field: XMLField) throws(XMLFailure) {
        try setOnce(&isURL, try field.isURLEncoding(), .encodingType)
    }

    /// Decodes exactly once, and only if the document says that it is encoded: a store may ignore
    /// that encoding was asked for.
    func decode(_ bytes: [UInt8], _ element: XMLElement) throws(XMLFailure) -> [UInt8] {
        guard isURL == true else { return bytes }
        var decoded = bytes
        guard percentDecodeInPlace(&decoded, style: style) else {
            throw .invalid(
                element: element.rawValue,
                value: String(decoding: bytes.prefix(64), as: UTF8.self)
            )
        }
        return decoded
    }

    func key(_ bytes: [UInt8], _ element: XMLElement) throws(XMLFailure) -> ObjectKey {
        let key = ObjectKey(try decode(bytes, element))
        guard !key.isEmpty else { throw .invalid(element: element.rawValue, value: "") }
        return key
    }
}
