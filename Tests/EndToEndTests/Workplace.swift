import Foundation
import Testing

/// A temporary folder with a running storage server and the means to run osssync against it.
final class Workplace {
    static let keyID = "test-key-id"
    static let keySecret = "test-key-secret-canary"
    static let bucket = "test-bucket"

    let folder: URL
    let server: RunningProgram
    let url: String

    /// Starts the server; `faults` is a fault script in JSON.
    init(faults: String? = nil) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("server"),
            withIntermediateDirectories: true
        )
        let credentials = folder.appendingPathComponent("credentials")
        try Data(
            """
            [default]
            access-key-id = \(Self.keyID)
            access-key-secret = \(Self.keySecret)
            """.utf8
        ).write(to: credentials)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: credentials.path
        )
        var arguments = [
            "--root", folder.appendingPathComponent("server").path,
            "--bucket", Self.bucket, "--credentials", credentials.path,
            "--region", "cn-test-1", "--log", folder.appendingPathComponent("requests.jsonl").path,
        ]
        if let faults {
            let script = folder.appendingPathComponent("faults.json")
            try Data(faults.utf8).write(to: script)
            arguments += ["--faults", script.path]
        }
        server = try RunningProgram(
            BuiltProducts.server,
            arguments,
            environment: ["PATH": "/usr/bin:/bin"]
        )
        let ready = try #require(
            server.waitForLine { $0.contains("\"ready\"") },
            "the server did not start: \(server)"
        )
        let event = try JSONSerialization.jsonObject(with: Data(ready.utf8)) as? [String: Any]
        url = try #require(event?["url"] as? String)
    }

    deinit {
        server.send(SIGTERM)
        _ = server.finish()
        try? FileManager.default.removeItem(at: folder)
    }

    var remote: String { "oss://\(Self.bucket)/mirror" }

    var environment: [String: String] {
        [
            "PATH": "/usr/bin:/bin",
            "HOME": folder.appendingPathComponent("home").path,
            "OSS_ACCESS_KEY_ID": Self.keyID,
            "OSS_ACCESS_KEY_SECRET": Self.keySecret,
            "OSS_REGION": "cn-test-1",
            "OSS_ENDPOINT": url,
        ]
    }

    func start(
        _ arguments: [String],
        environment extra: [String: String] = [:],
        input: FileHandle? = nil,
        output: FileHandle? = nil,
        diagnostics: FileHandle? = nil
    ) throws -> RunningProgram {
        try RunningProgram(
            BuiltProducts.osssync,
            arguments,
            environment: environment.merging(extra) { $1 },
            input: input,
            output: output,
            diagnostics: diagnostics
        )
    }

    /// Runs a script of bash in which `osssync` is the built one; a pipeline has the status of its
    /// first program that failed.
    func shell(_ script: String) throws -> ProgramResult {
        let path = BuiltProducts.folder.path + ":/usr/bin:/bin"
        return try RunningProgram(
            URL(fileURLWithPath: "/bin/bash"),
            ["-c", "set -o pipefail; cd '\(folder.path)'; " + script],
            environment: environment.merging(["PATH": path]) { $1 }
        ).finish()
    }

    func run(
        _ arguments: String...,
        environment extra: [String: String] = [:]
    ) throws -> ProgramResult {
        try start(arguments, environment: extra).finish()
    }

    /// Makes an empty directory beneath the workplace.
    func makeDirectory(_ name: String) throws -> Tree {
        let url = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return Tree(url)
    }

    /// Makes the server behave from now on.
    func clearFaults() throws { try setFaults("[]") }

    /// Makes the server misbehave from now on, by a fault script in JSON.
    func setFaults(_ script: String) throws {
        _ = try asked(["-X", "POST", "--data", script, url + "/-/faults"])
    }

    private func asked(_ arguments: [String]) throws -> String {
        let result = try RunningProgram(
            URL(fileURLWithPath: "/usr/bin/curl"),
            ["-sS", "-f"] + arguments,
            environment: ["PATH": "/usr/bin:/bin"]
        ).finish()
        try #require(result.status == 0, "\(result.diagnostics)")
        return result.output
    }

    // MARK: - What the server saw

    struct Request {
        let operation: String
        let key: String
        let status: Int
        let bytesReceived: Int
        let bytesSent: Int
    }

    /// Every request so far.
    func requests() throws -> [Request] {
        // The server notes a request after its answer went out; asked, it waits for that.
        try asked([url + "/-/requests"]).split(separator: "\n").compactMap { line in
            guard
                let event = (try? JSONSerialization.jsonObject(with: Data(line.utf8)))
                    as? [String: Any]
            else { return nil }
            return Request(
                operation: event["operation"] as? String ?? "",
                key: event["key"] as? String ?? "",
                status: event["status"] as? Int ?? 0,
                bytesReceived: event["bytes_received"] as? Int ?? 0,
                bytesSent: event["bytes_sent"] as? Int ?? 0
            )
        }
    }

    /// The requests that `body` causes.
    func requests(during body: () throws -> Void) throws -> [Request] {
        let before = try requests().count
        try body()
        return Array(try requests().dropFirst(before))
    }
}
