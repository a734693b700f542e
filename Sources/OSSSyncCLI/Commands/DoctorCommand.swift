internal import OSSSync

/// `osssync doctor`.
struct DoctorCommand: Sendable {
    let context: CommandContext

    func run() async -> ExitCode {
        let doctor = Doctor(directory: context.place?.directory, sources: context.sources)
        let findings = await doctor.examine()
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

    private static func mark(_ state: Finding.State) -> String {
        switch state {
        case .good: "ok   "
        case .warning: "note "
        case .bad: "WRONG"
        }
    }
}
