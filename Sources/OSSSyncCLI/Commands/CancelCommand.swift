internal import OSSSync

/// `osssync cancel`.
struct CancelCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let mirror = try DirectoryMirror(
            directory: try context.directory(),
            remote: nil,
            allowsRebinding: false,
            sources: context.sources
        )
        let report = try await mirror.cancelTransfers(path: context.paths.first)
        if context.output.isJSON {
            context.say([
                "event": "cancelled",
                "downloads": report.downloadsDropped,
                "uploads": report.uploadsAborted,
                "bytes": report.bytesDropped,
            ])
        } else if !context.output.isQuiet {
            let downloads = countText(
                report.downloadsDropped,
                "unfinished download",
                "unfinished downloads"
            )
            let uploads = countText(
                report.uploadsAborted,
                "unfinished upload",
                "unfinished uploads"
            )
            guard report.downloadsDropped + report.uploadsAborted > 0 else {
                context.say("nothing to discard")
                return .success
            }
            context.say("discarded \(downloads) and \(uploads), \(sizeText(report.bytesDropped))")
        }
        return .success
    }
}
