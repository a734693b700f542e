internal import OSSSync

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Puts schedules where they are started from, and takes them away.
struct ScheduleInstaller: Sendable {
    let format: ScheduleFormat
    let environment: [String: String]
    let homeDirectory: String?

    /// - Returns: What was installed, and warnings.
    func install(
        _ schedule: Schedule,
        _ time: ScheduleTime
    ) throws(SyncError) -> (message: String, warnings: [String]) {
        switch format {
        case .systemd:
            let units = SystemdUnits(schedule: schedule, time: time)
            let folder = try folder()
            try write(units.service, folder + units.serviceName)
            try write(units.timer, folder + units.timerName)
            try run("systemctl --user daemon-reload")
            try run("systemctl --user enable --now \(units.timerName)")
            return (
                "installed \(units.timerName) in \(displayText(folder))",
                [Self.lingerWarning]
                    .compactMap(\.self)
            )
        case .cron:
            let table = ShellCommand(line: "crontab -l 2>/dev/null").output() ?? ""
            let rest = CronLine.removing(schedule, from: table) ?? table
            try feed(rest + CronLine(schedule: schedule, time: time).text)
            return ("installed \(schedule.name) in the crontab", [])
        case .launchd:
            let agent = LaunchAgent(schedule: schedule, time: time)
            let path = try folder() + agent.fileName
            try write(agent.text, path)
            try run("cd; launchctl load -w Library/LaunchAgents/\(agent.fileName)")
            return ("installed '\(displayText(path))'", [])
        }
    }

    func remove(_ schedule: Schedule) throws(SyncError) {
        switch format {
        case .systemd:
            let folder = try folder()
            let files = [".timer", ".service"].map { folder + schedule.name + $0 }
            guard files.contains(where: isThere) else { throw absent(schedule) }
            _ = ShellCommand(line: "systemctl --user disable --now \(schedule.name).timer").run()
            for file in files { _ = unsafe unlink(file) }
            try run("systemctl --user daemon-reload")
        case .cron:
            let table = ShellCommand(line: "crontab -l 2>/dev/null").output() ?? ""
            guard let rest = CronLine.removing(schedule, from: table) else {
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

    /// Shows all schedules and when they start.
    func list() throws(SyncError) -> [String] {
        switch format {
        case .systemd:
            let line = "systemctl --user list-timers --all --no-pager"
            try run("\(line) '\(Schedule.namePrefix)*'")
            return []
        case .cron:
            return CronLine.all(in: ShellCommand(line: "crontab -l 2>/dev/null").output() ?? "")
        case .launchd:
            let lines = ShellCommand(line: "launchctl list").output() ?? ""
            return lines.split(separator: "\n").map { String($0) }
                .filter { line in
                    line.split(separator: "\t").last?.hasPrefix(Schedule.namePrefix) == true
                }
        }
    }

    /// Starts the installed run now, as the schedule does.
    func test(_ schedule: Schedule) throws(SyncError) {
        switch format {
        case .systemd: try run("systemctl --user start --wait \(schedule.name).service")
        case .cron:
            // The environment that cron gives.
            let words = CronLine.command(schedule.words, escapesPercent: false)
            try run("cd; env -i HOME=\"$HOME\" PATH=/usr/bin:/bin SHELL=/bin/sh \(words)")
        case .launchd: try run("launchctl start \(schedule.name)")
        }
    }

    // MARK: - Files and commands

    private func folder() throws(SyncError) -> String {
        guard let homeDirectory else {
            throw SyncError(code: .configuration, message: "HOME is not set; set it")
        }
        var folder = homeDirectory + "/Library/LaunchAgents/"
        if format == .systemd {
            let given = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            folder = (given ?? homeDirectory + "/.config") + "/systemd/user/"
        }
        var end = folder.utf8.startIndex
        while let slash = folder.utf8[end...].dropFirst().firstIndex(of: UInt8(ascii: "/")) {
            _ = unsafe mkdir(String(folder[..<slash]), 0o755)
            end = slash
        }
        return folder
    }

    private func write(_ text: String, _ path: String) throws(SyncError) {
        guard let problem = replaceFile(path, with: text) else { return }
        throw failure("'\(displayText(path))' cannot be written: \(problem)")
    }

    private func run(_ line: String) throws(SyncError) {
        guard !ShellCommand(line: line).run() else { return }
        throw failure("'\(line)' failed; see above, or use another --format")
    }

    private func feed(_ table: String) throws(SyncError) {
        guard !ShellCommand(line: "crontab -").feed(table) else { return }
        throw failure("'crontab -' failed; see above, or use another --format")
    }

    private func isThere(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    private func failure(_ message: String) -> SyncError {
        SyncError(code: .localState, message: message)
    }

    private func absent(_ schedule: Schedule) -> SyncError {
        SyncError(
            code: .notFound,
            message: "'\(displayText(schedule.directory))' has no schedule for "
                + "\(schedule.direction.rawValue); 'osssync schedule --list' shows all"
        )
    }

    /// Without it, the user's timers end with the last session.
    private static var lingerWarning: String? {
        guard let user = unsafe getpwuid(getuid()), getuid() != 0 else { return nil }
        let name = unsafe String(cString: user.pointee.pw_name)
        guard unsafe access("/var/lib/systemd/linger/" + name, F_OK) != 0 else { return nil }
        return
            "the timer only starts while \(displayText(name)) is logged in; to change that, run: "
            + "sudo loginctl enable-linger \(displayText(name))"
    }
}
