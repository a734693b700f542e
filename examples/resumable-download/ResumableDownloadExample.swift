import OSSTransfer

/// Downloads an object by signed URLs; paused, it goes on in the next process.
@main
struct ResumableDownloadExample {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 || arguments.count == 5 else {
            print("usage: resumable-download GET-URL HEAD-URL FILE [PAUSE-AFTER-PERCENT]")
            return
        }
        let urls = PresignedURLs(get: arguments[1], head: arguments[2])
        let file = arguments[3]
        let pausePercent = arguments.count == 5 ? Int64(arguments[4]) : nil

        // The record of an unfinished download is kept here; no URL is in it.
        var options = DownloadOptions()
        options.recordDirectory = file + ".downloads"

        let download = try ResumableDownload(
            from: .presigned(urls),
            to: file,
            options: options,
            onNotice: { notice in
                if case .resumed(let bytes) = notice { print("goes on after \(bytes) bytes") }
                if case .startedOver(let reason) = notice { print("starts over: \(reason)") }
            }
        )

        let transfer = download.start()
        for await progress in transfer.progress {
            let percent = progress.completedBytes * 100 / max(1, progress.totalBytes)
            if let pausePercent, percent >= pausePercent { transfer.pause() }
        }

        switch try await transfer.value {
        case .finished(let file): print("finished: \(file.info.size) bytes in \(file.path)")
        case .paused(let checkpoint): print("paused after \(checkpoint?.receivedLength ?? 0) bytes")
        case .cancelled: print("cancelled")
        }
    }
}
