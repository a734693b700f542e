package import SyncModel

package struct GetRequest: Sendable {
    package var key: ObjectKey
    /// Nil for the whole object, as it must be of an empty one.
    package var range: ByteRange?
    package var ifMatch: ETag?
    package var versionID: VersionID?
    package var ifNoneMatch: ETag?
    package var ifModifiedSince: Timestamp?
    package var ifUnmodifiedSince: Timestamp?

    package init(
        key: ObjectKey,
        range: ByteRange? = nil,
        ifMatch: ETag? = nil,
        versionID: VersionID? = nil,
        ifNoneMatch: ETag? = nil,
        ifModifiedSince: Timestamp? = nil,
        ifUnmodifiedSince: Timestamp? = nil
    ) {
        self.key = key
        self.range = range
        self.ifMatch = ifMatch
        self.versionID = versionID
        self.ifNoneMatch = ifNoneMatch
        self.ifModifiedSince = ifModifiedSince
        self.ifUnmodifiedSince = ifUnmodifiedSince
    }
}
