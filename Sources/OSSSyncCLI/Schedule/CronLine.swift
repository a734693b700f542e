/// A line of a user's crontab, with a comment before it by which it is found again.
struct CronLine: Sendable {
    let schedule: Schedule
    let time: ScheduleTime

    var text: String {
        let sleep = Self.escaped(time.sleep)
        return "\(Self.mark(schedule))\n\(fields) \(sleep); \(Self.command(schedule.words))\n"
    }

    private static func mark(_ schedule: Schedule) -> String { "# \(schedule.name)" }

    private var fields: String {
        switch time {
        case .minutes(let count): "*/\(count) * * * *"
        case .hours(let count): "0 */\(count) * * *"
        case .daily(let minute): "\(minute % 60) \(minute / 60) * * *"
        case .weekly(let days, let minute):
            "\(minute % 60) \(minute / 60) * * \(days.map(String.init).joined(separator: ","))"
        }
    }

    /// Cron itself takes a "%" for a new line.
    private static func escaped(_ text: String) -> String {
        text.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "\\%")
    }

    /// The words in the quotes of the shell.
    private static func command(_ words: [String]) -> String {
        words.map { word in
            var text = "'"
            for scalar in word.unicodeScalars {
                switch scalar {
                case "'": text += "'\\''"
                case "%": text += "\\%"
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
        message.lowercased().hasPart("no crontab for")
    }

    /// What becomes of a crontab without the line of a schedule.
    enum Removal: Hashable {
        /// The crontab without it.
        case removed(String)
        case absent
        /// After the comment of the schedule is this line, which is another one.
        case foreign(String)
    }

    /// Removes the line of a schedule and the comment before it, and nothing else.
    static func removing(_ schedule: Schedule, from table: String) -> Removal {
        var lines = table.split(separator: "\n", omittingEmptySubsequences: false)
        let marks = lines.indices.filter { lines[$0] == mark(schedule) }
        guard let first = marks.first else { return .absent }
        if let index = marks.first(where: { isLine(of: schedule, lines[($0 + 1)...].first) }) {
            lines.removeSubrange(index...index + 1)
        } else if let index = marks.first(where: { lines[($0 + 1)...].first?.isEmpty != false }) {
            // The line itself was removed by hand.
            lines.remove(at: index)
        } else {
            return .foreign(String(lines[first + 1]))
        }
        return .removed(lines.joined(separator: "\n"))
    }

    /// The command of a schedule as the shell gets it from cron; nil if there is none.
    static func command(of schedule: Schedule, in table: String) -> String? {
        let lines = table.split(separator: "\n", omittingEmptySubsequences: false)
        let line = lines.indices.dropLast().lazy.filter { lines[$0] == mark(schedule) }
            .map { lines[$0 + 1] }.first { isLine(of: schedule, $0) }
        guard let line, let start = line.firstIndex(of: "'") else { return nil }
        return unescaped(line[start...])
    }

    /// What cron makes of a line: a "%" without the backslash before it.
    private static func unescaped(_ line: Substring) -> String {
        var text = ""
        for character in line {
            if character == "%", text.last == "\\" { text.removeLast() }
            text.append(character)
        }
        return text
    }

    /// All schedules: when each starts next, and the command with the directory at its end.
    static func all(in table: String) -> [(next: Int64?, command: String)] {
        let lines = table.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.dropLast().filter { index in
            lines[index].hasPrefix("# " + Schedule.namePrefix)
                && lines[index + 1].hasPart(" '--quiet' ")
        }
        .map { index in
            let line = lines[index + 1]
            let start = line.firstIndex(of: "'") ?? line.startIndex
            return (next(line, after: WallClock.now().seconds), unescaped(line[start...]))
        }
    }

    /// When cron starts a line next, in seconds since 1970; nil for fields that are not of this
    /// program, such as those of a line that was edited.
    static func next(_ line: Substring, after now: Int64) -> Int64? {
        let fields = line.split(separator: " ", maxSplits: 5).prefix(5)
        guard fields.count == 5, fields[2] == "*", fields[3] == "*" else { return nil }
        func matches(_ field: Substring, _ value: Int) -> Bool {
            field == "*" || field.split(separator: ",").contains { Int($0) == value }
                || field.hasPrefix("*/") && Int(field.dropFirst(2)).map { value % $0 == 0 } == true
        }
        let minute = now / 60 + 1
        return (0...8 * 24 * 60).lazy.map { (minute + $0) * 60 }.first { time in
            let civil = WallClock.civil(time)
            return matches(fields[0], civil.minute) && matches(fields[1], civil.hour)
                && matches(fields[4], civil.weekday)
        }
    }

    /// True for a line that starts this run of the directory, whenever and with whatever options.
    private static func isLine(of schedule: Schedule, _ line: Substring?) -> Bool {
        guard let line else { return false }
        return line.hasPart(" " + command([schedule.direction.rawValue, "--quiet"]) + " ")
            && line.hasSuffix(" " + command([schedule.directory]))
    }
}
