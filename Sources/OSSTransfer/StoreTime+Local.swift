public import SyncModel

extension StoreTime {
    /// In the local time zone, such as `2026-01-02 03:04:05`.
    public var localText: String { WallClock.local(secondsSince1970).text }

    /// How far the local time zone is from UTC at this instant, such as `+01:00`.
    public var localOffset: String { WallClock.local(secondsSince1970).offset }
}
