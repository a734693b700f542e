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
    try ListObjectsDocument(decodeXML(bytes, FieldsDecoder.ofObjects(style)))
}

extension FieldsDecoder {
    static func ofObjects(_ style: PercentEncodingStyle) -> FieldsDecoder {
        FieldsDecoder(root: .listBucketResult, kinds: [.contents, .commonPrefixes], style: style)
    }
}

extension ListObjectsDocument {
    init(_ page: XMLFields) throws(XMLFailure) {
        var objects: [RemoteObject] = []
        objects.reserveCapacity(page.entries.count)
        var commonPrefixes: [ObjectKey] = []
        for entry in page.entries {
            if entry.element == .contents {
                objects.append(try entry.object())
            } else {
                commonPrefixes += try entry.commonPrefixes()
            }
        }
        let isTruncated = try require(page.boolean(.isTruncated), .isTruncated)
        var prefix: ObjectKey?
        if let text = page[.prefix] {
            prefix = ObjectKey(try page.encoding.keyBytes(text, .prefix))
        }
        self.init(
            objects: objects,
            commonPrefixes: commonPrefixes,
            isTruncated: isTruncated,
            next: isTruncated ? try Self.token(of: page) : nil,
            bucket: page.text(.name),
            prefix: prefix,
            keyCount: try page.number(.keyCount)
        )
    }

    /// OSS encodes the token as it does keys, S3 does not.
    private static func token(of page: XMLFields) throws(XMLFailure) -> ContinuationToken {
        let element = XMLElement.nextContinuationToken
        let text = try require(page.text(element), element)
        guard page.encoding.style == .strict else { return ContinuationToken(text) }
        let decoded = try page.encoding.decode(text, element)
        return ContinuationToken(String(decoding: decoded, as: UTF8.self))
    }
}
