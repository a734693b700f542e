/// A line of a user's crontab, with a comment before it by which it is found again.
struct CronLine: Sendable {
    let schedule: Schedule
    let time: ScheduleTime

    var text: String { "\(Self.mark(schedule))\n\(fields) \(Self.command(schedule.words))\n" }

    private static func mark(_ schedule: Schedule) -> String { "# \(schedule.name)" }

    private var fields: String {
        switch time {
        case .minutes(let count): "*/\(count) * * * *"
        case .hours(let count): "0 */\(count) * * *"
        case .daily(let minute): "\(minute % 60) \(minute / 60) * * *"
        }
    }

    /// The words in the quotes of the shell; cron itself takes a "%" for a new line.
    static func command(_ words: [String], escapesPercent: Bool = true) -> String {
        words.map { word in
            var text = "'"
            for scalar in word.unicodeScalars {
                switch scalar {
                case "'": text += "'\\''"
                case "%" where escapesPercent: text += "\\%"
                default: text.unicodeScalars.append(scalar)
                }
            }
            return text + "'"
        }.joined(separator: " ")
    }

    /// A crontab with the line at its end.
    func appended(to table: String) -> String {
        let isEnded = table.isEmpty || table.utf8.last == UInt8(ascii: "\n")
        return table + (isEnded ? "" : "\n") + text
    }

    /// True if this is what `crontab -l` says where there is no crontab.
    static func saysNoTable(_ message: String) -> Bool {
        let text = message.lowercased().utf8
        return text.indices.contains { text[$0...].starts(with: "no crontab for".utf8) }
    }

    /// A crontab without the line of a schedule; nil if it has none.
    static func removing(_ schedule: Schedule, from table: String) -> String? {
        var lines = table.split(separator: "\n", omittingEmptySubsequences: false)
        guard let index = lines.firstIndex(where: { $0 == mark(schedule) }) else { return nil }
        lines.removeSubrange(index..<min(index + 2, lines.count))
        return lines.joined(separator: "\n")
    }

    /// The lines of all schedules.
    static func all(in table: String) -> [String] {
        let lines = table.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.dropLast().filter { lines[$0].hasPrefix("# " + Schedule.namePrefix) }
            .map { String(lines[$0 + 1]) }
    }
}
