import Foundation
import OSSTransfer

/// Uploads a file; once it is stored, the store tells the app's own server, and brings its answer.
@main
struct ResumableUploadExample {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5 || arguments.count == 6 else {
            print("usage: resumable-upload FILE BUCKET KEY CALLBACK-URL [PAUSE-AFTER-PERCENT]")
            return
        }
        let (file, bucket, key) = (arguments[1], arguments[2], arguments[3])
        let pausePercent = arguments.count == 6 ? Int64(arguments[5]) : nil

        // An app would ask its own server for temporary keys, and this closure again when they end.
        let environment = ProcessInfo.processInfo.environment
        let configuration = StoreConfiguration(
            region: environment["OSS_REGION"],
            endpoint: environment["OSS_ENDPOINT"],
            credentials: .provider {
                AccessKey(
                    id: environment["OSS_ACCESS_KEY_ID"] ?? "",
                    secret: environment["OSS_ACCESS_KEY_SECRET"] ?? ""
                )
            }
        )
        let client = try BucketClient(bucket, configuration: configuration)

        var options = UploadOptions()
        options.recordDirectory = file + ".uploads"
        options.partSize = 100 << 10
        options.properties.metadata = ["taken-by": "camera"]
        options.callback = UploadCallback(
            url: arguments[4],
            body: #"{"object":${object},"size":${size},"album":${x:album}}"#,
            bodyType: .json,
            variables: ["x:album": "summer"]
        )

        let upload = try ResumableUpload(of: file, to: client, key: key, options: options)

        let transfer = upload.start()
        for await progress in transfer.progress {
            let percent = progress.completedBytes * 100 / max(1, progress.totalBytes)
            if let pausePercent, percent >= pausePercent { transfer.pause() }
        }

        switch try await transfer.value {
        case .finished(let object):
            print("finished: \(object.size) bytes as \(object.key)")
            if case .answered(let json) = object.callback { print("the app's server said \(json)") }
        case .paused: print("paused")
        case .cancelled: print("cancelled")
        }
    }
}
