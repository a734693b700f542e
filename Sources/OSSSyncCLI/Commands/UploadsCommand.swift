internal import OSSBucket
internal import OSSSync

/// `osssync uploads`.
struct UploadsCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        guard let remote = try context.remote(at: 0) else { return .usage }
        let aborts = context.arguments.has(.abort)
        let age =
            try context.arguments.value(of: .olderThan, .time("90s, 12h or 7d"))
            ?? (aborts ? .seconds(7 * 86_400) : .zero)
        let client = try BucketClient(
            remote.bucket,
            dialect: remote.dialect,
            sources: context.sources
        )
        let uploads = try await client.incompleteUploads(prefix: remote.prefix)
        // Ages are by the clock that gave the times.
        let now = WallClock.now().seconds + (client.correctedClockSeconds ?? 0)
        let chosen = uploads.filter { upload in
            guard age > .zero else { return true }
            guard let began = upload.initiated else { return false }
            return began.secondsSince1970 <= now - age.components.seconds
        }
        var failures = 0
        for upload in chosen {
            do throws(TransferError) {
                if aborts {
                    try await client.multipartUpload(of: upload.key, uploadID: upload.uploadID)
                        .abort()
                }
                say(upload, isAborted: aborts)
            } catch {
                guard error.code != .cancelled else { throw error }
                failures += 1
                say(upload, isAborted: false)
                context.complain(error.message)
            }
        }
        if aborts, !context.output.isJSON, !context.output.isQuiet {
            let count = countText(chosen.count - failures, "upload", "uploads")
            let rest = uploads.count - chosen.count
            let kept = rest > 0 ? "; \(rest) younger" : ""
            context.say("aborted \(count)\(kept)")
        }
        return failures == 0 ? .success : .incomplete
    }

    private func say(_ upload: IncompleteUpload, isAborted: Bool) {
        if context.output.isJSON {
            context.say([
                "event": "upload",
                "key": upload.key,
                "upload_id": upload.uploadID,
                "initiated": upload.initiated?.text,
                "aborted": isAborted,
            ])
        } else if !context.output.isQuiet {
            let began = upload.initiated?.localText ?? "-"
            let name = String(terminalSafe: upload.uploadID)
            context.say("\(began)  \(name)  \(String(terminalSafe: upload.key))")
        }
    }
}
