internal import OSSSync

/// `osssync verify`.
struct VerifyCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let arguments = context.arguments
        let options = VerifyOptions(
            paths: context.paths,
            budget: try arguments.value(
                of: .budget,
                Reading("a time, such as 30m, or a percentage, such as 5%", Self.budget)
            ),
            checksRemote: arguments.has(.remote),
            repairs: arguments.has(.repair)
        )
        let mirror = try DirectoryMirror(
            directory: try context.directory(),
            remote: nil,
            allowsRebinding: false,
            sources: context.sources
        )
        let report = try await mirror.verify(options) { say($0) }
        if context.output.isJSON {
            writeJSON(report)
        } else if !context.output.isQuiet {
            context.say(Self.text(report, comparesObjects: context.arguments.has(.remote)))
        }
        return report.isGood ? .success : .incomplete
    }

    static func budget(_ text: String) -> VerifyBudget? {
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

    private func say(_ finding: VerifyFinding) {
        guard context.output.isJSON else {
            return context.complain(
                "\(finding.kind.rawValue) \(finding.displayKey): \(finding.message)"
            )
        }
        context.say([
            "event": "verify_item",
            "kind": finding.kind.rawValue,
            "key": JSONKey(finding.key, finding.displayKey),
            "size": finding.size,
            "message": finding.message,
        ])
    }

    private func writeJSON(_ report: VerifyReport) {
        context.say([
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
        ])
    }
}
