package import SyncModel

package typealias ListVersionsRequest = MarkedListRequest<VersionID>
/// Versions by key, and of one key the newest first.
package typealias ListVersionsPage = MarkedPage<ObjectVersion, VersionID>

/// A version of an object, or a mark that it was deleted.
package struct ObjectVersion: Sendable, Hashable {
    package let key: ObjectKey
    package let versionID: VersionID
    package let isLatest: Bool
    package let lastModified: Timestamp?
    /// Nil for a delete marker.
    package let object: RemoteObject?
}

extension StorageClient {
    package func listVersions(
        _ request: ListVersionsRequest
    ) async throws(StorageError) -> ListVersionsPage {
        try await list(
            "ListObjectVersions",
            "versions",
            request,
            markedBy: "version-id-marker",
            limit: "max-keys",
            decodeListVersions
        )
    }
}

/// Decodes a page of ListObjectVersions; `style` is the dialect's.
package func decodeListVersions(
    _ bytes: [UInt8],
    style: PercentEncodingStyle
) throws(XMLFailure) -> ListVersionsPage {
    let kinds: Set<XMLElement> = [.version, .deleteMarker]
    let page = try decodeFields(bytes, .listVersionsResult, kinds, style: style)
    return try MarkedPage(
        page,
        isTruncated: require(page.boolean(.isTruncated), .isTruncated),
        nextID: .nextVersionIDMarker
    ) { (fields) throws(XMLFailure) in
        ObjectVersion(
            key: try fields.key(),
            versionID: VersionID(try fields.required(.versionID)),
            isLatest: try require(fields.boolean(.isLatest), .isLatest),
            lastModified: fields.time(.lastModified),
            object: fields.element == .deleteMarker ? nil : try fields.object()
        )
    }
}
