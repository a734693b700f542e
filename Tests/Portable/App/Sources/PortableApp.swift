import Foundation
import OSSTransferFoundation

/// Downloads a signed URL to a file, over URLSession.
///
/// ```sh
/// portable-app URL FILE
/// ```
@main
struct PortableApp {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let url = URL(string: arguments[1]) else {
            fatalError("usage: portable-app URL FILE")
        }
        let download = try ResumableDownload(
            from: .presigned(PresignedURLs(get: url)),
            to: URL(fileURLWithPath: arguments[2])
        )
        switch try await download.run() {
        case .finished(let file): print("finished: \(file.info.size) bytes")
        case .paused, .cancelled: fatalError("nothing stopped it")
        }
    }
}
