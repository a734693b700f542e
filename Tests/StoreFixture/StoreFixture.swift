package import Foundation
package import OSSTransfer
package import ObjectStorage
package import StorageServer

/// A storage server in this process and the public API before it.
package final class StoreFixture: Sendable {
    package static let bucket = "library"
    /// Where nothing answers: the port of a server that was stopped may be that of another test's
    /// next.
    package static let deadEndpoint = "http://127.0.0.1:1"

    package let folder: URL
    package let server: StorageServer
    package let configuration: StoreConfiguration

    package init(
        credentials: CredentialsSource = .fixed(AccessKey(id: "id", secret: "secret")),
        servers: [ServerCredentials] = [ServerCredentials(accessKeyID: "id", secret: "secret")],
        clockOffset: Int64 = 0
    ) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-library-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        server = try StorageServer(
            configuration: ServerConfiguration(
                root: folder.appendingPathComponent("server").path,
                buckets: [Self.bucket],
                credentials: servers,
                clockOffsetInSeconds: clockOffset
            )
        )
        try server.start()
        configuration = StoreConfiguration(
            region: "cn-hangzhou",
            endpoint: server.url,
            credentials: credentials
        )
    }

    /// Keeps the server until a test's end: nothing else of a test may need the fixture by then.
    package func stop() { server.stop() }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    package func client(
        _ change: (inout StoreConfiguration) -> Void = { _ in }
    ) throws(TransferError) -> BucketClient {
        var configuration = configuration
        change(&configuration)
        return try BucketClient(
            Self.bucket,
            configuration: configuration
        )
    }

    /// The client beneath the public API, with everything quick.
    package func storageClient() throws -> StorageClient {
        try StorageClient(quickTo: server.url, bucket: Self.bucket)
    }

    /// Makes the server misbehave as `docs/faults.md` says.
    package func setFaults(_ json: String) throws {
        server.setFaults(try FaultScript(json: [UInt8](json.utf8)))
    }

    package func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    package func content(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path(name)).map { [UInt8]($0) }
    }

    package func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: path(name))
    }

    package func write(_ name: String, _ bytes: [UInt8]) throws {
        try FileManager.default.createDirectory(
            atPath: (path(name) as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    }

    /// The names in a directory, sorted; empty if there is no such directory.
    package func names(in name: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path(name))) ?? []).sorted()
    }

    /// Bytes with a prime period, so that a misplaced block shows.
    package static func ramp(_ count: Int, _ seed: Int = 0) -> [UInt8] {
        let period = (0..<251).map { UInt8(($0 + seed) % 251) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + period.count)
        while bytes.count < count { bytes += period }
        return Array(bytes.prefix(count))
    }
}
