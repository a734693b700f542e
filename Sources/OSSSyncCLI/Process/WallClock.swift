internal import OSSSync

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

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
}
