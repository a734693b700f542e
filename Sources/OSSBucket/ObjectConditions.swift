internal import ObjectStorage
public import SyncModel

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
            ifModifiedSince: ifModifiedSince?.withinHTTPDates,
            ifUnmodifiedSince: ifUnmodifiedSince?.withinHTTPDates
        )
    }
}

extension StoreTime {
    /// The nearest instant from 1970 to 9999: dates of HTTP have four digits for the year, and no
    /// object was written outside of these years.
    fileprivate var withinHTTPDates: Timestamp {
        let last: Int64 = 253_402_300_799
        return Timestamp(seconds: min(max(secondsSince1970, 0), last))
    }
}
