internal import SyncModel

/// Decodes a page of ListObjectVersions; `style` is the dialect's.
package func decodeListVersions(
    _ bytes: [UInt8],
    style: PercentEncodingStyle
) throws(XMLFailure) -> ListVersionsPage {
    try decodeXML(bytes, ListVersionsDecoder(style: style))
}

private struct ListVersionsDecoder: XMLDecoder {
    let root = XMLElement.listVersionsResult
    private var encoding: XMLKeyEncoding
    private var entries: [(fields: ListedObject, isMarker: Bool)] = []
    private var current = ListedObject()
    private var isTruncated: Bool?
    private var nextKey: [UInt8]?
    private var nextVersion: String?

    init(style: PercentEncodingStyle) {
        encoding = XMLKeyEncoding(style: style)
    }

    mutating func open(_ element: XMLElement, parent: XMLElement) throws(XMLFailure) {
        if parent == root { current = ListedObject() }
    }

    mutating func close(_ field: XMLField) throws(XMLFailure) {
        switch (field.parent, field.element) {
        case (.version, _), (.deleteMarker, _), (.restoreStatus, .isRestoreInProgress):
            try current.set(field)
        case (.listVersionsResult, .version): entries.append((current, false))
        case (.listVersionsResult, .deleteMarker): entries.append((current, true))
        case (.listVersionsResult, .encodingType): try encoding.set(field)
        case (.listVersionsResult, .isTruncated):
            try setOnce(&isTruncated, try field.boolean(), .isTruncated)
        case (.listVersionsResult, .nextKeyMarker):
            try setOnce(&nextKey, try field.keyBytes(), .nextKeyMarker)
        case (.listVersionsResult, .nextVersionIDMarker):
            try setOnce(&nextVersion, try field.optionalText(), .nextVersionIDMarker)
        default: break
        }
    }

    func value() throws(XMLFailure) -> ListVersionsPage {
        let isTruncated = try require(isTruncated, .isTruncated)
        var versions: [ObjectVersion] = []
        versions.reserveCapacity(entries.count)
        for (fields, isMarker) in entries {
            versions.append(
                ObjectVersion(
                    key: try encoding.key(try require(fields.key, .key), .key),
                    versionID: try require(fields.versionID, .versionID),
                    isLatest: try require(fields.isLatest, .isLatest),
                    lastModified: fields.lastModified,
                    object: isMarker ? nil : try fields.object(encoding)
                )
            )
        }
        guard isTruncated else { return ListVersionsPage(versions: versions, next: nil) }
        let key = try encoding.key(try require(nextKey, .nextKeyMarker), .nextKeyMarker)
        let version = nextVersion.map(VersionID.init(_:))
        return ListVersionsPage(
            versions: versions,
            next: VersionMarker(key: key, versionID: version)
        )
    }
}
