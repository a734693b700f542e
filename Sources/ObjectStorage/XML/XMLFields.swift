internal import SyncModel

/// The leaves right below an element: the root of a document, or an entry of a listing.
struct XMLFields {
    /// The element that they are in.
    let element: XMLElement
    let encoding: XMLKeyEncoding
    fileprivate let leaves: [XMLLeaf]
    /// The entries of a listing, in their order; empty for an entry.
    let entries: [XMLFields]

    /// The text of the first leaf of that name.
    subscript(element: XMLElement) -> String? {
        leaves.first { $0.element == element }?.text
    }

    /// The same; nil for an empty element, which stands for an absent one.
    func text(_ element: XMLElement) -> String? {
        self[element].flatMap { $0.isEmpty ? nil : $0 }
    }

    func required(_ element: XMLElement) throws(XMLFailure) -> String {
        let text = try require(self[element], element)
        guard !text.isEmpty else { throw .invalid(element, text) }
        return text
    }

    /// Nil if there is none.
    func boolean(_ element: XMLElement) throws(XMLFailure) -> Bool? {
        switch self[element] {
        case nil: nil
        case "true": true
        case "false": false
        case let text?: throw .invalid(element, text)
        }
    }

    /// A number of plain digits below 2^63; nil if there is none.
    func number(_ element: XMLElement) throws(XMLFailure) -> Int64? {
        guard let text = self[element] else { return nil }
        guard let number = parseDecimal(text.utf8) else { throw .invalid(element, text) }
        return number
    }

    /// Nil for a time that can't be read: nothing depends on the store's time alone.
    func time(_ element: XMLElement) -> Timestamp? {
        self[element].flatMap { Timestamp(extendedText: $0) }
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

    func key(_ element: XMLElement = .key) throws(XMLFailure) -> ObjectKey {
        try encoding.key(try require(self[element], element), element)
    }

    /// The key that an answer may repeat.
    func optionalKey() throws(XMLFailure) -> ObjectKey? {
        self[.key] == nil ? nil : try key()
    }

    /// The object that an entry of a listing describes.
    func object() throws(XMLFailure) -> RemoteObject {
        var restoreState = self[.restoreInfo].flatMap { RestoreState(headerValue: $0) }
        if let isOngoing = try boolean(.isRestoreInProgress) {
            restoreState = isOngoing ? .ongoing : .restored
        }
        return RemoteObject(
            key: try key(),
            // The plan skips an object with an impossible size; the others are usable.
            size: parseDecimal(try require(self[.size], .size).utf8) ?? Int64.max,
            etag: try etag(),
            lastModified: time(.lastModified),
            storageClass: text(.storageClass).map(StorageClass.init(name:)) ?? .standard,
            kind: self[.type].flatMap { ObjectKind(rawValue: $0) } ?? .normal,
            restoreState: restoreState
        )
    }

    /// How keys begin that a listing puts together; some stores name several in one entry.
    func commonPrefixes() throws(XMLFailure) -> [ObjectKey] {
        var prefixes: [ObjectKey] = []
        for leaf in leaves where leaf.element == .prefix {
            prefixes.append(try encoding.key(leaf.text, .prefix))
        }
        return prefixes
    }
}

/// An element that has only text.
private struct XMLLeaf {
    let element: XMLElement
    let text: String
}

extension [XMLLeaf] {
    fileprivate mutating func addOnce(_ field: XMLField) throws(XMLFailure) {
        guard !contains(where: { $0.element == field.element }) else {
            throw .duplicate(element: field.element.rawValue)
        }
        append(XMLLeaf(element: field.element, text: field.text))
    }
}

/// Decodes a document of leaves and, in a listing, of entries, which are the elements of `kinds`
/// below the root.
func decodeFields(
    _ bytes: [UInt8],
    _ root: XMLElement,
    _ kinds: Set<XMLElement> = [],
    style: PercentEncodingStyle
) throws(XMLFailure) -> XMLFields {
    try decodeXML(bytes, FieldsDecoder(root: root, kinds: kinds, style: style))
}

struct FieldsDecoder: XMLDecoder {
    let root: XMLElement
    private let kinds: Set<XMLElement>
    private let style: PercentEncodingStyle
    private var leaves: [XMLLeaf] = []
    private var entries: [(kind: XMLElement, leaves: [XMLLeaf])] = []
    private var current: [XMLLeaf] = []

    /// What an object may have several of in a listing.
    private static let repeatable: Set<XMLElement> = [.prefix, .checksumAlgorithm]

    init(root: XMLElement, kinds: Set<XMLElement>, style: PercentEncodingStyle) {
        self.root = root
        self.kinds = kinds
        self.style = style
    }

    mutating func close(_ field: XMLField) throws(XMLFailure) {
        switch field.depth {
        case 2 where kinds.contains(field.element):
            entries.append((field.element, current))
            current = []
        case 2:
            current = []
            guard field.isLeaf, field.element != .unknown else { return }
            try leaves.addOnce(field)
        case 3 where kinds.contains(field.parent),
            4 where field.parent == .restoreStatus:
            guard field.isLeaf, field.element != .unknown else { return }
            if current.isEmpty { current.reserveCapacity(8) }
            if Self.repeatable.contains(field.element) {
                current.append(XMLLeaf(element: field.element, text: field.text))
            } else {
                try current.addOnce(field)
            }
        default: break
        }
    }

    func value() throws(XMLFailure) -> XMLFields {
        let name = leaves.first { $0.element == .encodingType }?.text
        let encoding = try XMLKeyEncoding(name, style: style)
        return XMLFields(
            element: root,
            encoding: encoding,
            leaves: leaves,
            entries: entries.map { kind, leaves in
                XMLFields(element: kind, encoding: encoding, leaves: leaves, entries: [])
            }
        )
    }
}
