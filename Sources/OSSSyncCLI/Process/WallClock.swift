internal import CLibrary
internal import OSSSync

/// The time of day of this machine.
enum WallClock {
    static func now() -> (seconds: Int64, nanoseconds: Int) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return (Int64(time.tv_sec), time.tv_nsec)
    }

    /// `2026-01-02T03:04:05.678Z`, the form of JSON lines.
    static func text() -> String {
        let (seconds, nanoseconds) = now()
        let digits = String(1_000 + nanoseconds / 1_000_000).dropFirst()
        return StoreTime(secondsSince1970: seconds).text.dropLast(4) + digits + "Z"
    }

    /// The local time of an instant; the weekday counts from 0 for Sunday.
    static func civil(_ seconds: Int64) -> (weekday: Int, hour: Int, minute: Int) {
        var (time, civil) = unsafe (time_t(seconds), tm())
        guard unsafe localtime_r(&time, &civil) != nil else { return (0, 0, 0) }
        return unsafe (Int(civil.tm_wday), Int(civil.tm_hour), Int(civil.tm_min))
    }

    /// A civil time, local or UTC, in seconds since 1970; nil for a day that no month has.
    static func seconds(
        year: Int,
        month: Int,
        day: Int,
        clock: [Int],
        isUTC: Bool
    ) -> Int64? {
        var civil = unsafe tm()
        unsafe civil.tm_year = Int32(year - 1900)
        unsafe civil.tm_mon = Int32(month - 1)
        unsafe civil.tm_mday = Int32(day)
        unsafe civil.tm_hour = Int32(clock[0])
        unsafe civil.tm_min = Int32(clock[1])
        unsafe civil.tm_sec = Int32(clock[2])
        unsafe civil.tm_isdst = -1
        let seconds = unsafe isUTC ? timegm(&civil) : mktime(&civil)
        guard unsafe civil.tm_mday == Int32(day) else { return nil }
        return Int64(seconds)
    }
}
