#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The time of day of this machine.
enum WallClock {
    /// Minutes since midnight in the local time zone.
    static func minuteOfDay() -> Int {
        var seconds = time_t(now().seconds)
        var civil = unsafe tm()
        guard unsafe localtime_r(&seconds, &civil) != nil else { return 0 }
        return unsafe Int(civil.tm_hour) * 60 + Int(civil.tm_min)
    }

    /// The instant, to the nanosecond the system offers.
    static func now() -> (seconds: Int64, nanoseconds: Int32) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return (Int64(time.tv_sec), Int32(time.tv_nsec))
    }
}
