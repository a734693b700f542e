/// When a scheduled run starts, by local time.
enum ScheduleTime: Sendable, Hashable {
    /// So many minutes apart, a divisor of an hour.
    case minutes(Int)
    /// So many hours apart, a divisor of a day.
    case hours(Int)
    /// Each day, so many minutes after midnight.
    case daily(Int)

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

    var seconds: Int {
        switch self {
        case .minutes(let count): count * 60
        case .hours(let count): count * 3_600
        case .daily: 86_400
        }
    }

    /// In words, for descriptions.
    var text: String {
        switch self {
        case .minutes(let count): "every \(count) minutes"
        case .hours(let count): count == 1 ? "every hour" : "every \(count) hours"
        case .daily(let minute): "every day at \(clockText(minute))"
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
    /// A run that starts while the previous one is active is skipped. Cron mails what a run
    /// prints, which is to be failures.
    var words: [String] {
        [program, direction.rawValue, "--quiet"]
            + (options.contains("--if-locked") ? [] : ["--if-locked", "skip"])
            + (stateDirectory.map { ["--state-dir", $0] } ?? []) + options + [directory]
    }

    /// Those that can be of a directory, to be found by their names.
    static func all(of directory: String, _ stateDirectory: String?) -> [Schedule] {
        [CommandName.pull, .push, .sync].map { direction in
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
