import Foundation
import SyncTestSupport
import Testing

@testable import OSSSyncCLI

@Suite("Schedules")
struct ScheduleTests {
    private static let plain = Schedule(
        direction: .push,
        directory: "/srv/photos",
        program: "/usr/local/bin/osssync",
        stateDirectory: nil
    )

    /// Words that each format must not take for its own syntax.
    static let odd = [
        "/srv/my photos", "/srv/50% off %h", #"/srv/"quoted" 'too'"#, #"/srv/back\slash\n"#,
        "/srv/$HOME ${x} $$", "/srv/a;b&c|d>e<f", "/srv/#c `d` !e *?[f]{g}~", "/srv/fürimmer 照片",
        "/srv/-x", "/srv/end\\", "/srv/a  b ",
    ]

    private static func schedule(_ word: String) -> Schedule {
        Schedule(
            direction: .sync,
            directory: word,
            program: word.filter { $0 != "$" } + "/osssync",
            stateDirectory: word + "/state"
        )
    }

    @Test(
        arguments: [
            ("5m", .minutes(5)), ("15m", .minutes(15)), ("60m", .hours(1)), ("1h", .hours(1)),
            ("12h", .hours(12)), ("24h", .daily(0)), ("1d", .daily(0)), ("7m", nil), ("1m", nil),
            ("5h", nil), ("90m", nil), ("2d", nil), ("0s", nil), ("x", nil), ("301s", nil),
        ] as [(String, ScheduleTime?)]
    )
    func `intervals are those that divide an hour or a day`(text: String, time: ScheduleTime?) {
        #expect(ScheduleTime(every: text) == time)
    }

    @Test(
        arguments: [
            ("Mon..Fri 02:30", .weekly([1, 2, 3, 4, 5], 150)),
            ("Sat,Sun 4:00", .weekly([0, 6], 240)),
            ("fri..mon 00:00", .weekly([0, 1, 5, 6], 0)), ("Wed 23:59", .weekly([3], 1_439)),
            ("Mon", nil), ("02:30", nil), ("Mon.Fri 2:30", nil), ("Mon..Fri 24:00", nil),
            ("Mon..Tue..Fri 2:30", nil), (", 2:30", nil), ("Monday 2:30", nil), ("", nil),
        ] as [(String, ScheduleTime?)]
    )
    func `days of the week are read as systemd reads them`(text: String, time: ScheduleTime?) {
        #expect(ScheduleTime(onCalendar: text) == time)
    }

    @Test(arguments: [
        ("*/15 * * * * x", 15 * 60), ("0 */6 * * * x", 6 * 3_600), ("30 2 * * * x", 86_400),
    ])
    func `the next start of a line of cron is known`(line: String, period: Int) throws {
        let now = Int64(1_800_000_000)
        let next = try #require(CronLine.next(line[...], after: now))
        #expect(next > now && next <= now + Int64(period) && next % 60 == 0)
        #expect(CronLine.next(line[...], after: next) == next + Int64(period))
        #expect(CronLine.next("30 2 1 * * x", after: now) == nil)
        let weekly = try #require(CronLine.next("30 2 * * 1,3 x", after: now))
        #expect([1, 3].contains(WallClock.civil(weekly).weekday))
    }

    @Test func `a service of the system has its user`() {
        let user = SystemdUnits(schedule: Self.plain, time: .hours(1), user: "backup")
        #expect(user.service.contains("\nType=exec\nUser=backup\nExecStart="))
        let own = SystemdUnits(schedule: Self.plain, time: .hours(1))
        #expect(!own.service.contains("User="))
    }

    @Test func `a name is safe for units, and differs by directory, state and direction`() {
        let names = Self.odd.map { Self.schedule($0).name } + [Self.plain.name]
        #expect(Set(names).count == names.count)
        for name in names {
            #expect(name.wholeMatch(of: /osssync-(push|sync)-[A-Za-z0-9-]*-[0-9a-f]{8}/) != nil)
        }
        var pull = Self.schedule("/srv/photos")
        #expect(pull.name != Self.plain.name)
        pull = Schedule(
            direction: .push,
            directory: "/srv/photos",
            program: "/elsewhere",
            stateDirectory: "/state"
        )
        #expect(pull.name != Self.plain.name)
        pull = Schedule(
            direction: .push,
            directory: "/srv/photos",
            program: "/elsewhere",
            stateDirectory: nil
        )
        #expect(pull.name == Self.plain.name)
    }

    @Test(arguments: ScheduleFormat.allCases)
    func `the text of a format is the recorded one`(format: ScheduleFormat) throws {
        let times: [ScheduleTime] = [
            .daily(150), .hours(6), .minutes(15), .weekly([1, 2, 3, 4, 5], 150),
        ]
        let texts = times.map { time in
            switch format {
            case .systemd:
                let units = SystemdUnits(schedule: Self.plain, time: time)
                return units.service + units.timer
            case .cron: return CronLine(schedule: Self.plain, time: time).text
            case .launchd: return LaunchAgent(schedule: Self.plain, time: time).text
            }
        }
        try expectGolden(texts.joined(separator: "\n"), "schedule-\(format.rawValue).txt")
    }

