package import ObjectStorage
public import SyncModel

/// What the headers of an object say.
public struct ObjectInfo: Sendable, Hashable {
    /// The whole key, not escaped.
    public let key: String
    /// Bytes of the whole object, also where only a range of it was read.
    public let size: Int64
    /// The tag of this version, without quotes; opaque, and empty if the store gave none.
    public let etag: String
    /// CRC-64 (ECMA-182, as `x-oss-hash-crc64ecma`) of the whole object; nil if the store has none.
    public let crc64: UInt64?
    /// When the object was last written; nil if the store does not say.
    public let lastModified: StoreTime?
    /// The type that was given when it was written.
    public let contentType: String?
    /// The store's name of the storage class.
    public let storageClass: String
    /// The user's metadata: names in lower case without `x-oss-meta-`, values as they were sent.
    public let metadata: [String: String]
    /// The version in a versioned bucket.
    public let versionID: String?
    /// The service's id of the request, for its support.
    public let requestID: String?

    /// Makes a description, for tests and previews.
    public init(
        key: String,
        size: Int64,
        etag: String,
        crc64: UInt64? = nil,
        lastModified: StoreTime? = nil,
        contentType: String? = nil,
        storageClass: String = "Standard",
        metadata: [String: String] = [:],
        versionID: String? = nil,
        requestID: String? = nil
    ) {
        self.key = key
        self.size = size
        self.etag = etag
        self.crc64 = crc64
        self.lastModified = lastModified
        self.contentType = contentType
        self.storageClass = storageClass
        self.metadata = metadata
        self.versionID = versionID
        self.requestID = requestID
    }

    package init(_ key: String, _ metadata: ObjectMetadata) {
        self.key = key
        size = metadata.size
        etag = metadata.etag?.text ?? ""
        crc64 = metadata.crc64?.value
        lastModified = metadata.lastModified.map { StoreTime($0) }
        contentType = metadata.contentType
        storageClass = metadata.storageClass.name
        self.metadata = metadata.userMetadata
        versionID = metadata.versionID?.text
        requestID = metadata.requestID
    }
}
