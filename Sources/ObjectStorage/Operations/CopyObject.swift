package import SyncModel

/// A copy within the bucket, made by the server.
package struct CopyRequest: Sendable {
    package var source: ObjectKey
    /// The version that is meant; any other is an error.
    package var sourceETag: ETag?
    package var destination: ObjectKey
    /// Nil: that of the source; else it replaces the source's.
    package var userMetadata: [(name: String, value: String)]?
    package var contentType: String?
    package var forbidsOverwrite: Bool

    package init(
        source: ObjectKey,
        sourceETag: ETag? = nil,
        destination: ObjectKey,
        userMetadata: [(name: String, value: String)]? = nil,
        contentType: String? = nil,
        forbidsOverwrite: Bool = false
    ) {
        self.source = source
        self.sourceETag = sourceETag
        self.destination = destination
        self.userMetadata = userMetadata
        self.contentType = contentType
        self.forbidsOverwrite = forbidsOverwrite
    }
}
