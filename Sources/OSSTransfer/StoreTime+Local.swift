public import SyncModel

extension StoreTime {
    /// In the local time zone, such as `2026-01-02 03:04:05`.
    package var localText: String { WallClock.local(secondsSince1970).text }

    /// True for a time that a clock cannot have shown unless it was wrong, or is now.
    public var isInFuture: Bool { secondsSince1970 - WallClock.now().seconds > 300 }

    /// How far the local time zone is from UTC at this instant, such as `+01:00`.
    package var localOffset: String { WallClock.local(secondsSince1970).offset }
}
