import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import SyncTestSupport
import Testing

/// Processes that are killed by SIGKILL in the midst of a transfer, and those that come after them;
/// over libcurl or URLSession, whichever is built.
@Suite("A process that is killed", .timeLimit(.minutes(30)))
struct KilledProcessTests {
    private static let content = StoreFixture.ramp(3_000_000)
    private static let partSize = 100_000
    private static let streams = 2
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// What a record may be behind, and what is under way.
    private static let bound = Int64(1 << 20 + streams * partSize)

    /// `make soak` asks for 1,000.
    private static let kills =
        ProcessInfo.processInfo.environment["OSSSYNC_KILLS"].flatMap(Int.init) ?? 20

    /// The program of the same build as this bundle.
    private static let program = URL(fileURLWithPath: CommandLine.arguments[0])
        .deletingLastPathComponent().appendingPathComponent("TransferProgram")

    /// Starts a transfer of `folder/file` with its records in `folder/records`.
    private func start(
        _ command: String,
        _ fixture: StoreFixture,
        in folder: String,
        identity: String? = nil,
        partSize: Int = partSize
    ) throws -> SpawnedProgram {
        let arguments =
            [
                command, "--bucket", StoreFixture.bucket, "--key", "key",
                "--path", fixture.path(folder + "/file"),
                "--records", fixture.path(folder + "/records"), "--base", fixture.path(folder),
                "--part-size", "\(partSize)", "--streams", "\(Self.streams)",
            ] + (identity.map { ["--identity", $0] } ?? [])
        let environment = ProcessInfo.processInfo.environment.merging([
            "OSS_ENDPOINT": fixture.server.url, "OSS_REGION": "cn-hangzhou",
            "OSS_ACCESS_KEY_ID": "id", "OSS_ACCESS_KEY_SECRET": "secret",
        ]) { $1 }
        return try SpawnedProgram(Self.program.path, arguments, environment: environment)
    }

    /// Lets a transfer come to its request `number` and kills it there.
    private func kill(
        _ command: String,
        _ fixture: StoreFixture,
        in folder: String,
        at number: Int
    ) async throws {
        let operation = command == "upload" ? "UploadPart" : "GetObject"
        try fixture.setFaults(
            """
            [{"match": {"operation": "\(operation)", "from": \(number)},
              "effects": [{"hold": true}, {"close": {"when": "before", "how": "rst"}}]}]
            """
        )
        let process = try start(command, fixture, in: folder)
        await fixture.server.untilHeld(1)
        Foundation.kill(process.processID, SIGKILL)
        #expect(process.waitUntilExit() == 128 + SIGKILL)
        try fixture.setFaults("[]")
    }

    private func finish(_ command: String, _ fixture: StoreFixture, in folder: String) throws {
        let process = try start(command, fixture, in: folder)
        #expect(process.waitUntilExit() == 0)
    }

