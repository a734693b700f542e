package import SyncModel

/// What is written with an object, by PutObject or by InitiateMultipartUpload.
package struct PutRequest: Sendable {
    package var key: ObjectKey
    /// Nil: the service's default.
    package var contentType: String?
    /// Names without the dialect's prefix; values in ASCII, not empty.
    package var userMetadata: [(name: String, value: String)]
    /// Nil: the bucket's own.
    package var storageClass: StorageClass?
    /// An object that exists already is an error.
    package var forbidsOverwrite: Bool
    package var callback: UploadCallback?

    package init(
        key: ObjectKey,
        contentType: String? = nil,
        userMetadata: [(name: String, value: String)] = [],
        storageClass: StorageClass? = nil,
        forbidsOverwrite: Bool = false,
        callback: UploadCallback? = nil
    ) {
        self.key = key
        self.contentType = contentType
        self.userMetadata = userMetadata
        self.storageClass = storageClass
        self.forbidsOverwrite = forbidsOverwrite
        self.callback = callback
    }
}

/// A request that OSS makes to another server once the object is stored.
package struct UploadCallback: Sendable, Hashable {
    /// The value of `x-oss-callback`: a JSON document, not yet in Base64.
    package var parameters: String
    /// The value of `x-oss-callback-var`: a JSON document, not yet in Base64.
    package var variables: String?

    package init(parameters: String, variables: String? = nil) {
        self.parameters = parameters
        self.variables = variables
    }
}

package struct PutResult: Sendable, Hashable {
    package var etag: ETag
    /// The server's, of the whole object; for a put it was already compared with ours.
    package var crc64: CRC64?
    /// Of what was sent; nil if nothing was.
    package var sentChecksum: CRC64?
    /// The MD5 of what was sent, in lower-case hexadecimal digits; nil if nothing was.
    package var sentMD5: String?
    package var versionID: VersionID?
    /// What the callback's server answered.
    package var callbackBody: [UInt8]?
    /// The object is stored, but its callback failed: what the service said of it.
    package var callbackFailure: String?
    package var requestID: String?

    package init(
        etag: ETag,
        crc64: CRC64? = nil,
        sentChecksum: CRC64? = nil,
        sentMD5: String? = nil,
        versionID: VersionID? = nil,
        callbackBody: [UInt8]? = nil,
        callbackFailure: String? = nil,
        requestID: String? = nil
    ) {
        self.etag = etag
        self.crc64 = crc64
        self.sentChecksum = sentChecksum
        self.sentMD5 = sentMD5
        self.versionID = versionID
        self.callbackBody = callbackBody
        self.callbackFailure = callbackFailure
        self.requestID = requestID
    }
}
