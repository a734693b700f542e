internal import SyncModel

/// Reads a page of ListObjectsV2 in the form that stores send, in place.
///
/// One pass over the bytes, with nothing made but the objects. Nil for whatever is not exactly of
/// that form: known elements once each, without attributes; text in printable ASCII without
/// entities, but for the quotes of a tag. Such a page is left to the decoder of any XML, which
/// reads all that this reads, to the same objects.
struct PlainListing {
    private let bytes: [UInt8]
    private let style: PercentEncodingStyle
    private var place = 0
    private var isEncoded = false
    private var isTruncated: Bool?
    private var token: Range<Int>?
    private var bucket: Range<Int>?
    private var prefix: Range<Int>?
    private var keyCount: Int64?
    private var objects: [RemoteObject] = []
    /// A bit for each kind of element that may be there once.
    private var seen: UInt8 = 0

    static func read(_ bytes: [UInt8], style: PercentEncodingStyle) -> ListObjectsDocument? {
        guard bytes.count <= XMLLimits.result.documentBytes else { return nil }
        var listing = PlainListing(bytes: bytes, style: style)
        return listing.read()
    }

    private init(bytes: [UInt8], style: PercentEncodingStyle) {
        self.bytes = bytes
        self.style = style
        objects.reserveCapacity(1_000)
    }

    private mutating func read() -> ListObjectsDocument? {
        _ = take("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
        skipBlanks()
        guard take("<ListBucketResult"), skipNamespace() else { return nil }
        while true {
            skipBlanks()
            if take("</ListBucketResult>") { break }
            guard readElement() else { return nil }
        }
        skipBlanks()
        guard place == bytes.count else { return nil }
        return document()
    }

    private func document() -> ListObjectsDocument? {
        guard let isTruncated else { return nil }
        var next: ContinuationToken?
        if isTruncated {
            guard let token else { return nil }
            // OSS encodes the token as it does keys, S3 does not.
            guard let text = style == .strict ? decoded(token) : Array(bytes[token]) else {
                return nil
            }
            next = ContinuationToken(String(decoding: text, as: UTF8.self))
        }
        var listed: ObjectKey?
        if let prefix {
            guard let key = decoded(prefix) else { return nil }
            listed = ObjectKey(key)
        }
        return ListObjectsDocument(
            objects: objects,
            commonPrefixes: [],
            isTruncated: isTruncated,
            next: next,
            bucket: bucket.map(text),
            prefix: listed,
            keyCount: keyCount
        )
    }
}

// MARK: - Elements

extension PlainListing {
    /// One element below the root; false where it is not a plain one.
    private mutating func readElement() -> Bool {
        if take("<Contents>") {
            guard let object = readObject() else { return false }
            objects.append(object)
            return true
        }
        guard take("<") else { return false }
        return readDescription() || passElement()
    }

    /// What the page says of itself: of each kind one, and the encoding before the first key.
    private mutating func readDescription() -> Bool {
        if take("Name>") {
            bucket = once(0, "</Name>")
            return bucket.map { !$0.isEmpty } ?? false
        }
        if take("Prefix>") {
            prefix = once(1, "</Prefix>")
            return prefix != nil
        }
        if take("Prefix/>") {
            prefix = place..<place
            return isFirst(1)
        }
        if take("EncodingType>") {
            guard objects.isEmpty, let value = once(2, "</EncodingType>") else { return false }
            isEncoded = text(value) == "url"
            return isEncoded
        }
        if take("IsTruncated>") {
            guard let value = once(3, "</IsTruncated>") else { return false }
            isTruncated = text(value) == "true"
            return isTruncated == true || text(value) == "false"
        }
        if take("NextContinuationToken>") {
            token = once(4, "</NextContinuationToken>")
            return token.map { !$0.isEmpty } ?? false
        }
        if take("KeyCount>") {
            keyCount = once(5, "</KeyCount>").flatMap { parseDecimal(bytes[$0]) }
            return keyCount != nil
        }
        return false
    }

    /// What repeats the request.
    private mutating func passElement() -> Bool {
        if take("MaxKeys>") { return readText("</MaxKeys>") != nil }
        if take("StartAfter>") { return readText("</StartAfter>") != nil }
        if take("ContinuationToken>") { return readText("</ContinuationToken>") != nil }
        if take("Delimiter>") { return readText("</Delimiter>") != nil }
        return take("StartAfter/>") || take("Delimiter/>")
    }

