internal import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The time of day of this machine.
package enum WallClock {
    /// The instant, to the nanosecond the system offers.
    package static func now() -> (seconds: Int64, nanoseconds: Int32) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return (Int64(time.tv_sec), Int32(time.tv_nsec))
    }

    /// `2026-01-02T03:04:05.678Z`, the form of JSON lines.
    package static func text() -> String {
        let now = now()
        return CivilTime(Timestamp(seconds: now.seconds))
            .extendedText(milliseconds: Int(now.nanoseconds / 1_000_000))
    }
}
