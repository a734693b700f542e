/// What all requests together may move in a second, both ways, by the local time of day.
package struct BandwidthTimetable: Sendable, Hashable {
    /// A limit that holds from a time of day to that of the next entry.
    package struct Entry: Sendable, Hashable {
        /// Minutes since midnight, local time.
        package var minuteOfDay: Int
        /// Bytes in a second; nil for no limit.
        package var bytesPerSecond: Int64?

        /// Makes an entry.
        package init(minuteOfDay: Int, bytesPerSecond: Int64? = nil) {
            self.minuteOfDay = minuteOfDay
            self.bytesPerSecond = bytesPerSecond
        }
    }

    /// By ascending time; the last one also holds from midnight to the first.
    private let entries: [Entry]

    /// Makes a timetable; without entries there is no limit, and with one it holds all day.
    package init(_ entries: [Entry]) {
        self.entries = entries.sorted { $0.minuteOfDay < $1.minuteOfDay }
    }

    /// The limit at a time of day; nil for none.
    package func limit(atMinute minute: Int) -> Int64? {
        let entry = entries.last { $0.minuteOfDay <= minute } ?? entries.last
        return entry?.bytesPerSecond
    }
}
