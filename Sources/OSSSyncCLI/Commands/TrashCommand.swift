internal import OSSSync
internal import Synchronization

/// `osssync trash`.
struct TrashCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let age = try context.arguments.value(of: .olderThan, .time("90s, 12h or 7d")) ?? .zero
        let mirror = try context.localMirror()
        let empties = context.arguments.has(.empty)
        let isDryRun = context.arguments.has(.dryRun)
        var report =
            empties && !isDryRun
            ? try await mirror.emptyTrash(age: age)
            : try await mirror.trash(age: age) { say($0) }
        if try mirror.hasRemoteTrash() {
            let bucket = try context.mirror()
            let other =
                empties && !isDryRun
                ? try await bucket.emptyRemoteTrash(age: age)
                : try await bucket.remoteTrash(age: age, ofOthers: !empties) { say($0) }
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
            let found = "\(files) in the trash (\(size))\(zone)"
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
