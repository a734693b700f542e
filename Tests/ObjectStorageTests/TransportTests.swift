import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

/// True if the tests run over libcurl. URLSession sends headers of its own in an order of its own,
/// resolves dots, and on Linux ends the process where an answer makes no sense to libcurl.
#if SystemLibraries
let usesLibcurl = true
#else
let usesLibcurl = false
#endif

/// What a request to a scripted server needs, with everything quick.
func request(
    _ server: ScriptedServer,
    _ method: HTTPMethod = .get,
    target: String = "/key",
    headers: [(name: String, value: String)] = [],
    body: RequestBody = .none,
    idleLimit: Duration = .seconds(5),
    minimumBytes: Int64 = 0,
    isReplayable: Bool = true,
    needsFreshConnection: Bool = false,
    onSent: @escaping @Sendable (Int) -> Void = { _ in },
    classify: @escaping @Sendable (ResponseHead) -> BodyDisposition = { _ in
        .memory(limit: 1 << 20, truncates: false)
    }
) -> HTTPRequest {
    HTTPRequest(
        method: method,
        url: server.url + target,
        headers: headers,
        body: body,
        stallLimits: StallLimits(idleLimit: idleLimit, minimumBytes: minimumBytes),
        isReplayable: isReplayable,
        needsFreshConnection: needsFreshConnection,
        onSent: onSent,
        classify: classify
    )
}

func transport() throws -> HTTPTransport {
    var network = NetworkSettings()
    network.connectTimeout = .seconds(5)
    network.connectionLimit = 4
    return try HTTPTransport(network)
}

/// A sink that acknowledges every checkpoint at once.
func sink(
    _ file: ScratchFile,
    length: Int,
    offset: Int64 = 0,
    interval: Int64 = 1 << 20,
    maximum: Int64 = 1 << 30,
    rangeLength: Int64 = .max,
    onCheckpoint: @escaping @Sendable (Int64, CRC64) -> Void = { _, _ in },
    onProgress: @escaping @Sendable (Int) -> Void = { _ in }
) -> FileSink {
    FileSink(
        descriptor: file.descriptor,
        fileOffset: offset,
        expectedLength: Int64(length),
        initialChecksum: CRC64(),
        checkpointInterval: interval,
        maximumUnacknowledged: maximum,
        rangeLength: rangeLength,
        onCheckpoint: onCheckpoint,
        // The file lives as long as its sink.
        onProgress: { count in withExtendedLifetime(file) { onProgress(count) } }
    )
}

