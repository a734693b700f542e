/// When a scheduled run starts, by local time.
enum ScheduleTime: Sendable, Hashable {
    /// So many minutes apart, a divisor of an hour.
    case minutes(Int)
    /// So many hours apart, a divisor of a day.
    case hours(Int)
    /// Each day, so many minutes after midnight.
    case daily(Int)
    /// On these days of the week, from 0 for Sunday, so many minutes after midnight.
    case weekly([Int], Int)

    /// Reads what `--every` takes: an interval that all clocks and formats can express.
    init?(every text: String) {
        guard let seconds = parseDuration(text)?.components.seconds else { return nil }
        switch seconds {
        case 300...1_800 where 3_600 % seconds == 0 && seconds % 60 == 0:
            self = .minutes(Int(seconds / 60))
        case 3_600...43_200 where 86_400 % seconds == 0 && seconds % 3_600 == 0:
            self = .hours(Int(seconds / 3_600))
        case 86_400: self = .daily(0)
        default: return nil
        }
    }

    /// Reads what `--on-calendar` takes, such as `Mon..Fri 02:30` or `Sat,Sun 4:00`.
    init?(onCalendar text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let minute = parseMinuteOfDay(String(parts[1])) else { return nil }
        var days: Set<Int> = []
        for part in parts[0].split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: ".", omittingEmptySubsequences: false)
            let named = [ends.first, ends.last].map { Self.day($0 ?? "") }
            guard ends.count == 1 || ends.count == 3 && ends[1].isEmpty,
                let first = named[0], let last = named[1]
            else { return nil }
            // As in systemd, a week begins with Monday, and a range may end in the next one.
            days.formUnion((0...(last - first + 7) % 7).map { (first + $0) % 7 })
        }
        self = .weekly(days.sorted(), minute)
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    private static func day(_ name: Substring) -> Int? {
        days.firstIndex { $0.lowercased() == name.lowercased() }
    }

    /// `Mon,Tue,Wed`.
    static func names(_ days: [Int]) -> String {
        days.map { Self.days[$0] }.joined(separator: ",")
    }

    /// What each start is put off by at most, so that not all machines start at once, in seconds.
    var delay: Int { min(seconds / 10, 900) }

    /// Sleeps for a random part of the delay, in the language of the shell.
    var sleep: String { "sleep $(( $(od -An -N2 -tu2 /dev/urandom || echo 0) % \(delay) ))" }

    var seconds: Int {
        switch self {
        case .minutes(let count): count * 60
        case .hours(let count): count * 3_600
        case .daily, .weekly: 86_400
        }
    }

    /// In words, for descriptions.
    var text: String {
        switch self {
        case .minutes(let count): "every \(count) minutes"
        case .hours(let count): count == 1 ? "every hour" : "every \(count) hours"
        case .daily(let minute): "every day at \(clockText(minute))"
        case .weekly(let days, let minute):
            "on \(Self.names(days)) at \(clockText(minute))"
        }
    }
}

/// `02:30`.
func clockText(_ minute: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return two(minute / 60) + ":" + two(minute % 60)
}

/// A run that starts by itself.
struct Schedule: Sendable, Hashable {
    let direction: CommandName
    /// Absolute, as are the other paths.
    let directory: String
    let program: String
    let stateDirectory: String?
    /// What the run gets besides, as words of a command line.
    var options: [String] = []

    /// The words of the command.
    ///
    /// A run that starts while the previous one is active is skipped; a verification, which does
    /// not come again soon, waits for it. Cron mails what a run prints, which is to be failures.
    var words: [String] {
        let choice = direction == .verify ? "wait=12h" : "skip"
        return [program, direction.rawValue, "--quiet"]
            + (options.contains("--if-locked") ? [] : ["--if-locked", choice])
            + (stateDirectory.map { ["--state-dir", $0] } ?? []) + options + [directory]
    }

    /// Those that can be of a directory, to be found by their names.
    static func all(of directory: String, _ stateDirectory: String?) -> [Schedule] {
        [CommandName.pull, .push, .sync, .verify].map { direction in
            Schedule(
                direction: direction,
                directory: directory,
                program: "",
                stateDirectory: stateDirectory
            )
        }
    }

    /// What all names of scheduled runs begin with.
    static let namePrefix = "osssync-"

    /// A name for files and units: another one for each directory, state directory and direction.
    var name: String {
        let last = directory.split(separator: "/").last.map { String($0) } ?? ""
        let plain = last.utf8.prefix(24).map { byte in
            let isPlain =
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            return isPlain ? Character(UnicodeScalar(byte)) : "-"
        }
        // FNV-1a, of the whole paths.
        let paths = [UInt8](directory.utf8) + (stateDirectory.map { [0] + [UInt8]($0.utf8) } ?? [])
        let hash = paths.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        let digits = String(hash & 0xFFFF_FFFF | 1 << 32, radix: 16).dropFirst()
        return Self.namePrefix + direction.rawValue + "-" + String(plain) + "-" + digits
    }
}

/// What starts the run.
enum ScheduleFormat: String, CaseIterable, Sendable {
    case systemd
    case cron
    case launchd
}
