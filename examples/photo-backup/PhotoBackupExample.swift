import Foundation
import OSSSync

/// Sends a folder of photos to a bucket and shows how far it is.
@main
struct PhotoBackupExample {
    static func main() async throws {
        guard CommandLine.arguments.count == 3 else {
            print("usage: photo-backup FOLDER oss://BUCKET/PREFIX")
            return
        }
        let environment = ProcessInfo.processInfo.environment
        let mirror = try Mirror(
            directory: CommandLine.arguments[1],
            remote: Remote(parsing: CommandLine.arguments[2]),
            configuration: StoreConfiguration(
                region: environment["OSS_REGION"],
                endpoint: environment["OSS_ENDPOINT"],
                credentials: .fixed(
                    AccessKey(
                        id: environment["OSS_ACCESS_KEY_ID"] ?? "",
                        secret: environment["OSS_ACCESS_KEY_SECRET"] ?? ""
                    )
                )
            ),
            deviceName: "camera"
        )
        let summary = try await mirror.push(.standard) { event in
            switch event {
            case .item(let item) where item.state == .done:
                print("\(item.action.rawValue) \(item.key)")
            case .progress(let progress):
                print("\(progress.bytesFinished) of \(progress.bytesPlanned) bytes")
            case .warning(let message): print(message)
            default: break
            }
        }
        print(summary.isInStep ? "in step" : "not in step: run it again")
    }
}
