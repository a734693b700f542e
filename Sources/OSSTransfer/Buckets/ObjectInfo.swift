internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// An instant as the store reports it, in whole seconds.
public struct StoreTime: Sendable, Hashable, Comparable {
    /// Seconds since 1970 UTC.
    public let secondsSince1970: Int64

    /// Makes an instant.
    public init(secondsSince1970: Int64) {
        self.secondsSince1970 = secondsSince1970
    }

    /// RFC 3339 in UTC, such as `2026-01-02T03:04:05.000Z`.
    public var text: String {
        CivilTime(Timestamp(seconds: secondsSince1970)).extendedText(milliseconds: 0)
    }

    /// In the local time zone, such as `2026-01-02 03:04:05`.
    public var localText: String { WallClock.local(secondsSince1970).text }

    /// How far the local time zone is from UTC at this instant, such as `+01:00`.
    public var localOffset: String { WallClock.local(secondsSince1970).offset }

    /// Earlier comes first.
    public static func < (left: StoreTime, right: StoreTime) -> Bool {
        left.secondsSince1970 < right.secondsSince1970
    }

    init(_ time: Timestamp) { self.init(secondsSince1970: time.seconds) }

    var timestamp: Timestamp { Timestamp(seconds: secondsSince1970) }
}

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

    init(_ key: String, _ metadata: ObjectMetadata) {
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

/// Conditions on the version of an object to read; with none set, any version.
///
/// With `ifMatch` or `ifUnmodifiedSince` the answer can be `preconditionFailed` (412), with
/// `ifNoneMatch` or `ifModifiedSince` `notModified` (304). OSS checks all conditions; S3 ignores
/// the times if tags are given.
public struct ObjectConditions: Sendable, Hashable {
    /// The object must have this tag.
    public var ifMatch: String?
    /// The object must have another tag.
    public var ifNoneMatch: String?
    /// The object must have been written after this instant.
    public var ifModifiedSince: StoreTime?
    /// The object must not have been written after this instant.
    public var ifUnmodifiedSince: StoreTime?

    /// Makes conditions; those left out hold always.
    public init(
        ifMatch: String? = nil,
        ifNoneMatch: String? = nil,
        ifModifiedSince: StoreTime? = nil,
        ifUnmodifiedSince: StoreTime? = nil
    ) {
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
        self.ifModifiedSince = ifModifiedSince
        self.ifUnmodifiedSince = ifUnmodifiedSince
    }

    /// No conditions.
    public static let none = ObjectConditions()

    var wire: ReadConditions {
        ReadConditions(
            ifMatch: ifMatch.map { ETag(wire: $0) },
            ifNoneMatch: ifNoneMatch.map { ETag(wire: $0) },
            ifModifiedSince: ifModifiedSince?.timestamp,
            ifUnmodifiedSince: ifUnmodifiedSince?.timestamp
        )
    }
}
