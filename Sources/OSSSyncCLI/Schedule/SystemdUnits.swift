internal import OSSSync

/// A service of systemd and the timer that starts it.
struct SystemdUnits: Sendable {
    let schedule: Schedule
    let time: ScheduleTime
    /// The user as whom a service of the system runs; nil for a service of a user.
    var user: String?

    var serviceName: String { schedule.name + ".service" }
    var timerName: String { schedule.name + ".timer" }

    /// Type=exec, because systemd before 254 restarts no other one by its exit status: 6 is a
    /// remote that cannot be reached, as after waking up.
    var service: String {
        """
        # Written by osssync schedule.
        [Unit]
        Description=\(description)
        StartLimitIntervalSec=0

        [Service]
        Type=exec\(user.map { "\nUser=" + $0 } ?? "")
        ExecStart=\(Self.commandLine(schedule.words))
        RestartForceExitStatus=6
        RestartSec=5min
        Nice=10
        IOSchedulingClass=idle
        NoNewPrivileges=yes
        LockPersonality=yes
        MemoryDenyWriteExecute=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
        SystemCallArchitectures=native

        """
    }

    var timer: String {
        """
        # Written by osssync schedule.
        [Unit]
        Description=\(description), \(time.text)

        [Timer]
        OnCalendar=\(calendar)
        Persistent=true
        RandomizedDelaySec=\(time.delay)

        [Install]
        WantedBy=timers.target

        """
    }

    private var description: String {
        "osssync \(schedule.direction.rawValue) of \(String(terminalSafe: schedule.directory))"
            .split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
    }

    private var calendar: String {
        switch time {
        case .minutes(let count): "*:0/\(count)"
        case .hours(let count): "0/\(count):00"
        case .daily(let minute): "*-*-* \(clockText(minute)):00"
        case .weekly(let days, let minute):
            "\(ScheduleTime.names(days)) *-*-* \(clockText(minute)):00"
        }
    }

    /// The words as systemd splits and expands them: each in quotes, with its escapes, specifiers
    /// and variables made plain.
    static func commandLine(_ words: [String]) -> String {
        words.enumerated().map { index, word in
            var text = "\""
            for scalar in word.unicodeScalars {
                switch scalar {
                case "\\", "\"": text += "\\" + String(scalar)
                case "%": text += "%%"
                // In the program's own path there are no variables.
                case "$": text += index == 0 ? "$" : "$$"
                case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                    text += "\\x" + String(0x100 + scalar.value, radix: 16).dropFirst()
                default: text.unicodeScalars.append(scalar)
                }
            }
            return text + "\""
        }.joined(separator: " ")
    }
}
