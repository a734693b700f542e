internal import CLibrary
internal import OSSSync

/// Puts schedules where they are started from, and takes them away.
struct ScheduleInstaller: Sendable {
    private(set) var format: ScheduleFormat
    let environment: [String: String]
    let homeDirectory: String?
    /// The user as whom services of the system run; nil for the services of this user.
    let user: String?

    init(_ format: ScheduleFormat, _ context: CommandContext, user: String? = nil) {
        (self.format, self.user) = (format, user)
        environment = context.sources.environment
        homeDirectory = context.sources.homeDirectory
    }

    /// - Returns: What was installed, and warnings.
    func install(
        _ schedule: Schedule,
        _ time: ScheduleTime
    ) throws(TransferError) -> (message: String, warnings: [String]) {
        switch format {
        case .systemd:
            let units = SystemdUnits(schedule: schedule, time: time, user: user)
            let folder = try makeFolder()
            let files = [units.serviceName, units.timerName].map { folder + $0 }
            let new = files.filter { !isThere($0) }
            do throws(TransferError) {
                try write(units.service, files[0])
                try write(units.timer, files[1])
                try run("\(systemctl) daemon-reload")
                try run("\(systemctl) enable --now \(units.timerName)")
            } catch {
                // A timer that was not started would start at the next login.
                for file in new { _ = unsafe unlink(file) }
                throw error
            }
            return (
                "installed \(units.timerName) in \(String(terminalSafe: folder))",
                [lingerWarning].compactMap(\.self)
            )
        case .cron:
            let table = try crontab()
            let rest = try without(schedule, table) ?? table
            try feed(CronLine(schedule: schedule, time: time).appended(to: rest))
            return ("installed \(schedule.name) in the crontab", [])
        case .launchd:
            let agent = LaunchAgent(schedule: schedule, time: time)
            let path = try makeFolder() + agent.fileName
            try write(agent.text, path)
            try run("cd; launchctl load -w Library/LaunchAgents/\(agent.fileName)")
            return ("installed '\(String(terminalSafe: path))'", [])
        }
    }

    func remove(_ schedule: Schedule) throws(TransferError) {
        switch format {
        case .systemd:
            let folder = try folder()
            let files = [".timer", ".service"].map { folder + schedule.name + $0 }
            guard files.contains(where: isThere) else { throw absent(schedule) }
            _ = ShellCommand(line: "\(systemctl) disable --now \(schedule.name).timer").run()
            for file in files { _ = unsafe unlink(file) }
            try run("\(systemctl) daemon-reload")
        case .cron:
            guard let rest = try without(schedule, try crontab()) else {
                throw absent(schedule)
            }
            try feed(rest)
        case .launchd:
            let name = schedule.name + ".plist"
            let path = try folder() + name
            guard isThere(path) else { throw absent(schedule) }
            _ = ShellCommand(line: "cd; launchctl unload -w Library/LaunchAgents/\(name)").run()
            _ = unsafe unlink(path)
        }
    }

    /// All schedules: when each starts next, and what it runs on which directory.
    func list() throws(TransferError) -> [String] {
        switch format {
        case .systemd:
            return try installedNames(".service").map { service throws(TransferError) in
                let name = String(service.dropLast(".service".count))
                return "\(next(name))  \(try text(of: service))"
            }
        case .cron:
            return CronLine.all(in: try crontab()).map { line in
                let next = line.next.map { StoreTime(secondsSince1970: $0).localText }
                return "\(next ?? "not known")  \(line.command)"
            }
        case .launchd:
            let lines = ShellCommand(line: "launchctl list").output().bytes
            return String(decoding: lines, as: UTF8.self).split(separator: "\n").map { String($0) }
                .filter { line in
                    line.split(separator: "\t").last?.hasPrefix(Schedule.namePrefix) == true
                }
        }
    }

    /// When a timer starts next, as systemd says it.
    private func next(_ name: String) -> String {
        let property = "--property=NextElapseUSecRealtime --value"
        let shown = ShellCommand(line: "\(systemctl) show \(property) \(name).timer").output()
        let text = String(decoding: shown.bytes, as: UTF8.self).split(separator: "\n").first
        return shown.status == 0 ? text.map { String($0) } ?? "not active" : "not known"
    }

