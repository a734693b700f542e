internal import OSSSync

/// `osssync pull`, `osssync push` and `osssync sync`.
struct RunCommand: Sendable {
    let context: CommandContext
    let direction: SyncDirection

    func run() async throws -> ExitCode {
        var options = try RunOptions(context.arguments)
        options.paths = context.paths
        options.connectionLimit = DescriptorLimit.raised().requests(of: options.connectionLimit)
        let mirror = try context.mirror()
        let reporter = context.reporter
        reporter.startTicking()
        defer { reporter.finish() }
        let summary = try await mirror.run(direction, options: options) { reporter.handle($0) }
        return ExitCode(summary)
    }
}
