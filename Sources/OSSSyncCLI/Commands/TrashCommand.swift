internal import OSSSync
internal import Synchronization

/// `osssync trash`.
struct TrashCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let age = try context.arguments.value(of: .olderThan, .time("90s, 12h or 7d")) ?? .zero
        let local = try context.localMirror().trash
        let empties = context.arguments.has(.empty)
        let isDryRun = context.arguments.has(.dryRun)
        func found(on side: any TrashSide) async throws -> TrashReport {
            try await empties && !isDryRun
                ? side.empty(age: age) : side.list(age: age, ofOthers: !empties) { say($0) }
        }
        var report = try await found(on: local)
        if try local.hasRemote() {
            let other = try await found(on: context.mirror().remoteTrash())
            report.files += other.files
            report.bytes += other.bytes
            report.failures += other.failures
        }
        for failure in report.failures { context.complain(failure) }
        if context.output.isJSON {
            context.say([
                "event": "trash",
                "files": report.files,
                "bytes": report.bytes,
                "emptied": empties && !isDryRun,
            ])
        } else if !context.output.isQuiet {
            let files = countText(report.files, "file", "files")
            let size = sizeText(report.bytes)
            let verb = isDryRun ? "would delete" : "deleted"
            let zone = report.files > 0 ? "; \(CommandContext.zoneText)" : ""
            let found =
                report.files == 0 ? "the trash is empty" : "\(files) in the trash (\(size))\(zone)"
            context.say(empties ? "\(verb) \(files) (\(size))" : found)
        }
        return report.failures.isEmpty ? .success : .incomplete
    }

    private func say(_ file: TrashedFile) -> Bool {
        if context.output.isJSON {
            return context.say([
                "event": "trashed",
                "key": JSONKey(file.key, file.displayKey),
                "size": file.size,
                "run": file.run,
                "removed": file.removed?.text,
                "remote": file.isRemote,
                "host": file.host,
            ])
        }
        let size = padded(String(file.size), to: 14, isNumber: true)
        let run = padded(file.run.map { "run \($0)" } ?? "-", to: 8)
        let time = context.timeText(file.removed)
        let host = file.host.map { ", by another mirror on \($0)" } ?? ""
        let place = file.isRemote ? "  (in the bucket\(host))" : ""
        return context.say("\(size)  \(time)  \(run)  \(file.displayKey)\(place)")
    }
}