@Suite("Transport", .timeLimit(.minutes(10)))
struct TransportTests {
    @Test(.enabled(if: usesLibcurl))
    func `a path is sent byte for byte`() async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let transport = try transport()
        for target in ["/a/../b", "/a/./b", "//a//b/", "/%2B%20%e4?x=%2F&y", "/a%2Fb%3F"] {
            _ = try await transport.send(request(server, target: target))
            #expect(server.requests.last?.target == target)
        }
        #expect(server.connectionCount == 1)
    }

    @Test(.enabled(if: !usesLibcurl), arguments: ["/a/../b", "/a/./b", "/.."])
    func `an address that would be another one is refused`(target: String) async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let error = await #expect(throws: TransportError.self) {
            try await transport().send(request(server, target: target))
        }
        #expect(error?.mayHaveReachedServer == false)
        #expect(error?.retryClass == .never)
        #expect(error?.message.contains("a key with a segment '.' or '..'") == true)
        #expect(server.requests.isEmpty)
    }

    /// Small bodies are handed to libcurl in another way than large ones.
    @Test(.enabled(if: usesLibcurl), arguments: [10, 2 << 20])
    func `only the headers that were asked for are sent`(size: Int) async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let transport = try transport()
        let body = RequestBody.bytes(ramp(size))
        let headers = [(name: "x-oss-meta-a", value: "b  c"), (name: "User-Agent", value: "u")]
        for method in [HTTPMethod.put, .post, .delete, .head] {
            let hasBody = method == .put || method == .post
            _ = try await transport.send(
                request(server, method, headers: headers, body: hasBody ? body : .none)
            )
            let seen = try #require(server.requests.last)
            #expect(seen.method == method.rawValue)
            let names = Set(seen.headers.map(\.name)).subtracting(["host", "accept"])
            #expect(
                names.subtracting(hasBody ? ["content-length"] : []) == [
                    "x-oss-meta-a", "user-agent",
                ]
            )
            #expect(seen["x-oss-meta-a"] == "b  c")
        }
    }

    @Test(.enabled(if: usesLibcurl))
    func `many long headers are sent, and few after them`() async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let transport = try transport()
        let headers = (0..<60).map { number in
            (name: "x-oss-meta-\(number)", value: String(repeating: "v", count: number * 10))
        }
        for count in [60, 1, 0, 30] {
            let sent = headers.prefix(count)
            _ = try await transport.send(request(server, headers: Array(sent)))
            let seen = server.requests.last?.headers.filter { $0.name.hasPrefix("x-oss-") } ?? []
            #expect(seen.map(\.name) == sent.map(\.name))
            #expect(seen.map(\.value) == sent.map(\.value))
        }
        #expect(server.connectionCount == 1)
    }

    @Test func `small and large bodies follow each other`() async throws {
        let sizes = [10, 300_000, 10, 1 << 20, 32 << 10, (32 << 10) + 1, 0]
        let server = ScriptedServer { request, _ in
            [.response("200 OK", body: ramp(Int(request.target.dropFirst()) ?? 0))]
        }
        defer { server.stop() }
        let transport = try transport()
        for size in sizes {
            // An answer may be longer than what was expected.
            for expected in [nil, 0, Int64(size)] {
                var asked = request(server, target: "/\(size)")
                asked.answerLength = expected
                #expect(try await transport.send(asked).body == ramp(size))
            }
            let sent = RequestBody.bytes(ramp(size))
            _ = try await transport.send(request(server, .put, target: "/0", body: sent))
            #expect(server.requests.last?.body == ramp(size))
        }
        #expect(server.connectionCount == 1)
    }

    @Test func `an empty body has a length`() async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let transport = try transport()
        for method in [HTTPMethod.put, .post] {
            let response = try await transport.send(request(server, method))
            #expect(server.requests.last?["content-length"] == "0")
            #expect(response.sent?.checksum == CRC64())
        }
    }

    @Test func `a body is digested while it is sent`() async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let transport = try transport()
        let content = ramp(3 << 20)
        let file = ScratchFile(content)
        let region = FileRegion(
            descriptor: file.descriptor,
            range: ByteRange(offset: 1_000, length: 2_000_001)
        )
        let progress = Mutex(0)
        var request = request(
            server,
            .put,
            body: .file(region),
            onSent: { count in progress.withLock { $0 += count } }
        )
        request.computesMD5 = true
        let response = try await transport.send(request)
        let sent = [UInt8](content[1_000..<2_001_001])
        #expect(server.requests.last?.body == sent)
        #expect(response.sent?.checksum == CRC64(of: sent))
        #expect(response.sent?.md5 == Digest.md5(sent))
        #expect(progress.withLock { $0 } == 2_000_001)
    }

    /// Runs what waits for a response on the transport's thread, while that hands it over.
    private final class Immediate: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            unsafe UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    @Test(.enabled(if: usesLibcurl))
    func `nothing of a request is held when its response is there`() async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let transport = try transport()
        let isHeld = try await withTaskExecutorPreference(Immediate()) {
            weak var held: ScratchFile?
            do {
                let file = ScratchFile([1])
                held = file
                _ = try await transport.send(
                    request(
                        server,
                        .put,
                        body: .bytes([1]),
                        onSent: { _ in withExtendedLifetime(file) {} }
                    )
                )
            }
            return held != nil
        }
        #expect(!isHeld)
    }

    @Test func `a file that ends early is not sent as if it were whole`() async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let file = ScratchFile(ramp(1_000))
        let region = FileRegion(
            descriptor: file.descriptor,
            range: ByteRange(offset: 0, length: 1_001)
        )
        await #expect(throws: TransportError.sourceChanged) {
            try await transport().send(request(server, .put, body: .file(region)))
        }
    }

    @Test func `a file that can't be read is a local error`() async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let region = FileRegion(descriptor: -1, range: ByteRange(offset: 0, length: 10))
        await #expect(throws: TransportError.localIO(errno: 9, call: "pread")) {
            try await transport().send(request(server, .put, body: .file(region)))
        }
    }

    @Test func `an answer before the end of the body is no success`() async throws {
        let server = ScriptedServer { _, _ in [.leaveBody, .response("200 OK"), .stopReading] }
        defer { server.stop() }
        await #expect(throws: TransportError.self) {
            try await transport().send(
                request(
                    server,
                    .put,
                    body: .bytes(ramp(32 << 20)),
                    idleLimit: .milliseconds(300)
                )
            )
        }
    }

    @Test(.enabled(if: usesLibcurl))
    func `an early refusal is returned`() async throws {
        let server = ScriptedServer { _, _ in
            [.leaveBody, .response("403 Forbidden", body: [1, 2, 3]), .stall]
        }
        defer { server.stop() }
        let response = try await transport().send(
            request(server, .put, body: .bytes(ramp(32 << 20)))
        )
        #expect(response.head.status == 403)
        #expect(response.sent == nil)
    }

    @Test(.enabled(if: usesLibcurl), arguments: [100, 100_000])
    func `a dead connection is replaced, and the body sent from its start`(
        size: Int
    ) async throws {
        let server = ScriptedServer { _, index in
            index == 1 ? [.reset] : [.response("200 OK")]
        }
        defer { server.stop() }
        let transport = try transport()
        _ = try await transport.send(request(server))
        let content = ramp(size)
        let progress = Mutex(0)
        let response = try await transport.send(
            request(
                server,
                .put,
                body: .bytes(content),
                onSent: { count in progress.withLock { $0 += count } }
            )
        )
        #expect(response.sent?.checksum == CRC64(of: content))
        #expect(server.requests.last?.body == content)
        #expect(progress.withLock { $0 } == content.count)
        #expect(server.connectionCount == 2)
    }

    @Test(arguments: [RequestBody.none, .bytes([1, 2, 3])])
    func `what must not be repeated is not repeated`(body: RequestBody) async throws {
        let server = ScriptedServer { _, index in
            index == 1 ? [.reset] : [.response("200 OK")]
        }
        defer { server.stop() }
        let transport = try transport()
        _ = try await transport.send(request(server))
        await #expect(throws: TransportError.connectionLost) {
            try await transport.send(request(server, .post, body: body, isReplayable: false))
        }
        #expect(server.requests.count == 2)
    }

    @Test func `a refused connection is told from a lost one`() async throws {
        let server = ScriptedServer { _, _ in [.reset] }
        await #expect(throws: TransportError.connectionLost) {
            try await transport().send(request(server))
        }
        server.stop()
        let refused = await #expect(throws: TransportError.self) {
            try await transport().send(request(server))
        }
        #expect(refused?.mayHaveReachedServer == false)
    }

    @Test func `a name without an address is not found`() async throws {
        var unknown = HTTPRequest(
            method: .get,
            url: "http://no-such-host.invalid/",
            headers: [],
            body: .none,
            stallLimits: StallLimits(idleLimit: .seconds(5), minimumBytes: 0),
            isReplayable: true,
            needsFreshConnection: false,
            onSent: { _ in },
            classify: { _ in .reject }
        )
        unknown.method = .head
        let sent = unknown
        let transport = try transport()
        for _ in 0..<3 {
            await #expect(throws: TransportError.dnsFailed) { try await transport.send(sent) }
        }
    }

    @Test(.enabled(if: usesLibcurl))
    func `plain text is not TLS`() async throws {
        let greeting = [UInt8]("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
        let server = ScriptedServer(greeting: greeting) { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        var secure = request(server)
        secure.url = "https://127.0.0.1:\(server.port)/"
        let sent = secure
        let error = await #expect(throws: TransportError.self) {
            try await transport().send(sent)
        }
        guard case .tlsFailed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.retryClass == .never)
        #expect(server.requests.isEmpty)
    }
}