    /// The description of a service, which has the directory, and its command on the next line.
    private func text(of service: String) throws(TransferError) -> String {
        let input = InputFile(limit: Self.longestUnit)
        guard let bytes = try? input.content(of: try folder() + service) else { return service }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return ["Description=osssync ", "ExecStart="].compactMap { start in
            lines.first { $0.hasPrefix(start) }.map { line in
                // systemd takes a single "%" for its own.
                line.dropFirst(start.count).split(separator: "%", omittingEmptySubsequences: true)
                    .joined(separator: "%")
            }
        }.joined(separator: "\n    ")
    }

    private static let longestUnit = 1 << 20

    private var systemctl: String { user == nil ? "systemctl --user" : "systemctl" }

    /// The names of the files of schedules with this ending.
    private func installedNames(_ ending: String) throws(TransferError) -> [String] {
        let path = try folder()
        guard let folder = unsafe opendir(path) else {
            if errno == ENOENT { return [] }
            let reason = unsafe String(cString: strerror(errno))
            throw failure("'\(String(terminalSafe: path))' cannot be read: \(reason)")
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            guard name.hasPrefix(Schedule.namePrefix), name.hasSuffix(ending) else { continue }
            names.append(name)
        }
        return names.sorted()
    }

    /// Something that starts a run of a directory.
    struct Timer: Sendable, Hashable {
        let direction: CommandName
        let name: String
        /// Why it does not start the run, or not always; nil if it does.
        var problem: String?
    }

    /// What starts the runs of these schedules, with whatever options and at whatever times.
    func timers(of schedules: [Schedule]) throws(TransferError) -> [Timer] {
        switch format {
        case .systemd, .launchd:
            guard let folder = try? folder() else { return [] }
            return schedules.compactMap { timer(of: $0, in: folder) }
        case .cron:
            guard ShellCommand.isThere("crontab", path: environment["PATH"]) else { return [] }
            let table = try crontab()
            return schedules.filter { CronLine.command(of: $0, in: table) != nil }.map {
                Timer(direction: $0.direction, name: "the crontab")
            }
        }
    }

    private func timer(of schedule: Schedule, in folder: String) -> Timer? {
        let name = schedule.name + (format == .systemd ? ".timer" : ".plist")
        guard isThere(folder + name) else { return nil }
        var timer = Timer(direction: schedule.direction, name: name)
        guard format == .systemd else { return timer }
        timer.problem =
            isThere(folder + "timers.target.wants/" + name)
            ? lingerWarning : "it is not enabled; run: \(systemctl) enable --now \(name)"
        return timer
    }

    /// Starts the installed run now, as the schedule does.
    func test(_ schedule: Schedule) throws(TransferError) {
        switch format {
        case .systemd: try run("\(systemctl) start --wait \(schedule.name).service")
        case .cron:
            // The environment that cron gives.
            guard let command = CronLine.command(of: schedule, in: try crontab()) else {
                throw absent(schedule)
            }
            try run("cd; env -i HOME=\"$HOME\" PATH=/usr/bin:/bin SHELL=/bin/sh \(command)")
        case .launchd: try run("launchctl start \(schedule.name)")
        }
    }

    // MARK: - Files and commands

    /// Where the files of schedules are, with a "/" at its end.
    private func folder() throws(TransferError) -> String {
        if user != nil { return "/etc/systemd/system/" }
        guard let homeDirectory else {
            throw TransferError(code: .configuration, message: "HOME is not set; set it")
        }
        var folder = homeDirectory + "/Library/LaunchAgents/"
        if format == .systemd {
            let given = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            folder = (given ?? homeDirectory + "/.config") + "/systemd/user/"
        }
        return folder
    }

    private func makeFolder() throws(TransferError) -> String {
        let folder = try folder()
        var end = folder.utf8.startIndex
        while let slash = folder.utf8[end...].dropFirst().firstIndex(of: UInt8(ascii: "/")) {
            _ = unsafe mkdir(String(folder[..<slash]), 0o755)
            end = slash
        }
        return folder
    }

