/// One tag of an object.
package struct ObjectTag: Sendable, Hashable {
    package let key: String
    package let value: String
}

/// Decodes the answer to GetObjectTagging.
package func decodeTagging(_ bytes: [UInt8]) throws(XMLFailure) -> [ObjectTag] {
    try decodeXML(bytes, TaggingDecoder())
}

private struct TaggingDecoder: XMLDecoder {
    let root = XMLElement.tagging
    private var tags: [ObjectTag] = []
    private var key: String?
    private var text: String?

    mutating func close(_ field: XMLField) throws(XMLFailure) {
        switch (field.parent, field.element) {
        case (.tag, .key): try setOnce(&key, try field.requiredText(), .key)
        case (.tag, .value): try setOnce(&text, field.text, .value)
        case (.tagSet, .tag):
            tags.append(ObjectTag(key: try require(key, .key), value: text ?? ""))
            key = nil
            text = nil
        default: break
        }
    }

    func value() throws(XMLFailure) -> [ObjectTag] { tags }
}
