import Foundation
import OSSBucket
import OSSTransfer

/// One transfer of an app in a process that tests kill; or many, to be measured.
///
/// ```sh
/// TransferProgram download|upload|manage|sweep|many|kept|fetch|send [--path FILE] [--key KEY]
///     [--bucket BUCKET] [--records DIR] [--base DIR] [--identity NAME] [--part-size BYTES]
///     [--streams N] [--count N] [--url URL]
/// ```
///
/// `many` downloads an object to as many files by one manager and says how long it took; `kept`
/// downloads it by signed URLs and keeps all finished downloads. Both say which threads,
/// descriptors and memory the process has then. `fetch` downloads a signed URL, `send` uploads a
/// file, and both print how many milliseconds that took within the process.
///
/// The account is that of the variables `OSS_…` of the environment. Exits with 0 if all is done,
/// 5 if the disk is to blame, 75 if another transfer has the record or the file, else with 1.
@main
struct TransferProgram {
    private let values: [String: String]
    private let environment = ProcessInfo.processInfo.environment

    static func main() async {
        var arguments = CommandLine.arguments.dropFirst()
        let command = arguments.popFirst() ?? ""
        var values: [String: String] = [:]
        while let name = arguments.popFirst() {
            // Tests that want lines of JSON from other programs ask all of them.
            if name != "--json" { values[name] = arguments.popFirst() }
        }
        do throws(TransferError) {
            try await TransferProgram(values: values).run(command)
            fflush(nil)
            _exit(0)
        } catch {
            FileHandle.standardError.write(Data((error.message + "\n").utf8))
            switch error.code {
            case .localState: _exit(5)
            case .alreadyRunning, .locked: _exit(75)
            default: _exit(1)
            }
        }
    }

    private init(values: [String: String]) { self.values = values }

    private func run(_ command: String) async throws(TransferError) {
        switch command {
        case "download": try await download()
        case "upload": try await upload()
        case "manage": try await manage()
        case "many": try await many()
        case "kept": try await kept()
        case "fetch": try await fetch()
        case "send": try await send()
        case "sweep":
            let records = TransferRecords(directory: try value("--records"), base: values["--base"])
            _ = try await records.sweep(abandonedAfter: .zero)
        default: throw missing("a command")
        }
    }

    private func download() async throws(TransferError) {
        var options = downloadOptions()
        options.recordDirectory = values["--records"]
        options.base = values["--base"]
        options.identity = values["--identity"]
        let download = try ResumableDownload(
            from: .object(try client(), key: try value("--key")),
            to: try value("--path"),
            options: options
        )
        _ = try await download.run()
    }

    /// One download of a manager, until it is forgotten.
    private func manage() async throws(TransferError) {
        let (client, key, path) = (try client(), try value("--key"), try value("--path"))
        let options = downloadOptions()
        let manager = try await TransferManager(
            directory: try value("--records"),
            base: values["--base"]
        ) { _ in .download(.object(client, key: key), to: path, options: options) }
        if await manager["one"] == nil {
            try await manager.add("one", kind: .download, path: path)
        }
        try await manager.start("one")
        try await manager.runUntilIdle()
        if let failed = await manager["one"], let code = failed.errorCode {
            throw TransferError(code: code, message: failed.errorMessage ?? "")
        }
        try await manager.forget("one")
    }

    private func many() async throws(TransferError) {
        let (client, key, path) = (try client(), try value("--key"), try value("--path"))
        let count = number("--count") ?? 4_000
        let manager = try await TransferManager(directory: try value("--records")) { name in
            .download(.object(client, key: key), to: path + name)
        }
        let clock = ContinuousClock()
        let start = clock.now
        for number in 0..<count {
            try await manager.add("\(number)", kind: .download, path: path + "\(number)")
        }
        let added = clock.now
        try await manager.startAll()
        let started = clock.now
        try await manager.runUntilIdle()
        let finished = await manager.transfers.count { $0.state == .finished }
        print("\(finished) of \(count): added \(added - start), started \(started - added),")
        print("run \(clock.now - started); \(Self.usage())")
    }

    private func kept() async throws(TransferError) {
        let (client, key, path) = (try client(), try value("--key"), try value("--path"))
        let url = try await client.presignedURL(.get, key: key, lifetime: .seconds(600))
        var downloads: [ResumableDownload] = []
        print("before: \(Self.usage())")
        for number in 0..<(number("--count") ?? 100) {
            let download = try ResumableDownload(
                from: .presigned(PresignedURLs(get: url)),
                to: path + "\(number)"
            )
            _ = try await download.run()
            downloads.append(download)
        }
        print("\(downloads.count) finished and kept: \(Self.usage())")
        withExtendedLifetime(downloads) {}
    }

    private func fetch() async throws(TransferError) {
        let urls = PresignedURLs(get: try value("--url"))
        let (start, path) = (ContinuousClock.now, try value("--path"))
        let download = try ResumableDownload(from: .presigned(urls), to: path)
        _ = try await download.run()
        printMilliseconds(since: start)
    }

    private func send() async throws(TransferError) {
        let (client, key, path) = (try client(), try value("--key"), try value("--path"))
        let start = ContinuousClock.now
        let upload = try ResumableUpload(of: path, to: client, key: key)
        _ = try await upload.run()
        printMilliseconds(since: start)
    }

    private func printMilliseconds(since start: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        print(Double(seconds) * 1_000 + Double(attoseconds) / 1e15)
    }

    /// What the process has now.
    private static func usage() -> String {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let wanted = ["VmHWM", "VmRSS", "Threads"]
        let lines = status.split(separator: "\n").filter { line in
            wanted.contains { line.hasPrefix($0) }
        }
        let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return lines.map { $0.replacing("\t", with: " ") }.joined(separator: ", ")
            + ", descriptors \(files?.count ?? 0)"
    }

    private func downloadOptions() -> DownloadOptions {
        var options = DownloadOptions()
        if let size = number("--part-size") { options.partSize = Int64(size) }
        if let streams = number("--streams") { options.streams = streams }
        return options
    }

    private func upload() async throws(TransferError) {
        var options = UploadOptions()
        options.recordDirectory = values["--records"]
        options.base = values["--base"]
        options.identity = values["--identity"]
        if let size = number("--part-size") { options.partSize = Int64(size) }
        if let streams = number("--streams") { options.streams = streams }
        let upload = try ResumableUpload(
            of: try value("--path"),
            to: try client(),
            key: try value("--key"),
            options: options
        )
        _ = try await upload.run()
    }

    private func client() throws(TransferError) -> BucketClient {
        try BucketClient(
            try value("--bucket"),
            configuration: StoreConfiguration(
                region: environment["OSS_REGION"] ?? "",
                endpoint: environment["OSS_ENDPOINT"] ?? "",
                credentials: .fixed(
                    AccessKey(
                        id: environment["OSS_ACCESS_KEY_ID"] ?? "",
                        secret: environment["OSS_ACCESS_KEY_SECRET"] ?? ""
                    )
                )
            )
        )
    }

    private func value(_ name: String) throws(TransferError) -> String {
        guard let value = values[name] else { throw missing(name) }
        return value
    }

    private func number(_ name: String) -> Int? { values[name].flatMap { Int($0) } }

    private func missing(_ name: String) -> TransferError {
        TransferError(code: .configuration, message: "\(name) is missing")
    }
}
