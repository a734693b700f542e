import Foundation
import OSSTransferFoundation

/// A screen with a button that downloads, pauses and resumes, and one that cancels.
@MainActor
final class DownloadScreen {
    private(set) var percent: Int64 = 0
    private(set) var message = "ready"
    private let download: ResumableDownload
    private var watching: Task<Void, Never>?

    init(_ source: DownloadSource, to file: URL, records: URL) throws(TransferError) {
        let folder = file.deletingLastPathComponent()
        var options = try DownloadOptions(recordDirectory: records, base: folder)
        options.reconnects = .standard
        download = try ResumableDownload(from: source, to: file, options: options)
    }

    func press() {
        switch download.transfer.state {
        case .running: download.transfer.pause()
        case .finished: break
        default: begin()
        }
    }

    func cancel() { download.transfer.cancel() }

    private func begin() {
        let transfer = download.start()
        message = "downloading"
        // On the main actor, like the screen.
        watching = Task {
            for await progress in transfer.progress {
                percent = progress.completedBytes * 100 / max(1, progress.totalBytes)
            }
            await showEnd(of: transfer)
        }
    }

    private func showEnd(of transfer: Transfer<ResumableDownload.Outcome>) async {
        do throws(TransferError) {
            switch try await transfer.value {
            case .finished(let file): message = "finished: \(file.info.size) bytes"
            case .paused: message = "paused at \(percent) %"
            case .cancelled: message = "cancelled"
            }
        } catch {
            switch error.code {
            case .notFound: message = "the file no longer exists"
            case .expired, .credentials, .forbidden: message = "please sign in again"
            case _ where error.isRetryable: message = "no connection; press again to resume"
            default: message = error.message
            }
        }
    }

    /// Returns when the transfer has stopped and the screen shows how.
    func settled() async { await watching?.value }
}
