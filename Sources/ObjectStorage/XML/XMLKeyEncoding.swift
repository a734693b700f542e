internal import SyncModel

/// How the keys of a document are written, known when all of it was read.
struct XMLKeyEncoding {
    /// What stands for a space, in a document that says it is encoded.
    let style: PercentEncodingStyle
    let isURL: Bool

    /// `name` is what the document calls its encoding; nil or empty if it says nothing.
    init(_ name: String?, style: PercentEncodingStyle) throws(XMLFailure) {
        self.style = style
        isURL = name == "url"
        guard isURL || name?.isEmpty != false else { throw .invalid(.encodingType, name ?? "") }
    }

    /// Decodes exactly once, and only if the document says that it is encoded: a store may ignore
    /// that encoding was asked for.
    func decode(_ text: String, _ element: XMLElement) throws(XMLFailure) -> [UInt8] {
        var bytes = [UInt8](text.utf8)
        guard !isURL || percentDecodeInPlace(&bytes, style: style) else {
            throw .invalid(element, text)
        }
        return bytes
    }

    /// The same for a key, or the beginning of one, which is no longer than a key can be.
    func keyBytes(_ text: String, _ element: XMLElement) throws(XMLFailure) -> [UInt8] {
        guard text.utf8.count <= XMLLimits.keyTextBytes else {
            throw .textTooLong(element: element.rawValue, limit: XMLLimits.keyTextBytes)
        }
        return try decode(text, element)
    }

    func key(_ text: String, _ element: XMLElement) throws(XMLFailure) -> ObjectKey {
        let key = ObjectKey(try keyBytes(text, element))
        guard !key.isEmpty else { throw .invalid(element, "") }
        return key
    }
}
