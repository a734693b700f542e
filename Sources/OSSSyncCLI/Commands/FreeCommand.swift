internal import OSSSync

/// `osssync free`.
struct FreeCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let arguments = context.arguments
        var options = FreeOptions(run: try context.options(of: .push))
        options.run.paths = try context.limitedPaths()
        options.run.isDryRun = arguments.has(.dryRun)
        options.minimumAge = try arguments.value(of: .olderThan, .time("12h or 90d"))
        options.freeBytesWanted = try arguments.value(of: .until, .size("200G"))
        guard
            !options.run.paths.isEmpty || options.minimumAge != nil
                || options.freeBytesWanted != nil
        else {
            throw UsageError.missingChoice("a PATH, --older-than or --until", command: .free)
        }
        let isDryRun = options.run.isDryRun
        let report = try await context.mirror().free(options) { say($0, isDryRun) }
        if context.output.isJSON {
            context.say([
                "event": "free",
                "files": report.files,
                "bytes": report.bytes,
                "archived": report.archived,
                "kept": report.kept,
                "enough": report.isEnough,
                "dry_run": options.run.isDryRun,
            ])
        } else if !context.output.isQuiet {
            context.say(Self.text(report, isDryRun: options.run.isDryRun))
        }
        if !report.isEnough, !context.output.isJSON {
            let free = report.freeBytes.map { sizeText($0) + " are free" } ?? "the rest is in use"
            context.complain("less of the disk is free than was wanted: \(free)")
        }
        return report.kept == 0 && report.isEnough ? .success : .incomplete
    }

    static func text(_ report: FreeReport, isDryRun: Bool) -> String {
        let kept =
            report.kept == 0 ? "" : ", kept " + countText(report.kept, "file", "files")
        guard report.files > 0 else { return "nothing to free" + kept }
        let files = countText(report.files, "file", "files")
        let archived =
            report.archived == 0
            ? "" : ", \(report.archived) archived in the bucket (pull --restore brings them back)"
        return (isDryRun ? "would free " : "freed ") + "\(files) (\(sizeText(report.bytes)))"
            + archived + kept
    }

    private func say(_ file: FreedFile, _ isDryRun: Bool) {
        guard context.output.isJSON else {
            if let reason = file.reasonKept {
                context.complain("kept \(file.displayKey): \(reason)")
            } else if context.output.verbosity > 0 || isDryRun && !context.output.isQuiet {
                let verb = isDryRun ? "would free" : "freed"
                context.say("\(verb) \(file.displayKey) (\(sizeText(file.size)))")
            }
            return
        }
        context.say([
            "event": "free_item",
            "kept": file.reasonKept != nil,
            "key": JSONKey(file.key, file.displayKey),
            "size": file.size,
            "reason": file.reasonKept,
        ])
    }
}
