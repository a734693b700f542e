internal import OSSSync

/// `osssync doctor`.
struct DoctorCommand: Sendable {
    let context: CommandContext

    func run() async -> ExitCode {
        let doctor = Doctor(directory: context.place?.directory, sources: context.sources)
        let checksWrite = context.arguments.has(.checkWrite)
        let findings = await doctor.examine(checksWrite: checksWrite) + timers()
        for finding in findings {
            if context.output.isJSON {
                var line = EventJSON.line("finding", time: WallClock.text())
                line.add("subject", finding.subject)
                line.add("state", finding.state.rawValue)
                line.add("message", finding.message)
                context.say(line)
            } else {
                context.say("\(Self.mark(finding.state))  \(finding.subject): \(finding.message)")
            }
        }
        return findings.contains { $0.state == .bad } ? .incomplete : .success
    }

    /// What starts runs of the directory.
    private func timers() -> [Finding] {
        guard let directory = context.place?.directory else { return [] }
        var findings: [Finding] = []
        for direction in [CommandName.pull, .push, .sync] {
            let schedule = Schedule(
                direction: direction,
                directory: absolutePath(directory),
                program: "",
                stateDirectory: context.sources.options.stateDirectory.map(absolutePath)
            )
            for format in ScheduleFormat.allCases {
                let installer = ScheduleInstaller(
                    format: format,
                    environment: context.sources.environment,
                    homeDirectory: context.sources.homeDirectory
                )
                guard let (name, problem) = installer.timer(of: schedule) else { continue }
                findings.append(
                    Finding(
                        subject: "timer",
                        state: problem == nil ? .good : .warning,
                        message: "\(direction.rawValue) by \(name)"
                            + (problem.map { ": " + $0 } ?? "")
                    )
                )
            }
        }
        let none = "none for this directory; 'osssync schedule' makes one"
        return findings.isEmpty
            ? [Finding(subject: "timer", state: .good, message: none)] : findings
    }

    private static func mark(_ state: Finding.State) -> String {
        switch state {
        case .good: "ok   "
        case .warning: "note "
        case .bad: "WRONG"
        }
    }
}
