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
