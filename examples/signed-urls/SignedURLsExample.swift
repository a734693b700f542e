import Foundation
import OSSBucket
import OSSTransfer

/// Has the keys, and signs for whom it trusts.
struct Server: Sendable {
    let configuration: StoreConfiguration
    let bucket: String

    func signedURLs(of key: String) async throws -> PresignedURLs {
        let client = try BucketClient(bucket, configuration: configuration)
        let lifetime = Duration.seconds(900)
        let urls = PresignedURLs(
            get: try await client.presignedURL(.get, key: key, lifetime: lifetime),
            head: try await client.presignedURL(.head, key: key, lifetime: lifetime)
        )
        return urls
    }

    func addressForUpload(of key: String) async throws -> String {
        let client = try BucketClient(bucket, configuration: configuration)
        let target = try await client.presignedURL(
            .put,
            key: key,
            lifetime: .seconds(300),
            headers: ["Content-Type": "image/jpeg"]
        )
        return target
    }

    func sign(_ request: UploadRequest) async throws -> SignedRequest {
        guard request.key.hasPrefix("incoming/") else {
            throw TransferError(code: .forbidden, message: "devices write beneath incoming/ only")
        }
        let client = try BucketClient(bucket, configuration: configuration)
        return try await client.sign(request, lifetime: .seconds(300))
    }

    /// Of a real server, a key of STS that may write beneath one prefix, for a while.
    func temporaryKey() async throws -> AccessKey {
        let environment = ProcessInfo.processInfo.environment
        return AccessKey(
            id: environment["OSS_ACCESS_KEY_ID"] ?? "",
            secret: environment["OSS_ACCESS_KEY_SECRET"] ?? ""
        )
    }
}

/// Has no keys of its own.
struct Device: Sendable {
    let server: Server

    func download(_ key: String, to path: String, records: String) async throws {
        let urls = try await server.signedURLs(of: key)
        let source = try DownloadSource.presigned(urls) {
            try await server.signedURLs(of: key)
        }
        var options = DownloadOptions()
        options.recordDirectory = records
        options.reconnects = .standard
        let download = try ResumableDownload(from: source, to: path, options: options)
        switch try await download.run() {
        case .finished(let file):
            print("\(file.info.size) bytes, \(file.isVerified ? "verified" : "not verified")")
        case .paused, .cancelled: break
        }
    }

    func upload(_ film: String, to key: String, bucket: String, records: String) async throws {
        let object = try ObjectReference(parsing: "oss://\(bucket)/\(key)")
        let target = try UploadTarget.signed(object) { request in
            try await server.sign(request)
        }
        var options = UploadOptions()
        options.recordDirectory = records
        options.partSize = 8 << 20
        options.reconnects = .standard
        let upload = try ResumableUpload(of: film, to: target, options: options)
        let outcome = try await upload.run()
        if case .finished(let object) = outcome { print("sent \(object.size) bytes") }
    }

    func uploadByTemporaryKeys(
        _ film: String,
        to key: String,
        bucket: String,
        region: String?,
        endpoint: String?
    ) async throws {
        let configuration = StoreConfiguration(
            region: region,
            endpoint: endpoint,
            credentials: .provider { try await server.temporaryKey() }
        )
        let client = try BucketClient(bucket, configuration: configuration)
        let upload = try ResumableUpload(of: film, to: client, key: key)
        let outcome = try await upload.run()
        if case .finished(let object) = outcome { print("sent \(object.size) bytes") }
    }
}

/// Plays a server and a device that has no keys.
@main
struct SignedURLsExample {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let environment = ProcessInfo.processInfo.environment
        guard arguments.count == 5 else {
            print("usage: signed-urls fetch|send|send-by-keys|address BUCKET KEY FILE")
            exit(2)
        }
        let (bucket, key, path) = (arguments[2], arguments[3], arguments[4])
        let region = environment["OSS_REGION"]
        let endpoint = environment["OSS_ENDPOINT"]
        let configuration = StoreConfiguration(
            region: region,
            endpoint: endpoint,
            credentials: .fixed(
                AccessKey(
                    id: environment["OSS_ACCESS_KEY_ID"] ?? "",
                    secret: environment["OSS_ACCESS_KEY_SECRET"] ?? ""
                )
            )
        )
        let server = Server(configuration: configuration, bucket: bucket)
        let device = Device(server: server)
        switch arguments[1] {
        case "fetch": try await device.download(key, to: path, records: path + ".records")
        case "send":
            try await device.upload(path, to: key, bucket: bucket, records: path + ".records")
        case "send-by-keys":
            try await device.uploadByTemporaryKeys(
                path,
                to: key,
                bucket: bucket,
                region: region,
                endpoint: endpoint
            )
        default: print(try await server.addressForUpload(of: key))
        }
    }
}