    /// The words of a command line as systemd reads it: quotes and escapes, then specifiers, then
    /// variables in all words but the first (systemd.service(5), "Command lines").
    private func systemdWords(_ line: Substring) throws -> [String] {
        var words: [String] = []
        var rest = line[...]
        while let first = rest.first {
            if first == " " {
                rest.removeFirst()
                continue
            }
            rest.removeFirst()
            try #require(first == "\"")
            var word = ""
            while let character = rest.popFirst(), character != "\"" {
                guard character == "\\" else {
                    word.append(character)
                    continue
                }
                let next = rest.popFirst()
                let escaped = try #require(next)
                if escaped == "x" {
                    let value = try #require(UInt32(rest.prefix(2), radix: 16))
                    word.unicodeScalars.append(try #require(UnicodeScalar(value)))
                    rest = rest.dropFirst(2)
                } else {
                    try #require(escaped == "\\" || escaped == "\"")
                    word.append(escaped)
                }
            }
            try #require(!word.replacing("%%", with: "").contains("%"))
            word = word.replacing("%%", with: "%")
            if !words.isEmpty {
                try #require(!word.replacing("$$", with: "").contains("$"))
                word = word.replacing("$$", with: "$")
            }
            words.append(word)
        }
        return words
    }

    @Test(arguments: odd + ["/srv/tab\tand\nline", "/srv/\u{7F}"])
    func `systemd reads the words of the command`(word: String) throws {
        let schedule = Self.schedule(word)
        let service = SystemdUnits(schedule: schedule, time: .hours(1)).service
        let lines = service.split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("ExecStart=") })
        #expect(try systemdWords(line.dropFirst("ExecStart=".count)) == schedule.words)
        #expect(lines.count { $0.hasPrefix("ExecStart=") } == 1)
    }

    private static let hasSystemd = FileManager.default.isExecutableFile(
        atPath: "/usr/bin/systemd-analyze"
    )

    @Test(.enabled(if: hasSystemd, "systemd-analyze is not here"), arguments: odd)
    func `systemd finds nothing wrong with the units`(word: String) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-units-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let schedule = Schedule(
            direction: .push,
            directory: word,
            program: "/bin/true",
            stateDirectory: word
        )
        var paths: [String] = []
        for time: ScheduleTime in [.minutes(20), .hours(6), .daily(150), .weekly([0, 6], 9)] {
            let units = SystemdUnits(schedule: schedule, time: time)
            for (name, text) in [
                (units.serviceName, units.service), (units.timerName, units.timer),
            ] {
                let path = folder.appendingPathComponent(name).path
                try text.write(toFile: path, atomically: false, encoding: .utf8)
                if !paths.contains(path) { paths.append(path) }
            }
            let (status, output) = try run(
                "/usr/bin/systemd-analyze",
                ["verify", "--user", "--man=no"] + paths,
                environment: ["XDG_RUNTIME_DIR": folder.path, "HOME": folder.path]
            )
            #expect(status == 0, "\(output)")
            #expect(!output.contains(schedule.name), "\(output)")
        }
    }

    @Test(arguments: odd)
    func `cron and the shell read the words of the command`(word: String) throws {
        let schedule = Self.schedule(word)
        let text = CronLine(schedule: schedule, time: .daily(150)).text
        let line = try #require(text.split(separator: "\n").last)
        #expect(text.split(separator: "\n").count == 2)
        #expect(line.hasPrefix("30 2 * * * "))
        // As cron does it: up to a "%" that has no "\" before it.
        let command = line.dropFirst("30 2 * * * ".count).replacing(#"\%"#, with: "\u{1}")
        #expect(!command.contains("%"))
        let parts = command.replacing("\u{1}", with: "%").split(separator: "; ", maxSplits: 1)
        try #require(parts.count == 2 && parts[0].hasPrefix("sleep $(( "))
        let delay = parts[0].dropFirst("sleep ".count)
        let shown = parts[1] + "; test \(delay) -lt 900 || echo later"
        let output = try run("/bin/sh", ["-c", "printf '%s\\n' " + shown], environment: [:]).output
        #expect(output == schedule.words.joined(separator: "\n") + "\n")
    }

    /// What a program says, and how it ends.
    private func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String]
    ) throws -> (status: Int32, output: String) {
        let pipe = Pipe()
        let process = try SpawnedProgram(
            program,
            arguments,
            environment: environment,
            output: pipe.fileHandleForWriting,
            diagnostics: pipe.fileHandleForWriting
        )
        try pipe.fileHandleForWriting.close()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        return (process.waitUntilExit(), String(decoding: output, as: UTF8.self))
    }

    @Test func `a line of the crontab is found again, and no other`() {
        let mine = CronLine(schedule: Self.plain, time: .hours(1)).text
        let other = CronLine(schedule: Self.schedule("/srv/x"), time: .hours(1)).text
        let table = "MAILTO=me\n" + mine + "# mine\n1 2 * * * x\n" + other
        #expect(
            CronLine.removing(Self.plain, from: table)
                == .removed("MAILTO=me\n# mine\n1 2 * * * x\n" + other)
        )
        #expect(CronLine.removing(Self.plain, from: other) == .absent)
        #expect(CronLine.all(in: table).count == 2)
        #expect(CronLine.removing(Self.plain, from: mine) == .removed(""))
        let line = CronLine(schedule: Self.plain, time: .hours(1))
        #expect(line.appended(to: "1 2 * * * x") == "1 2 * * * x\n" + mine)
        #expect(line.appended(to: "") == mine && line.appended(to: "#\r\n") == "#\r\n" + mine)
    }

    @Test func `what is not the line of the schedule stays`() {
        let mine = CronLine(schedule: Self.plain, time: .hours(1)).text
        let lines = mine.split(separator: "\n")
        let mark = String(lines[0]) + "\n"
        // The line was replaced, edited, switched off, moved or removed.
        let backup = "0 3 * * * backup"
        #expect(CronLine.removing(Self.plain, from: mark + backup + "\n") == .foreign(backup))
        #expect(
            CronLine.removing(Self.plain, from: mark + backup + "\n" + mine)
                == .removed(mark + backup + "\n")
        )
        let edited = mark + "#5 4 * * 1 " + lines[1].dropFirst("0 */1 * * * ".count) + "\n"
        #expect(CronLine.removing(Self.plain, from: edited) == .removed(""))
        let orphan = mark + "\n" + backup
        #expect(CronLine.removing(Self.plain, from: orphan) == .removed("\n" + backup))
        #expect(CronLine.removing(Self.plain, from: String(lines[0])) == .removed(""))
        let pull = Schedule(
            direction: .pull,
            directory: Self.plain.directory,
            program: Self.plain.program,
            stateDirectory: nil
        )
        let other = String(CronLine(schedule: pull, time: .hours(1)).text.split(separator: "\n")[1])
        #expect(CronLine.removing(Self.plain, from: mark + other) == .foreign(other))
        #expect(CronLine.all(in: mark + backup + "\n" + mine).map(\.command).count == 1)
    }

    @Test func `options of the run are passed on, with whole paths`() throws {
        guard
            case .run(let typed) = try ArgumentParser.parse([
                "schedule", "--push", "--daily", "02:30", "--delete", "--max-delete=5%",
                "--log-file", "/var/log/o", "--exclude", "*.tmp", "--exclude-from", "/x/rules",
                "--include", "a b", "--bwlimit", "08:00,1M 19:00,off", "--if-locked", "wait=1h30m",
                "--quiet", "/srv/photos",
            ])
        else { return #expect(Bool(false)) }
        var schedule = Self.plain
        schedule.options = typed.words(\.isPassedOn)
        #expect(
            schedule.words == [
                "/usr/local/bin/osssync", "push", "--quiet", "--delete", "--max-delete", "5%",
                "--if-locked", "wait=1h30m", "--bwlimit", "08:00,1M 19:00,off", "--log-file",
                "/var/log/o", "--exclude", "*.tmp", "--exclude-from", "/x/rules", "--include",
                "a b", "/srv/photos",
            ]
        )
        #expect(schedule.name == Self.plain.name)
        let text = CronLine(schedule: schedule, time: .daily(150)).text
        #expect(CronLine.removing(Self.plain, from: text) == .removed(""))
        let command = CronLine.command(of: Self.plain, in: text)
        #expect(command?.hasPrefix("'/usr/local/bin/osssync' 'push'") == true)
        #expect(command?.contains(" '5%' ") == true)
        #expect(CronLine.command(of: Self.plain, in: "") == nil)
    }

    @Test(arguments: odd)
    func `launchd reads the words of the command`(word: String) throws {
        let schedule = Self.schedule(word)
        let text = LaunchAgent(schedule: schedule, time: .daily(150)).text
        let list = try #require(
            try unsafe PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
                as? [String: Any]
        )
        let words = try #require(list["ProgramArguments"] as? [String])
        #expect(
            words.prefix(2) == ["/bin/sh", "-c"] && [String](words.dropFirst(3)) == schedule.words
        )
        #expect(list["StartCalendarInterval"] as? [[String: Int]] == [["Hour": 2, "Minute": 30]])
        #expect(list["Label"] as? String == schedule.name)
    }
}
