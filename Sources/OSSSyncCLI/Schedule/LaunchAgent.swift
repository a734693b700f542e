/// A property list for launchd.
struct LaunchAgent: Sendable {
    let schedule: Schedule
    let time: ScheduleTime

    var fileName: String { schedule.name + ".plist" }

    var text: String {
        let shell = ["/bin/sh", "-c", time.sleep + "; exec \"$0\" \"$@\""]
        let words = (shell + schedule.words).map { "        <string>\(Self.escaped($0))</string>" }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
            "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
                <key>Label</key>
                <string>\(schedule.name)</string>
                <key>ProgramArguments</key>
                <array>
            \(words.joined(separator: "\n"))
                </array>
            \(start)
                <key>ProcessType</key>
                <string>Background</string>
            </dict>
            </plist>

            """
    }

    private var start: String {
        let starts: [(day: Int?, minute: Int)] =
            switch time {
            case .minutes, .hours: []
            case .daily(let minute): [(nil, minute)]
            case .weekly(let days, let minute): days.map { ($0, minute) }
            }
        guard !starts.isEmpty else {
            return """
                    <key>StartInterval</key>
                    <integer>\(time.seconds)</integer>
                """
        }
        let dictionaries = starts.map { start in
            let weekday = start.day.map { day in
                """

                            <key>Weekday</key>
                            <integer>\(day)</integer>
                """
            }
            return """
                        <dict>\(weekday ?? "")
                            <key>Hour</key>
                            <integer>\(start.minute / 60)</integer>
                            <key>Minute</key>
                            <integer>\(start.minute % 60)</integer>
                        </dict>
                """
        }
        return """
                <key>StartCalendarInterval</key>
                <array>
            \(dictionaries.joined(separator: "\n"))
                </array>
            """
    }

    private static func escaped(_ word: String) -> String {
        var text = ""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
