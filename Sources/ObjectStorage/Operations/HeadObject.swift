package import SyncModel

/// What the headers of an object say.
package struct ObjectMetadata: Sendable, Hashable {
    /// The size of the whole object, also in the answer to a range.
    package var size: Int64
    package var etag: ETag?
    /// Of the whole object; nil if the server does not know it.
    package var crc64: CRC64?
    package var lastModified: Timestamp?
    package var kind: ObjectKind
    package var storageClass: StorageClass
    package var restoreState: RestoreState?
    package var versionID: VersionID?
    package var contentType: String?
    package var contentEncoding: String?
    /// As sent: Base64.
    package var contentMD5: String?
    /// Names in lower case without the dialect's prefix, values as sent.
    package var userMetadata: [String: String]
    package var requestID: String?

    package init(
        size: Int64,
        etag: ETag?,
        crc64: CRC64? = nil,
        lastModified: Timestamp? = nil,
        kind: ObjectKind = .normal,
        storageClass: StorageClass = .standard,
        restoreState: RestoreState? = nil,
        versionID: VersionID? = nil,
        contentType: String? = nil,
        contentEncoding: String? = nil,
        contentMD5: String? = nil,
        userMetadata: [String: String] = [:],
        requestID: String? = nil
    ) {
        self.size = size
        self.etag = etag
        self.crc64 = crc64
        self.lastModified = lastModified
        self.kind = kind
        self.storageClass = storageClass
        self.restoreState = restoreState
        self.versionID = versionID
        self.contentType = contentType
        self.contentEncoding = contentEncoding
        self.contentMD5 = contentMD5
        self.userMetadata = userMetadata
        self.requestID = requestID
    }
}
