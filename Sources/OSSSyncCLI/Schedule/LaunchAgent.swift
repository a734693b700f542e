/// A property list for launchd.
struct LaunchAgent: Sendable {
    let schedule: Schedule
    let time: ScheduleTime

    var fileName: String { schedule.name + ".plist" }

    var text: String {
        let words = schedule.words.map { "        <string>\(Self.escaped($0))</string>" }
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
        guard case .daily(let minute) = time else {
            return """
                    <key>StartInterval</key>
                    <integer>\(time.seconds)</integer>
                """
        }
        return """
                <key>StartCalendarInterval</key>
                <dict>
                    <key>Hour</key>
                    <integer>\(minute / 60)</integer>
                    <key>Minute</key>
                    <integer>\(minute % 60)</integer>
                </dict>
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
