#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A temporary folder with a storage server on it.
struct BenchFolder {
    static let keyID = "bench-id"
    static let keySecret = "bench-secret"
    static let bucket = "bench"

    let path: String
    let programs: String
    let url: String
    private let server: pid_t

    /// Starts the server of the same build as this program.
    init() {
        var template = Array("/tmp/osssync-bench.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { fail("no temporary folder can be made") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let own = CommandLine.arguments.first ?? "."
        programs = own.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        Self.write(
            path + "/credentials",
            Array(
                "[default]\naccess-key-id = \(Self.keyID)\naccess-key-secret = \(Self.keySecret)\n"
                    .utf8
            )
        )
        unsafe mkdir(path + "/server", 0o700)
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { fail("no pipe can be made") }
        let arguments = [
            "--root", path + "/server", "--bucket", Self.bucket, "--region", "cn-bench",
            "--credentials", path + "/credentials",
        ]
        let started = ChildProcess.spawn(
            programs + "/osssync-server",
            arguments,
            ["PATH=/usr/bin:/bin"],
            output: ends[1]
        )
        guard let started else { fail("osssync-server cannot be started; run 'make build' first") }
        server = started
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(ends[0], &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        let text = String(decoding: line, as: UTF8.self)
        let quoted = text.split(separator: "\"")
        guard let address = quoted.first(where: { $0.hasPrefix("http://") }) else {
            fail("osssync-server did not say where it listens")
        }
        url = String(address)
    }

    var environmentVariables: [String: String] {
        [
            "PATH": "/usr/bin:/bin", "HOME": path, "OSS_ACCESS_KEY_ID": Self.keyID,
            "OSS_ACCESS_KEY_SECRET": Self.keySecret, "OSS_REGION": "cn-bench",
            "OSS_ENDPOINT": url,
        ]
    }

    var environment: [String] { environmentVariables.map { "\($0)=\($1)" } }

    func osssync(_ arguments: [String]) -> Cost {
        let cost = ChildProcess.run(
            programs + "/osssync",
            arguments + ["--progress", "none"],
            environment
        )
        guard cost.status == 0 else {
            fail("osssync \(arguments.joined(separator: " ")) ended with \(cost.status >> 8)")
        }
        return cost
    }

    func remove(_ name: String) {
        _ = ChildProcess.run("rm", ["-rf", path + "/" + name], environment)
    }

    func close() {
        kill(server, SIGTERM)
        var status: Int32 = 0
        unsafe waitpid(server, &status, 0)
        _ = ChildProcess.run("rm", ["-rf", path], ["PATH=/usr/bin:/bin"])
    }

    static func write(_ path: String, _ bytes: [UInt8], times: Int = 1) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { fail("'\(path)' cannot be written") }
        for _ in 0..<times {
            var offset = 0
            while offset < bytes.count {
                let count = unsafe bytes.withUnsafeBytes { buffer in
                    #if canImport(Glibc)
                    unsafe Glibc.write(
                        descriptor,
                        buffer.baseAddress?.advanced(by: offset),
                        buffer.count - offset
                    )
                    #else
                    unsafe Darwin.write(
                        descriptor,
                        buffer.baseAddress?.advanced(by: offset),
                        buffer.count - offset
                    )
                    #endif
                }
                guard count > 0 else { fail("'\(path)' cannot be written") }
                offset += count
            }
        }
        close(descriptor)
    }

    private static func close(_ descriptor: Int32) {
        #if canImport(Glibc)
        _ = Glibc.close(descriptor)
        #else
        _ = Darwin.close(descriptor)
        #endif
    }
}
