#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The time of day of this machine.
enum WallClock {
    /// The instant, to the nanosecond the system offers.
    static func now() -> (seconds: Int64, nanoseconds: Int32) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return (Int64(time.tv_sec), Int32(time.tv_nsec))
    }
}
