internal import OSSSync

/// How the text of a value is read.
struct Reading<Value>: Sendable {
    /// Ends the sentence "expected …" for a text of which `parse` makes nil.
    let expected: String
    let parse: @Sendable (String) -> Value?

    init(_ expected: String, _ parse: @escaping @Sendable (String) -> Value?) {
        (self.expected, self.parse) = (expected, parse)
    }
}

extension Reading<Int64> {
    static func size(_ examples: String) -> Self {
        Self("a size, such as \(examples)", parseSize)
    }

    /// A time of a clock, in seconds since 1970.
    static var moment: Self {
        Self("a time, such as 2026-01-31, 2026-01-31T20:15:00Z or '3d ago'") {
            parseTime($0, now: WallClock.now().seconds)
        }
    }

    /// A moment, or how long ago it was.
    static var beginning: Self {
        Self("a time, such as 7d, 12h, yesterday or 2026-01-31") { text in
            let now = WallClock.now().seconds
            return parseDuration(text).map { now - $0.components.seconds }
                ?? parseTime(text, now: now)
        }
    }

    /// The smallest and the largest part a store accepts.
    static var partSize: Self {
        Self("a size from 100K to 5G, such as 8M") { text in
            parseSize(text).flatMap { ((100 << 10)...(5 << 30)).contains($0) ? $0 : nil }
        }
    }
}

extension Reading<Duration> {
    static func time(_ examples: String, least: Duration = .zero) -> Self {
        let bound = least > .zero ? " of at least \(least.components.seconds)s" : ""
        return Self("a time\(bound), such as \(examples)") { text in
            parseDuration(text).flatMap { $0 >= least ? $0 : nil }
        }
    }

    static func seconds(from least: String, _ examples: String) -> Self {
        Self("seconds from \(least) to 86400 or a time, such as \(examples)") { text in
            parseSeconds(text).flatMap { $0 >= parseSeconds(least) ?? .zero ? $0 : nil }
        }
    }
}

extension Reading<Duration?> {
    static var lockTimeout: Self {
        Self("fail, skip, wait, or wait=TIME, such as wait=30m") { LockChoice($0).map(\.timeout) }
    }
}

extension Reading<Int> {
    static func count(_ bounds: ClosedRange<Int>, of things: String = "") -> Self {
        let kind = things.isEmpty ? "" : " of " + things
        return Self("a number\(kind) from \(bounds.lowerBound) to \(bounds.upperBound)") {
            parseCount($0, in: bounds)
        }
    }

    static var requests: Self {
        Self("a number from 1 to 256, or auto") {
            $0 == "auto" ? RunOptions.standard.connectionLimit : parseCount($0, in: 1...256)
        }
    }

    static var restoreDays: Self {
        Self("a number of days from 1 to 365, as --restore=3") {
            $0.isEmpty ? RunOptions.standardRestoreDays : parseCount($0, in: 1...365)
        }
    }
}

extension Reading<DeletionLimit> {
    static var deletionLimit: Self {
        Self("a number, such as 20, or a percentage, such as 30%", parseDeletionLimit)
    }
}

extension Reading<ObjectProperties.Encryption> {
    static var encryption: Self { Self("aes256, kms or kms:KEY", ObjectProperties.encryption) }
}

extension Reading<BandwidthTimetable> {
    static var timetable: Self {
        Self(
            "bytes per second in K, M or G, such as 2M, 'off' for no limit, or a timetable, such "
                + "as '08:00,1M 19:00,off'",
            parseTimetable
        )
    }
}
