package import SyncModel

/// A page of ListObjectsV2.
package struct ListObjectsDocument: Sendable, Hashable {
    /// In the order of the document, which is not checked here; whole keys.
    package let objects: [RemoteObject]
    package let commonPrefixes: [ObjectKey]
    package let isTruncated: Bool
    /// Where the next page begins; nil on the last one.
    package let next: ContinuationToken?
    /// The bucket that the store says it has listed.
    package let bucket: String?
    /// The prefix that the store says it has listed; nil if it said nothing.
    package let prefix: ObjectKey?
    /// The number of objects and common prefixes by the store's count.
    package let keyCount: Int64?
}

/// Decodes a page of ListObjectsV2; `style` is the dialect's.
///
/// The page must say whether it is the last one, and have a token if it is not.
package func decodeListObjects(
    _ bytes: [UInt8],
    style: PercentEncodingStyle
) throws(XMLFailure) -> ListObjectsDocument {
    if let page = PlainListing.read(bytes, style: style) { return page }
    return try decodeAnyListObjects(bytes, style: style)
}

/// The same for a page of any form.
func decodeAnyListObjects(
    _ bytes: [UInt8],
    style: PercentEncodingStyle
) throws(XMLFailure) -> ListObjectsDocument {
    try decodeXML(bytes, ListObjectsDecoder(style: style))
}

struct ListObjectsDecoder: XMLDecoder {
    let root = XMLElement.listBucketResult
    private var encoding: XMLKeyEncoding
    private var entries: [ListedObject] = []
    private var current = ListedObject()
    private var prefixes: [[UInt8]] = []
    private var isTruncated: Bool?
    private var token: String?
    private var bucket: String?
    private var prefix: [UInt8]?
    private var keyCount: Int64?

    init(style: PercentEncodingStyle) {
        encoding = XMLKeyEncoding(style: style)
        entries.reserveCapacity(1_000)
    }

    mutating func open(_ element: XMLElement, parent: XMLElement) throws(XMLFailure) {
        if parent == root, element == .contents { current = ListedObject() }
    }

    mutating func close(_ field: XMLField) throws(XMLFailure) {
        switch (field.parent, field.element) {
        case (.contents, _): try current.set(field)
        case (.restoreStatus, .isRestoreInProgress): try current.set(field)
        case (.listBucketResult, .contents):
            guard current.key != nil else { throw .missing(element: "Key") }
            entries.append(current)
        case (.commonPrefixes, .prefix): prefixes.append(try field.keyBytes())
        case (.listBucketResult, .encodingType): try encoding.set(field)
        case (.listBucketResult, .isTruncated):
            try setOnce(&isTruncated, try field.boolean(), .isTruncated)
        case (.listBucketResult, .nextContinuationToken):
            try setOnce(&token, try field.optionalText(), .nextContinuationToken)
        case (.listBucketResult, .name): try setOnce(&bucket, try field.optionalText(), .name)
        case (.listBucketResult, .prefix): try setOnce(&prefix, try field.keyBytes(), .prefix)
        case (.listBucketResult, .keyCount): try setOnce(&keyCount, try field.number(), .keyCount)
        default: break
        }
    }

    func value() throws(XMLFailure) -> ListObjectsDocument {
        let isTruncated = try require(isTruncated, .isTruncated)
        var objects: [RemoteObject] = []
        objects.reserveCapacity(entries.count)
        for entry in entries { objects.append(try entry.object(encoding)) }
        var commonPrefixes: [ObjectKey] = []
        for prefix in prefixes { commonPrefixes.append(try encoding.key(prefix, .prefix)) }
        var prefix: ObjectKey?
        if let bytes = self.prefix { prefix = ObjectKey(try encoding.decode(bytes, .prefix)) }
        return ListObjectsDocument(
            objects: objects,
            commonPrefixes: commonPrefixes,
            isTruncated: isTruncated,
            next: isTruncated ? try nextToken() : nil,
            bucket: bucket,
            prefix: prefix,
            keyCount: keyCount
        )
    }

    /// OSS encodes the token as it does keys, S3 does not.
    private func nextToken() throws(XMLFailure) -> ContinuationToken {
        let token = try require(token, .nextContinuationToken)
        guard encoding.style == .strict else { return ContinuationToken(token) }
        let decoded = try encoding.decode([UInt8](token.utf8), .nextContinuationToken)
        return ContinuationToken(String(decoding: decoded, as: UTF8.self))
    }
}
