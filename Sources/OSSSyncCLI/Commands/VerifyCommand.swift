internal import OSSSync

/// `osssync verify`.
struct VerifyCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let arguments = context.arguments
        var options = VerifyOptions(
            paths: context.paths,
            budget: try arguments.value(
                of: .budget,
                Reading("a time, such as 30m, or a percentage, such as 5%", Self.budget)
            ),
            checksRemote: arguments.has(.remote),
            repairs: arguments.has(.repair)
        )
        options.lockTimeout = try arguments.value(of: .ifLocked, .lockTimeout) ?? .zero
        let mirror = try context.mirror()
        let record = try VerifyRecording(context)
        await record.live.readHistory()
        do {
            let report = try await mirror.verify(options) { finding in
                say(finding)
                record.note(Self.text(finding))
            } onProgress: { progress in
                record.handle(progress)
            }
            let text = Self.text(report, comparesObjects: arguments.has(.remote))
            if context.output.isJSON {
                context.say(Self.json(report))
            } else if !context.output.isQuiet {
                context.say(text)
            }
            record.note(text)
            return await record.finish(report.isGood ? .success : .incomplete, report)
        } catch {
            if error.code == .locked, context.skipsIfLocked {
                context.say(skipped: error, "verify")
                return .success
            }
            record.note(EventText.failure(error))
            _ = await record.finish(ExitCode(ending: error), nil, error)
            throw error
        }
    }

    /// Tells of a verification that could not begin.
    func tell(_ error: any Error) async {
        guard let record = try? VerifyRecording(context) else { return }
        record.note(EventText.failure(error))
        _ = await record.finish(ExitCode(ending: error), nil, error)
    }

    static func budget(_ text: String) -> VerifyOptions.Budget? {
        if text.last == "%" {
            return parseCount(String(text.dropLast()), in: 1...100).map { .percent($0) }
        }
        return parseDuration(text).flatMap { $0 > .zero ? .time($0) : nil }
    }

    static func text(_ report: VerifyReport, comparesObjects: Bool) -> String {
        let files = countText(report.verified, "file", "files")
        let objects = comparesObjects ? " and the checksums of the objects" : ""
        var parts = ["verified \(files) (\(sizeText(report.bytes)))\(objects)"]
        func add(_ count: Int, _ words: String) {
            if count > 0 { parts.append("\(count) \(words)") }
        }
        add(report.damaged, "damaged")
        add(report.repaired, "repaired")
        add(report.remoteDamaged, "damaged in the bucket")
        add(report.remoteMissing, "missing in the bucket")
        add(report.remoteChanged, "changed in the bucket")
        add(report.changed, "changed here")
        add(report.missing, "deleted here")
        add(report.unverifiable, "without a recorded checksum")
        add(report.failed, "failed")
        let rest = report.isFinished ? "" : "; the next 'verify --budget' continues"
        return parts.joined(separator: ", ") + rest
    }

    private static func text(_ finding: VerifyFinding) -> String {
        "\(finding.kind.rawValue) \(finding.displayKey): \(finding.message)"
    }

    private func say(_ finding: VerifyFinding) {
        guard context.output.isJSON else {
            return context.complain(Self.text(finding))
        }
        context.say([
            "event": "verify_item",
            "kind": finding.kind.rawValue,
            "key": JSONKey(finding.key, finding.displayKey),
            "size": finding.size,
            "message": finding.message,
        ])
    }

    static func json(_ report: VerifyReport) -> JSONLine {
        [
            "event": "verify",
            "verified": report.verified,
            "bytes": report.bytes,
            "damaged": report.damaged,
            "repaired": report.repaired,
            "remote_damaged": report.remoteDamaged,
            "remote_missing": report.remoteMissing,
            "remote_changed": report.remoteChanged,
            "changed": report.changed,
            "missing": report.missing,
            "unverifiable": report.unverifiable,
            "failed": report.failed,
            "finished": report.isFinished,
        ]
    }
}

/// What a verification writes about itself, as ``RunRecording`` does for runs: `--log-file`,
/// `--metrics-file`, `--html` and `--notify-url`.
struct VerifyRecording: Sendable {
    let context: CommandContext
    private let log: LogFile?
    private let metrics: ReplacedFile?
    private let notification: RunNotification?
    /// Prints nothing; measures what others are shown.
    private let reporter: Reporter
    let live: LiveReport
    private let start = ContinuousClock.now

    /// - Throws: For a file or an address that cannot be used, before anything is read.
    init(_ context: CommandContext) throws {
        self.context = context
        try RunRecording.check(context.arguments, context)
        notification = try RunNotification(context, .pull)
        log = try context.arguments.values[.logFile].map { try LogFile(path: $0) }
        metrics = try context.arguments.values[.metricsFile].map { try ReplacedFile(metrics: $0) }
        var options = context.output
        (options.progress, options.isJSON) = (.none, false)
        reporter = Reporter(
            options: options,
            isDryRun: false,
            singleTitle: CommandName.verify.rawValue,
            screen: .standard()
        )
        live = try LiveReport(context, reporter)
    }

    func handle(_ progress: RunProgress) { reporter.handle(.progress(progress)) }

    /// Appends a line to the log.
    func note(_ text: String) {
        guard let log, !log.append(text + "\n") else { return }
        context.reportLoss("the log in \(log.shown) is not complete; check the disk that it is on")
    }

    /// The exit status, which is not 0 if something could not be written.
    func finish(
        _ code: ExitCode,
        _ report: VerifyReport?,
        _ error: (any Error)? = nil
    ) async -> ExitCode {
        live.end()
        var code = code
        if let metrics {
            var figures = VerifyFigures(
                directory: absolutePath((try? context.directory()) ?? ""),
                remote: context.remoteText,
                exit: code,
                report: report,
                seconds: (ContinuousClock.now - start) / .seconds(1),
                ended: WallClock.now().seconds
            )
            figures.totals = try? await context.localMirror().totals()
            if let problem = metrics.replace(with: figures.text) {
                context.reportLoss("the figures are not in \(metrics.shown): \(problem)")
                if code == .success { code = .incomplete }
            }
        }
        let isWritten = await live.writePage(.items, error)
        if code == .success, !isWritten || context.hasLostOutput { code = .incomplete }
        let found = report.map(VerifyCommand.json) ?? ["event": "verify"]
        await notification?.finish(found, code, error)
        return code
    }
}
