/// An instant, as stores and runs report it.
public struct StoreTime: Sendable, Hashable, Comparable {
    /// Whole seconds since 1970 UTC.
    public let secondsSince1970: Int64
    /// Nanoseconds within the second, from 0 to 999,999,999, also before 1970; 0 where the store
    /// reports whole seconds.
    public let nanoseconds: Int32

    /// Makes an instant; of nanoseconds out of their bounds, the nearest ones within them.
    public init(secondsSince1970: Int64, nanoseconds: Int32 = 0) {
        self.secondsSince1970 = secondsSince1970
        self.nanoseconds = min(max(nanoseconds, 0), 999_999_999)
    }

    /// RFC 3339 in UTC with milliseconds, such as `2026-01-02T03:04:05.000Z`.
    public var text: String {
        CivilTime(timestamp).extendedText(milliseconds: Int(nanoseconds / 1_000_000))
    }

    /// Earlier comes first.
    public static func < (left: StoreTime, right: StoreTime) -> Bool {
        (left.secondsSince1970, left.nanoseconds) < (right.secondsSince1970, right.nanoseconds)
    }

    package init(_ time: Timestamp) {
        self.init(secondsSince1970: time.seconds, nanoseconds: time.nanoseconds)
    }

    package var timestamp: Timestamp {
        Timestamp(seconds: secondsSince1970, nanoseconds: nanoseconds)
    }
}
