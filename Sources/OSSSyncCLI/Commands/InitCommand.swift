internal import OSSSync

/// `osssync init`.
struct InitCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let mirror = try context.mirror()
        try await mirror.bucketClient().checkAccess()
        try mirror.writeLink()
        if context.output.isJSON {
            var line = EventJSON.line("linked", time: WallClock.text())
            line.add("directory", displayText(mirror.directory))
            line.add("remote", mirror.remote.display)
            context.say(line)
        } else if !context.output.isQuiet {
            context.say("linked '\(displayText(mirror.directory))' with \(mirror.remote.display)")
        }
        return .success
    }
}
