import Foundation
import OSSTransfer

/// Downloads many files, some at once; what was paused goes on in the next process.
@main
struct DownloadManagerExample {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 || arguments.count == 4 else {
            print("usage: download-manager URLS FOLDER [NAME,…]")
            print("URLS has a line for each file: its name, a URL for GET and one for HEAD;")
            print("the files that are named last are paused once they have begun")
            return
        }
        let urls = try readURLs(arguments[1])
        let folder = arguments[2]
        let paused = arguments.count == 4 ? Set(arguments[3].split(separator: ",")) : []

        // Asked for what a transfer moves, also for those that the last process left.
        let manager = try await TransferManager(directory: folder + "/.transfers") { name in
            guard let urls = urls[name] else { throw NoURL(name: name) }
            return .download(try .presigned(urls), to: folder + "/" + name)
        }
        for name in urls.keys.sorted() where await manager[name] == nil {
            try await manager.add(name)
        }
        for transfer in await manager.transfers { try await manager.start(transfer.id) }

        let events = manager.events
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await manager.runUntilIdle() }
            group.addTask {
                for await event in events {
                    guard case .progress(let progress) = event.kind,
                        progress.completedBytes > 0, paused.contains(event.id[...])
                    else { continue }
                    try await manager.pause(event.id)
                }
            }
            // The events go on as long as there is a manager.
            try await group.next()
            group.cancelAll()
        }
        for transfer in await manager.transfers {
            if let message = transfer.errorMessage { print("\(transfer.id): \(message)") }
            print("\(transfer.id) \(transfer.state) \(transfer.completedBytes)")
        }
        if await manager.transfers.contains(where: { $0.state == .failed }) { exit(1) }
    }

    struct NoURL: Error {
        let name: String
    }

    static func readURLs(_ path: String) throws -> [String: PresignedURLs] {
        var urls: [String: PresignedURLs] = [:]
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if words.count == 3 { urls[words[0]] = PresignedURLs(get: words[1], head: words[2]) }
        }
        return urls
    }
}