    private func write(_ text: String, _ path: String) throws(TransferError) {
        guard let problem = replaceFile(path, with: text, mode: 0o644) else { return }
        let advice = user == nil ? "" : "; run the command with sudo"
        throw failure("'\(String(terminalSafe: path))' cannot be written: \(problem)\(advice)")
    }

    private func run(_ line: String) throws(TransferError) {
        guard !ShellCommand(line: line).run() else { return }
        throw failed(line)
    }

    private func failed(_ line: String) -> TransferError {
        let isRoot = user == nil && format == .systemd && getuid() == 0
        let advice = isRoot ? "use --system=root" : "use another --format"
        return failure("'\(line)' failed; see above, or \(advice)")
    }

    /// A crontab without the line of a schedule; nil if it has none.
    private func without(
        _ schedule: Schedule,
        _ table: String
    ) throws(TransferError) -> String? {
        switch CronLine.removing(schedule, from: table) {
        case .removed(let rest): return rest
        case .absent: return nil
        case .foreign(let line):
            throw failure(
                "in the crontab, '\(String(terminalSafe: line))' is after the comment "
                    + "'# \(schedule.name)', and is not the line of this schedule; nothing was "
                    + "changed. Delete the comment, and the line of the schedule if it is "
                    + "elsewhere, with 'crontab -e'"
            )
        }
    }

    /// The user's crontab; empty if there is none.
    ///
    /// - Throws: If it cannot be read: what would be installed then had only our lines.
    private func crontab() throws(TransferError) -> String {
        let listed = ShellCommand(line: "crontab -l 2>/dev/null").output()
        if listed.status == 0 {
            if let table = String(validating: listed.bytes, as: UTF8.self) { return table }
            throw failure(
                "the crontab is not UTF-8, and was not changed; 'crontab -e' can take the lines "
                    + "that 'osssync schedule' prints without --install"
            )
        }
        // Not in the user's language.
        let reason = ShellCommand(line: "LC_ALL=C crontab -l 2>&1 >/dev/null").output()
        let text = String(decoding: reason.bytes, as: UTF8.self)
        if listed.status == 1, reason.status == 1, CronLine.saysNoTable(text) { return "" }
        let lines = text.split(separator: "\n").map { String(terminalSafe: String($0)) }
        throw failure(
            "'crontab -l' failed (\(lines.joined(separator: "; "))), and nothing was changed; "
                + "install cron, or use --format systemd"
        )
    }

    private func feed(_ table: String) throws(TransferError) {
        guard !ShellCommand(line: "crontab -").feed(table) else { return }
        throw failure("'crontab -' failed; see above, or use another --format")
    }

    private func isThere(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    private func failure(_ message: String) -> TransferError {
        TransferError(code: .localState, message: message)
    }

    private func absent(_ schedule: Schedule) -> TransferError {
        let others = ScheduleFormat.allCases.filter { other in
            guard other != format else { return false }
            var installer = self
            installer.format = other
            return (try? installer.timers(of: [schedule]))?.isEmpty == false
        }
        let advice =
            others.first.map { "use --format \($0.rawValue)" }
            ?? "'osssync schedule --list' shows all"
        return TransferError(
            code: .notFound,
            message: "'\(String(terminalSafe: schedule.directory))' has no schedule for "
                + "\(schedule.direction.rawValue) with \(format.rawValue); \(advice)"
        )
    }

    /// Without it, the user's timers end with the last session.
    private var lingerWarning: String? {
        guard user == nil, let user = unsafe getpwuid(getuid()), getuid() != 0 else { return nil }
        let name = unsafe String(cString: user.pointee.pw_name)
        let shown = String(terminalSafe: name)
        guard unsafe access("/var/lib/systemd/linger/" + name, F_OK) != 0 else { return nil }
        return
            "the timer only starts while \(shown) is logged in; to change that, run: "
            + "sudo loginctl enable-linger \(shown)"
    }
}