    private mutating func once(_ kind: UInt8, _ end: StaticString) -> Range<Int>? {
        isFirst(kind) ? readText(end) : nil
    }

    private mutating func isFirst(_ kind: UInt8) -> Bool {
        defer { seen |= 1 << kind }
        return seen & 1 << kind == 0
    }

    /// What follows the start of an object's element, through its end.
    private mutating func readObject() -> RemoteObject? {
        var key: ObjectKey?
        var size: Int64?
        var etag: ETag?
        var modified: Range<Int>?
        var kind: Range<Int>?
        var storageClass: Range<Int>?
        while !take("</Contents>") {
            if key == nil, take("<Key>") {
                guard let place = readText("</Key>"), let name = decoded(place), !name.isEmpty
                else { return nil }
                key = ObjectKey(name)
            } else if size == nil, take("<Size>") {
                guard let place = readText("</Size>"), let number = parseDecimal(bytes[place])
                else { return nil }
                size = number
            } else if etag == nil, take("<ETag>") {
                guard let tag = readTag() else { return nil }
                etag = tag
            } else if modified == nil, take("<LastModified>") {
                guard let place = readText("</LastModified>") else { return nil }
                modified = place
            } else if storageClass == nil, take("<StorageClass>") {
                guard let place = readText("</StorageClass>"), !place.isEmpty else { return nil }
                storageClass = place
            } else if kind == nil, take("<Type>") {
                guard let place = readText("</Type>") else { return nil }
                kind = place
            } else if take("<Owner><ID>") {
                guard readText("</ID>") != nil else { return nil }
                if take("<DisplayName>"), readText("</DisplayName>") == nil { return nil }
                guard take("</Owner>") else { return nil }
            } else {
                return nil
            }
        }
        guard let key, let size, let etag else { return nil }
        return RemoteObject(
            key: key,
            size: size,
            etag: etag,
            lastModified: modified.flatMap { Timestamp(extendedBytes: bytes[$0]) },
            storageClass: storageClass.map { StorageClass(name: text($0)) } ?? .standard,
            kind: kind.flatMap { ObjectKind(rawValue: text($0)) } ?? .normal
        )
    }

    /// A tag between quotes of either form.
    private mutating func readTag() -> ETag? {
        let isEntity = take("&quot;")
        guard isEntity || take("\"") else { return nil }
        let start = place
        while place < bytes.count, isPlain(bytes[place]), bytes[place] != UInt8(ascii: "\"") {
            place += 1
        }
        let text = start..<place
        guard !text.isEmpty, text.count <= ETag.maximumLength,
            isEntity ? take("&quot;</ETag>") : take("\"</ETag>")
        else { return nil }
        return ETag(wire: self.text(text))
    }
}

// MARK: - Text

extension PlainListing {
    private func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "<") && byte != UInt8(ascii: ">")
            && byte != UInt8(ascii: "&")
    }

    /// Text up to the end tag, which is passed.
    private mutating func readText(_ end: StaticString) -> Range<Int>? {
        let start = place
        while place < bytes.count, isPlain(bytes[place]) { place += 1 }
        let text = start..<place
        return text.count <= XMLLimits.keyTextBytes && take(end) ? text : nil
    }

    /// Passes `literal` if it is next.
    private mutating func take(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        guard bytes.count - place >= count else { return false }
        let isNext = literal.withUTF8Buffer { literal in
            for index in 0..<count where unsafe bytes[place + index] != literal[index] {
                return false
            }
            return true
        }
        if isNext { place += count }
        return isNext
    }

    private mutating func skipBlanks() {
        while place < bytes.count, bytes[place].isWhiteSpace { place += 1 }
    }

    /// The rest of the root's start tag.
    private mutating func skipNamespace() -> Bool {
        if take(">") { return true }
        guard take(" xmlns=\"") else { return false }
        while place < bytes.count, isPlain(bytes[place]), bytes[place] != UInt8(ascii: "\"") {
            place += 1
        }
        return take("\">")
    }

    private func text(_ place: Range<Int>) -> String {
        String(decoding: bytes[place], as: UTF8.self)
    }

    /// What stands there, with its escapes undone; nil if one is broken.
    private func decoded(_ place: Range<Int>) -> [UInt8]? {
        var result = Array(bytes[place])
        guard isEncoded else { return result }
        return percentDecodeInPlace(&result, style: style) ? result : nil
    }
}
