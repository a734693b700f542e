import Foundation
import OSSTransferFoundation

/// Shows the screen and the queue of an app without a window.
@main
struct AppExample {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            print("usage: app press|press-twice|queue|run URL FOLDER")
            exit(2)
        }
        let url = arguments[2]
        let folder = URL(fileURLWithPath: arguments[3])
        switch arguments[1] {
        case "press": try await showScreen(url, folder, presses: 1)
        case "press-twice": try await showScreen(url, folder, presses: 2)
        default: try await useQueue(url, folder.path, runs: arguments[1] == "run")
        }
    }

    @MainActor
    private static func showScreen(_ url: String, _ folder: URL, presses: Int) async throws {
        let screen = try DownloadScreen(
            .presigned(PresignedURLs(get: url)),
            to: folder.appendingPathComponent("screen.mov"),
            records: folder.appendingPathComponent("records")
        )
        // Pressed twice, the button starts and pauses.
        for _ in 0..<presses { screen.press() }
        await screen.settled()
        print(screen.message)
    }

    private static func useQueue(_ url: String, _ folder: String, runs: Bool) async throws {
        let server = AppServer { _ in PresignedURLs(get: url) }
        let queue = try await TransferQueue(container: folder, server: server)
        try await queue.queue("queued.mov", to: folder + "/queued.mov")
        if runs {
            try await queue.enterForeground()
            try await queue.manager.runUntilIdle()
        } else {
            try await queue.enterBackground()
        }
        for transfer in await queue.manager.transfers {
            print("\(transfer.id) \(transfer.state), \(transfer.context)")
        }
    }
}