    private func makeFolder(_ fixture: StoreFixture, _ name: String) throws {
        for path in [name, name + "/records"] {
            try FileManager.default.createDirectory(
                atPath: fixture.path(path),
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        }
    }

    /// Between the kills the directory is moved, as an update of an app moves its container.
    @Test(arguments: ["download", "manage"])
    func `costs little, wherever its directory is by then`(command: String) async throws {
        try await fixture.client().put(Self.content, to: "key")
        var folder = "app0"
        try makeFolder(fixture, folder)
        for round in 0..<max(1, Self.kills / 4) {
            fixture.server.clearRequestLog()
            for number in [1, 3, 12, 9] {
                try await kill(command, fixture, in: folder, at: number + round % 3)
                let next = folder == "app0" ? "app1" : "app0"
                try FileManager.default.moveItem(
                    atPath: fixture.path(folder),
                    toPath: fixture.path(next)
                )
                folder = next
            }
            try finish(command, fixture, in: folder)
            #expect(fixture.content(folder + "/file") == Self.content)
            #expect(fixture.bytesSent - 3_000_000 <= 4 * Self.bound)
            let left = fixture.names(in: folder + "/records").filter { $0 != "manager.lock" }
            #expect(left == [])
            #expect(fixture.names(in: folder) == ["file", "records"])
            try FileManager.default.removeItem(atPath: fixture.path(folder + "/file"))
        }
    }

    /// What is fetched again is what came in two seconds, and not what came since the last MiB.
    @Test func `makes progress on a slow line, too`() async throws {
        let (rate, allowed) = (150_000, Int64(500_000))
        try await fixture.client().put(Self.content, to: "key")
        try makeFolder(fixture, "app")
        fixture.server.clearRequestLog()
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject"},
              "effects": [{"slow": \(rate)}, {"holdAt": 900000}]}]
            """
        )
        // One request for all of it, which has brought so much after six seconds.
        let process = try start("download", fixture, in: "app", partSize: 32 << 20)
        await fixture.server.untilHeld(1)
        Foundation.kill(process.processID, SIGKILL)
        #expect(process.waitUntilExit() == 128 + SIGKILL)
        try fixture.setFaults("[]")
        let next = try start("download", fixture, in: "app", partSize: 32 << 20)
        #expect(next.waitUntilExit() == 0)
        #expect(fixture.content("app/file") == Self.content)
        #expect(fixture.bytesSent - 3_000_000 <= allowed)
    }

    @Test func `in an upload sends no finished part again`() async throws {
        try makeFolder(fixture, "app")
        // The smallest parts that the service takes.
        try fixture.write("app/file", StoreFixture.ramp(3_072_000))
        for round in 0..<max(1, Self.kills / 4) {
            fixture.server.clearRequestLog()
            for number in [1, 4, 9] {
                try await kill("upload", fixture, in: "app", at: number + round % 3)
            }
            try finish("upload", fixture, in: "app")
            #expect(fixture.storedParts == Array(1...30))
            let client = try fixture.client()
            #expect(try await client.get("key", maxBytes: 4 << 20).value?.bytes.count == 3_072_000)
            #expect(try await client.incompleteUploads(prefix: "") == [])
            #expect(fixture.names(in: "app/records") == [])
        }
    }

    @Test func `has its record and file to itself while it lives`() async throws {
        try await fixture.client().put(Self.content, to: "key")
        try makeFolder(fixture, "app")
        try fixture.hold("GetObject", from: 20)
        let first = try start("download", fixture, in: "app")
        await fixture.server.untilHeld(1)
        // By the same record, and by another one for the same file.
        for identity in [nil, "another"] {
            let second = try start("download", fixture, in: "app", identity: identity)
            #expect(second.waitUntilExit() == 75)
        }
        let records = TransferRecords(
            directory: fixture.path("app/records"),
            base: fixture.path("app")
        )
        #expect(try await records.sweep(abandonedAfter: .zero) == 0)
        Foundation.kill(first.processID, SIGKILL)
        first.waitUntilExit()
        try fixture.setFaults("[]")
        fixture.server.clearRequestLog()
        try finish("download", fixture, in: "app")
        #expect(fixture.content("app/file") == Self.content)
        #expect(fixture.bytesSent < 3_000_000)
        #expect(fixture.names(in: "app/records") == [])
    }

    @Test func `leaves nothing that is not swept`() async throws {
        try await fixture.client().put(Self.content, to: "key")
        try makeFolder(fixture, "app")
        let records = TransferRecords(
            directory: fixture.path("app/records"),
            base: fixture.path("app")
        )
        for number in 1...max(5, Self.kills / 4) {
            try await kill("download", fixture, in: "app", at: number % 25 + 1)
            #expect(try await records.sweep(abandonedAfter: .zero) > 0)
            #expect(fixture.names(in: "app") == ["records"])
            #expect(fixture.names(in: "app/records") == [])
        }
    }
}
