package import SyncModel

package struct ListVersionsRequest: Sendable {
    package var prefix: ObjectKey
    /// Where the page begins: what `next` of the page before said.
    package var marker: VersionMarker?
    package var maximumKeys: Int

    package init(prefix: ObjectKey, marker: VersionMarker?, maximumKeys: Int) {
        self.prefix = prefix
        self.marker = marker
        self.maximumKeys = maximumKeys
    }
}

/// A position in a listing of versions.
package struct VersionMarker: Sendable, Hashable {
    package let key: ObjectKey
    package let versionID: VersionID?

    package init(key: ObjectKey, versionID: VersionID?) {
        self.key = key
        self.versionID = versionID
    }
}

/// A version of an object, or a mark that it was deleted.
package struct ObjectVersion: Sendable, Hashable {
    package let key: ObjectKey
    package let versionID: VersionID
    package let isLatest: Bool
    package let lastModified: Timestamp?
    /// Nil for a delete marker.
    package let object: RemoteObject?

    package init(
        key: ObjectKey,
        versionID: VersionID,
        isLatest: Bool,
        lastModified: Timestamp?,
        object: RemoteObject?
    ) {
        self.key = key
        self.versionID = versionID
        self.isLatest = isLatest
        self.lastModified = lastModified
        self.object = object
    }
}

/// Versions by key, and of one key the newest first.
package struct ListVersionsPage: Sendable {
    package var versions: [ObjectVersion]
    /// Nil on the last page.
    package var next: VersionMarker?

    package init(versions: [ObjectVersion], next: VersionMarker?) {
        self.versions = versions
        self.next = next
    }
}

extension StorageClient {
    package func listVersions(
        _ request: ListVersionsRequest
    ) async throws(StorageError) -> ListVersionsPage {
        var wire = StorageRequest("ListObjectVersions", .get, nil)
        wire.query = [("versions", "")]
        if !request.prefix.isEmpty { wire.query.append(("prefix", request.prefix.queryText)) }
        if let marker = request.marker {
            wire.query.append(("key-marker", marker.key.queryText))
            if let version = marker.versionID {
                wire.query.append(("version-id-marker", version.text))
            }
        }
        wire.query.append(("max-keys", String(request.maximumKeys)))
        wire.query.append(("encoding-type", "url"))
        let listing = wire
        return try await repeating { (context) throws(StorageError) in
            let response = try await self.send(listing, &context)
            return try listing.decoding(response, self) { (body) throws(XMLFailure) in
                try decodeListVersions(body, style: self.keyEncoding(of: body))
            }
        }
    }
}
