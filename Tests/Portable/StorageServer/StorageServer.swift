internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The embedded server as a process of its own, for tests that link none of its libraries: what
/// they use of the server's module, by the requests of `docs/faults.md`.
package final class StorageServer: Sendable {
    private struct State {
        var url = ""
        /// Kept open: the server is told to end by it.
        var process: Process?
    }

    private let configuration: ServerConfiguration
    private let state = Mutex(State())

    package init(configuration: ServerConfiguration) throws {
        self.configuration = configuration
    }

    deinit { stop() }

    package func start() throws {
        let root = URL(fileURLWithPath: configuration.root)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let keys = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-keys-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: keys) }
        let written = FileManager.default.createFile(
            atPath: keys.path,
            contents: try JSONEncoder().encode(configuration.credentials),
            attributes: [.posixPermissions: 0o600]
        )
        guard written else { throw Failure(message: "the keys can't be written") }
        guard let programs = ProcessInfo.processInfo.environment["OSSSYNC_PROGRAMS"] else {
            throw Failure(message: "OSSSYNC_PROGRAMS does not name the folder of osssync-server")
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: programs)
            .appendingPathComponent("osssync-server")
        process.arguments =
            [
                "--root", configuration.root, "--credentials", keys.path,
                "--clock-offset", "\(configuration.clockOffsetInSeconds)",
            ]
            + configuration.buckets.flatMap { ["--bucket", $0] }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let start = line.range(of: "\"url\":\""),
            let end = line[start.upperBound...].firstIndex(of: "\"")
        else { throw Failure(message: "osssync-server said '\(line)'") }
        let url = String(line[start.upperBound..<end])
        state.withLock { state in
            state.url = url
            state.process = process
        }
    }

    package func stop() {
        let process = state.withLock { state in
            defer { state.process = nil }
            return state.process
        }
        process?.terminate()
        process?.waitUntilExit()
    }

    package var url: String { state.withLock { $0.url } }

    package var requestLog: [RequestRecord] {
        let lines = ask("GET", "requests").split(separator: UInt8(ascii: "\n"))
        return lines.compactMap { try? JSONDecoder().decode(RequestRecord.self, from: Data($0)) }
    }

    package func clearRequestLog() { ask("DELETE", "requests") }

    package func setFaults(_ script: FaultScript) { ask("POST", "faults", script.json) }

    package func untilHeld(_ count: Int) async {
        while held < count { await Task.yield() }
    }

    /// How many requests the script holds.
    private var held: Int {
        let answer = ask("GET", "held").prefix { $0 > 0x20 }
        return Int(String(decoding: answer, as: UTF8.self)) ?? 0
    }

    /// Asks and waits: the server is on this machine.
    @discardableResult
    private func ask(_ method: String, _ what: String, _ body: [UInt8] = []) -> [UInt8] {
        guard let url = URL(string: url + "/-/" + what) else { return [] }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body.isEmpty ? nil : Data(body)
        let answer = Mutex<[UInt8]>([])
        let isThere = DispatchSemaphore(value: 0)
        let task = URLSession.shared.dataTask(with: request) { data, _, _ in
            answer.withLock { $0 = data.map { [UInt8]($0) } ?? [] }
            isThere.signal()
        }
        task.resume()
        isThere.wait()
        return answer.withLock { $0 }
    }

    private struct Failure: Error { let message: String }
}

/// A key that the server knows.
package struct ServerCredentials: Sendable, Encodable {
    private enum CodingKeys: String, CodingKey {
        case accessKeyID = "access_key_id"
        case secret = "access_key_secret"
        case securityToken = "security_token"
    }

    package let accessKeyID: String
    package let secret: String
    package let securityToken: String?

    package init(accessKeyID: String, secret: String, securityToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secret = secret
        self.securityToken = securityToken
    }
}

/// What a server is started with.
package struct ServerConfiguration: Sendable {
    package let root: String
    package let buckets: [String]
    package let credentials: [ServerCredentials]
    package let clockOffsetInSeconds: Int64

    package init(
        root: String,
        buckets: [String],
        credentials: [ServerCredentials],
        clockOffsetInSeconds: Int64 = 0
    ) {
        self.root = root
        self.buckets = buckets
        self.credentials = credentials
        self.clockOffsetInSeconds = clockOffsetInSeconds
    }
}

/// A script as it is sent.
package struct FaultScript: Sendable {
    let json: [UInt8]

    package init(json: [UInt8]) throws {
        self.json = json
    }

    /// An empty one.
    package init(rules: [Never]) {
        json = [UInt8]("[]".utf8)
    }
}

/// A line of the server's log.
package struct RequestRecord: Sendable, Decodable {
    private enum CodingKeys: String, CodingKey {
        case operation, method, key, range, status
        case partNumber = "part"
        case errorCode = "error"
        case bytesReceived = "bytes_received"
        case bytesSent = "bytes_sent"
        case isComplete = "complete"
    }

    package let operation: String
    package let method: String
    package let key: String?
    package let partNumber: Int?
    package let range: String?
    package let status: Int
    package let errorCode: String?
    package let bytesReceived: Int64
    package let bytesSent: Int64
    package let isComplete: Bool
}
