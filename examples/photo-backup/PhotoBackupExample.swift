import Foundation
import OSSSync

/// An app's own server, which knows the user and hands out keys that end soon.
struct Server: Sendable {
    let environment: [String: String]

    func temporaryKey() async throws -> AccessKey {
        AccessKey(
            id: environment["OSS_ACCESS_KEY_ID"] ?? "",
            secret: environment["OSS_ACCESS_KEY_SECRET"] ?? ""
        )
    }
}

/// Keeps a folder of photos and a prefix of a bucket in step, and shows how far it is.
@main
struct PhotoBackupExample {
    let mirror: DirectoryMirror

    init(folder: String, remote: String, environment: [String: String]) throws {
        let server = Server(environment: environment)
        let region = environment["OSS_REGION"]
        let endpoint = environment["OSS_ENDPOINT"]
        let configuration = StoreConfiguration(
            region: region,
            endpoint: endpoint,
            credentials: .provider { try await server.temporaryKey() }
        )
        let mirror = try DirectoryMirror(
            directory: folder,
            remote: BucketLocation(parsing: remote),
            configuration: configuration,
            deviceName: "camera"
        )
        self.mirror = mirror
    }

    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            print("usage: photo-backup look|push|sync|tidy FOLDER oss://BUCKET/PREFIX")
            exit(2)
        }
        do {
            let example = try PhotoBackupExample(
                folder: arguments[2],
                remote: arguments[3],
                environment: ProcessInfo.processInfo.environment
            )
            let summary = try await example.run(arguments[1])
            exit(summary?.isComplete == false ? 1 : 0)
        } catch {
            print(
                "photo-backup: \((error as? TransferError)?.message ?? String(describing: error))"
            )
            exit(1)
        }
    }

    private func run(_ command: String) async throws -> RunSummary? {
        switch command {
        case "push": try await push()
        case "sync": try await sync()
        case "tidy": try await tidy()
        default: try await look()
        }
    }

    private func push() async throws -> RunSummary {
        let summary = try await mirror.push(.standard) { event in
            if case .item(let item) = event, item.state == .done {
                print("\(item.action.rawValue) \(item.key)")
            }
        }
        if !summary.isComplete {
            print("\(summary.failed) failed, \(summary.conflicts) in conflict")
        }
        print("\(summary.transferred) moved, \(summary.unchanged) unchanged")
        return summary
    }

    private func sync() async throws -> RunSummary {
        let (events, continuation) = AsyncStream.makeStream(of: SyncEvent.self)
        async let finished = {
            defer { continuation.finish() }
            return try await mirror.sync(.standard) { continuation.yield($0) }
        }()
        for await event in events {
            switch event {
            case .progress(let progress):
                print("\(progress.bytesFinished) of \(progress.bytesPlanned) bytes")
            case .item(let item) where item.state == .failed:
                print("\(item.displayKey): \(item.message ?? "")")
            default: break
            }
        }
        let summary = try await finished
        print(summary.isInStep ? "in step" : "not in step")
        return summary
    }

    private func tidy() async throws -> RunSummary {
        var options = RunOptions.standard
        options.deletesKnown = true
        options.deletionLimit = .count(100)
        options.conflictPolicy = .keepBoth
        let summary = try await mirror.sync(options)
        print("\(summary.deleted) removed")
        return summary
    }

    private func look() async throws -> RunSummary? {
        let report = try await mirror.status(options: .standard)
        print("\(report.push.bytes) bytes to send, \(report.pull.bytes) to fetch")
        return nil
    }
}
