internal import CLibrary

/// The time of day of this machine.
package enum WallClock {
    /// Minutes since midnight in the local time zone.
    package static func minuteOfDay() -> Int {
        var seconds = time_t(now().seconds)
        var civil = unsafe tm()
        guard unsafe localtime_r(&seconds, &civil) != nil else { return 0 }
        return unsafe Int(civil.tm_hour) * 60 + Int(civil.tm_min)
    }

    /// An instant in the local time zone, and the zone's distance from UTC then.
    static func local(_ seconds: Int64) -> (text: String, offset: String) {
        var time = time_t(seconds)
        var civil = unsafe tm()
        guard unsafe localtime_r(&time, &civil) != nil else { return ("-", "+00:00") }
        func two(_ number: some BinaryInteger) -> String {
            number < 10 ? "0\(number)" : "\(number)"
        }
        let date = unsafe [Int(civil.tm_year) + 1_900, Int(civil.tm_mon) + 1, Int(civil.tm_mday)]
        let clock = unsafe [civil.tm_hour, civil.tm_min, civil.tm_sec]
        let offset = unsafe civil.tm_gmtoff / 60
        return (
            date.map(two).joined(separator: "-") + " " + clock.map(two).joined(separator: ":"),
            (offset < 0 ? "-" : "+") + two(offset.magnitude / 60) + ":" + two(offset.magnitude % 60)
        )
    }

    /// The instant, to the nanosecond the system offers.
    package static func now() -> (seconds: Int64, nanoseconds: Int32) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return (Int64(time.tv_sec), Int32(time.tv_nsec))
    }
}
