internal import CLibrary
internal import OSSSync

/// `osssync schedule`.
struct ScheduleCommand: Sendable {
    let context: CommandContext
    let environment: [String: String]

    private static let directions: [Option] = [.pull, .push, .sync, .verify]
    private static let actions: [Option] = [.install, .remove, .list, .test]

    func run() async throws -> ExitCode {
        let action = try onlyOne(of: Self.actions)
        let format = format
        let user = try user(format)
        let installer = ScheduleInstaller(format, context, user: user)
        if action == .list {
            try list(format, user)
            return .success
        }
        let schedule = try schedule()
        // A repair is a pull.
        let repairs = context.arguments.has(.repair) ? SyncDirection.pull : nil
        let direction = SyncDirection(rawValue: schedule.direction.rawValue) ?? repairs
        if action != .remove, let direction,
            let refusal = try context.localMirror().refusal(of: direction)
        {
            throw refusal
        }
        switch action {
        case .remove?:
            try installer.remove(schedule)
            say("removed \(schedule.name)")
        case .test?: try installer.test(schedule)
        case .install?:
            let time = try time()
            let (message, warnings) = try installer.install(checked(schedule, format), time)
            say(message + "; it starts \(time.text) (\(zone))")
            await warn(warnings, schedule)
        default:
            let time = try time()
            show(try checked(schedule, format), time, format, user)
            if !context.output.isQuiet { context.complain("it starts \(time.text) (\(zone))") }
            await warn([], schedule)
        }
        return .success
    }

    private func warn(_ warnings: [String], _ schedule: Schedule) async {
        for warning in warnings + absence(schedule) + (await problems()) {
            context.complain("warning: " + warning)
        }
    }

    /// A directory that is not there may be on a disk that is mounted later, or misspelled.
    private func absence(_ schedule: Schedule) -> [String] {
        guard !isDirectory(schedule.directory) else { return [] }
        return [
            "'\(String(terminalSafe: schedule.directory))' does not exist now; check its name, or "
                + "mount its disk before the run starts"
        ]
    }

    /// Why the run would fail where it is started: timers do not have this shell's environment.
    private func problems() async -> [String] {
        var sources = context.sources
        sources.environment = sources.environment.filter { ["HOME", "PATH"].contains($0.key) }
        return await MirrorDoctor(directory: context.place?.directory, sources: sources).problems()
            .map { finding in
                let advice =
                    finding.subject == "credentials"
                    ? ". A timer finds them in ~/.config/osssync/config" : ""
                return "without the environment of this shell, the run would fail: "
                    + finding.message + advice
            }
    }

    /// Shows what is installed; with systemd and no `--format`, what cron has, too.
    private func list(_ format: ScheduleFormat, _ user: String?) throws {
        let others: [ScheduleFormat] =
            context.arguments.has(.format) || format != .systemd || user != nil ? [] : [.cron]
        var isEmpty = true
        for format in [format] + others {
            let installer = ScheduleInstaller(format, context, user: user)
            // A crontab that cannot be read is of no concern to whoever has none.
            let found = others.contains(format) ? try? installer.list() : try installer.list()
            guard let lines = found, !lines.isEmpty else { continue }
            isEmpty = false
            for line in lines.flatMap({ $0.split(separator: "\n") }) {
                context.say(String(terminalSafe: String(line)))
            }
            if format == .cron { say("times: \(zone)") }
        }
        if isEmpty {
            let names = ([format] + others).map(\.rawValue).joined(separator: " or ")
            say("no schedules are installed with \(names)")
        }
    }

    /// What starts runs does not know this process's TZ.
    private var zone: String {
        environment["TZ"] == nil ? CommandContext.zoneText : "local time of the machine, not of TZ"
    }

    private func say(_ text: String) {
        if !context.output.isQuiet { context.say(text) }
    }

    private func show(
        _ schedule: Schedule,
        _ time: ScheduleTime,
        _ format: ScheduleFormat,
        _ user: String?
    ) {
        switch format {
        case .systemd:
            let units = SystemdUnits(schedule: schedule, time: time, user: user)
            let folder = user == nil ? "~/.config/systemd/user" : "/etc/systemd/system"
            _ = context.write("# \(folder)/\(units.serviceName)\n\(units.service)\n")
            _ = context.write("# \(folder)/\(units.timerName)\n\(units.timer)")
        case .cron: _ = context.write(CronLine(schedule: schedule, time: time).text)
        case .launchd: _ = context.write(LaunchAgent(schedule: schedule, time: time).text)
        }
    }

    private var format: ScheduleFormat {
        if let given = context.arguments.values[.format].flatMap(ScheduleFormat.init) {
            return given
        }
        return ShellCommand.isThere("systemctl", path: environment["PATH"]) ? .systemd : .cron
    }

