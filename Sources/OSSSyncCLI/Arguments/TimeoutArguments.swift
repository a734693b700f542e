internal import OSSSync

extension ConnectionOptions {
    /// Takes how long, how often and how fast requests are made from a command line.
    mutating func setPatience(_ arguments: ParsedArguments) throws(UsageError) {
        let seconds = "expected seconds from 0.1 to 86400 or a time, such as 30, 90s or 2m"
        timeout = try arguments.given(.timeout, expected: seconds) { text in
            parseSeconds(text).flatMap { $0 >= .milliseconds(100) ? $0 : nil }
        }
        retries = try arguments.given(.retries, expected: "expected a number from 0 to 1000") {
            parseCount($0, in: 0...1_000)
        }
        bandwidth = try arguments.given(
            .bandwidthLimit,
            expected: "expected bytes per second in K, M or G, such as 2M, 'off' for no limit, or "
                + "a timetable, such as '08:00,1M 19:00,off'",
            parse: parseTimetable
        )
        retryWait = try arguments.given(
            .retryWait,
            expected: "expected seconds from 0 to 86400 or a time, such as 20, 90s or 2m",
            parse: parseSeconds
        )
    }
}
