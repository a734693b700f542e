internal import OSSSync

/// `osssync pull`, `osssync push` and `osssync sync`.
struct RunCommand: Sendable {
    let context: CommandContext
    let direction: SyncDirection

    func run() async throws -> ExitCode {
        var options = try RunOptions(context.arguments)
        options.connectionLimit = DescriptorLimit.raised().requests(of: options.connectionLimit)
        let mirror = try context.mirror()
        let reporter = Reporter(
            options: context.output,
            isDryRun: options.isDryRun,
            screen: .standard()
        )
        reporter.startTicking()
        defer { reporter.finish() }
        let summary = try await mirror.run(direction, options: options) { reporter.handle($0) }
        reporter.finish()
        // The run went on, but whoever reads the report has not seen all of it.
        return reporter.hasLostOutput ? .incomplete : ExitCode(summary)
    }
}