    /// The user as whom a service of the system runs; nil without `--system`.
    private func user(_ format: ScheduleFormat) throws(UsageError) -> String? {
        guard let typed = context.arguments.values[.system] else { return nil }
        guard format == .systemd else {
            throw .contradiction("--system", "--format \(format.rawValue)")
        }
        let isName = { (name: String) in
            !name.isEmpty
                && name.utf8.allSatisfy { byte in
                    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
                        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                        || "._-".utf8.contains(byte)
                }
        }
        guard typed.isEmpty else {
            guard isName(typed) else { throw .badValue(.system, typed, "expected a user's name") }
            return typed
        }
        let name = ["SUDO_USER", "USER", "LOGNAME"].lazy.compactMap { environment[$0] }.first
        return name.flatMap { isName($0) ? $0 : nil } ?? "root"
    }

    private func onlyOne(of options: [Option]) throws(UsageError) -> Option? {
        let given = options.filter(context.arguments.has)
        if given.count > 1 {
            throw .contradiction(given[0].name, given[1].name)
        }
        return given.first
    }

    private func schedule() throws -> Schedule {
        let option = try onlyOne(of: Self.directions)
        if let time = context.typed.values[.sync], !time.isEmpty {
            throw UsageError.badValue(.sync, time, "use --every TIME")
        }
        guard let direction = option.flatMap({ CommandName(rawValue: $0.word) }) else {
            throw UsageError.missingChoice(
                "--pull, --push, --sync or --verify",
                command: .schedule
            )
        }
        // What the run would refuse.
        _ = try RunOptions(context.typed)
        try RunRecording.check(context.typed, context)
        for option in Option.all where option.traits.contains(.writes) {
            guard option != .backupDirectory, let path = context.typed.values[option],
                !isDirectory(ReplacedFile.folder(of: path))
            else { continue }
            throw UsageError.badValue(option, path, "its directory does not exist")
        }
        if let address = context.typed.values[.notifyURL] {
            _ = try Webhook(address, sources: context.sources)
        }
        if context.typed.values[.filesFrom] == "-" {
            throw UsageError.badValue(.filesFrom, "-", "expected a file")
        }
        let words = context.typed.words(\.isPassedOn)
        // Some options are of pushes only.
        _ = try ArgumentParser.parse([direction.rawValue] + words)
        return Schedule(
            direction: direction,
            directory: absolutePath(try context.directory()),
            program: program,
            stateDirectory: context.sources.options.stateDirectory.map(absolutePath),
            options: words
        )
    }

    private func time() throws(UsageError) -> ScheduleTime {
        let daily = try context.arguments.value(
            of: .daily,
            Reading("a time of day, such as 02:30", parseMinuteOfDay)
        )
        let every = try context.arguments.value(
            of: .every,
            Reading(
                "5m, 6m, 10m, 12m, 15m, 20m, 30m, 1h, 2h, 3h, 4h, 6h, 8h, 12h or 1d",
                ScheduleTime.init(every:)
            )
        )
        let weekly = try context.arguments.value(
            of: .onCalendar,
            Reading(
                "days and a time of day, such as 'Mon..Fri 02:30' or 'Sat,Sun 4:00'",
                ScheduleTime.init(onCalendar:)
            )
        )
        _ = try onlyOne(of: [.every, .daily, .onCalendar])
        guard let time = every ?? daily.map(ScheduleTime.daily) ?? weekly else {
            throw .missingChoice("--every, --daily or --on-calendar", command: .schedule)
        }
        return time
    }

    /// Only systemd has a way to write a control character.
    private func checked(
        _ schedule: Schedule,
        _ format: ScheduleFormat
    ) throws(UsageError) -> Schedule {
        let isControl = { (byte: UInt8) in byte < 0x20 || byte == 0x7F }
        if format != .systemd,
            let word = schedule.words.first(where: { $0.utf8.contains(where: isControl) })
        {
            throw .badArgument(
                String(terminalSafe: word),
                expected: "\(format.rawValue) cannot have control characters in a path"
            )
        }
        return schedule
    }

    /// This program as it was called, which is where an upgrade puts the next one; its own path, if
    /// that leads elsewhere.
    private var program: String {
        let typed = CommandLine.arguments.first ?? "osssync"
        #if canImport(Glibc)
        let own = MirrorPlace.realPath("/proc/self/exe")
        #else
        let own = MirrorPlace.realPath(typed)
        #endif
        let folders = environment["PATH"]?.split(separator: ":").map { $0 + "/" } ?? []
        let places = typed.utf8.contains(UInt8(ascii: "/")) ? [typed] : folders.map { $0 + typed }
        let found = places.lazy.map { absolutePath($0) }.first { MirrorPlace.realPath($0) == own }
        return found ?? own ?? "osssync"
    }
}
