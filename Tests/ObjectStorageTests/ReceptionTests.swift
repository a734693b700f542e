import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

@Suite("Reception", .timeLimit(.minutes(10)))
struct ReceptionTests {
    private func get(
        _ server: ScriptedServer,
        into sink: FileSink,
        length: Int,
        idleLimit: Duration = .seconds(5),
        minimumBytes: Int64 = 0
    ) async throws -> HTTPResponse {
        try await transport().send(
            request(
                server,
                idleLimit: idleLimit,
                minimumBytes: minimumBytes,
                classify: { _ in .file(sink, length: Int64(length)) }
            )
        )
    }

    @Test func `a body is written at its offset with its checksum`() async throws {
        let content = ramp(1_000_000)
        let server = ScriptedServer { _, _ in [.response("200 OK", body: content)] }
        defer { server.stop() }
        let file = ScratchFile(ramp(5))
        let progress = Mutex(0)
        let checkpoints = Mutex<[Int64]>([])
        let sink = sink(
            file,
            length: content.count,
            offset: 5,
            interval: 200_000,
            onCheckpoint: { received, _ in checkpoints.withLock { $0.append(received) } },
            onProgress: { count in progress.withLock { $0 += count } }
        )
        _ = try await get(server, into: sink, length: content.count)
        #expect(file.content == ramp(5) + content)
        #expect(sink.received == Int64(content.count))
        #expect(sink.checksum == CRC64(of: content))
        #expect(progress.withLock { $0 } == content.count)
        let seen = checkpoints.withLock { $0 }
        #expect(seen.last == Int64(content.count))
        #expect(seen.count == 4)
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test(arguments: [0, 1, 4_095, 4_096, 50_000, 99_999])
    func `a body that is cut leaves what came`(cut: Int) async throws {
        let content = ramp(100_000)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
        let server = ScriptedServer { _, index in
            let begin: [ScriptedAction] = [.text(head), .send([UInt8](content[..<cut]))]
            return begin + [index == 0 ? .close : .reset]
        }
        defer { server.stop() }
        for _ in 0..<2 {
            let file = ScratchFile()
            let checkpoint = Mutex<Int64>(0)
            let sink = sink(
                file,
                length: content.count,
                onCheckpoint: { received, _ in checkpoint.withLock { $0 = received } }
            )
            let error = await #expect(throws: TransportError.self) {
                try await get(server, into: sink, length: content.count)
            }
            #expect(error?.retryClass == .transient)
            // A reset may overtake bytes that were sent before it.
            #expect(sink.received <= Int64(cut))
            #expect(file.content == [UInt8](content[..<Int(sink.received)]))
            #expect(sink.checksum == CRC64(of: file.content))
            #expect(checkpoint.withLock { $0 } == sink.received)
        }
    }

    @Test(arguments: [false, true])
    func `a body without a length must have the expected one`(isWhole: Bool) async throws {
        let server = ScriptedServer { _, _ in
            [.text("HTTP/1.1 200 OK\r\n\r\n"), .send(ramp(isWhole ? 1_000 : 999)), .close]
        }
        defer { server.stop() }
        let sink = sink(ScratchFile(), length: 1_000)
        if isWhole {
            _ = try await get(server, into: sink, length: 1_000)
        } else {
            await #expect(throws: TransportError.bodyTooShort(received: 999)) {
                try await get(server, into: sink, length: 1_000)
            }
        }
    }

    @Test func `nothing is written beyond the expected length`() async throws {
        let server = ScriptedServer { _, _ in
            [.text("HTTP/1.1 200 OK\r\n\r\n"), .send(ramp(1_001)), .close]
        }
        defer { server.stop() }
        let file = ScratchFile()
        let sink = sink(file, length: 1_000)
        await #expect(throws: TransportError.bodyTooLong) {
            try await get(server, into: sink, length: 1_000)
        }
        #expect(file.content.count <= 1_000)
    }

    @Test func `more than the announced length is not taken for the next response`() async throws {
        let body = "0123456789"
        let excess = body + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
        let server = ScriptedServer { _, index in
            index == 0
                ? [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n" + excess)]
                : [.response("200 OK", body: [UInt8]("right".utf8))]
        }
        defer { server.stop() }
        let transport = try transport()
        #expect(try await transport.send(request(server)).body == [UInt8](body.utf8))
        #expect(try await transport.send(request(server)).body == [UInt8]("right".utf8))
    }

    private static let chunked = [
        "a\r\n0123456789\r\n0\r\n\r\n", "5\r\n01234\r\n5\r\n56789\r\n0\r\nt: 1\r\n\r\n",
    ]

    @Test(.enabled(if: usesLibcurl), arguments: chunked)
    func `chunks are joined`(chunks: String) async throws {
        let server = ScriptedServer { _, _ in
            [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)]
        }
        defer { server.stop() }
        let file = ScratchFile()
        _ = try await get(server, into: sink(file, length: 10), length: 10)
        #expect(file.content == [UInt8]("0123456789".utf8))
    }

    @Test(
        .enabled(if: usesLibcurl),
        arguments: ["a\r\n0123456789\r\n", "a\r\n01234", "zz\r\n", "5\r\n01234\r\n0\r\n\r\n"]
    )
    func `chunks that end early are an error`(chunks: String) async throws {
        let server = ScriptedServer { _, _ in
            [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks), .close]
        }
        defer { server.stop() }
        await #expect(throws: TransportError.self) {
            try await get(server, into: sink(ScratchFile(), length: 10), length: 10)
        }
    }

    @Test(
        .enabled(if: usesLibcurl),
        arguments: [
            "Content-Length: 5\r\nContent-Length: 6", "Content-Length: -1",
            "Content-Length: 99999999999999999999", "Content-Length: 5, 6", "Content-Length: 1e3",
            ": nameless", "x: \u{1}", " folded: 1", "Content-Length: 5\r\n\tfolded",
        ]
    )
    func `a contradictory head is refused`(lines: String) async throws {
        let server = ScriptedServer { _, _ in
            [.text("HTTP/1.1 200 OK\r\n" + lines + "\r\n\r\nhello"), .close]
        }
        defer { server.stop() }
        let file = ScratchFile()
        let error = await #expect(throws: TransportError.self) {
            try await get(server, into: sink(file, length: 5), length: 5)
        }
        #expect(error?.retryClass != .never)
        #expect(file.content.isEmpty)
    }

    @Test(.enabled(if: usesLibcurl))
    func `an endless head is refused`() async throws {
        let line = "x-filler: " + String(repeating: "a", count: 1_000) + "\r\n"
        let few = String(repeating: "a: b\r\n", count: 300)
        for text in [String(repeating: line, count: 100), few] {
            let server = ScriptedServer { _, _ in [.text("HTTP/1.1 200 OK\r\n" + text), .stall] }
            defer { server.stop() }
            await #expect(
                throws: TransportError.malformedResponse(reason: "its head is too long")
            ) {
                try await transport().send(request(server))
            }
        }
    }

    @Test func `interim responses are skipped`() async throws {
        let server = ScriptedServer { _, _ in
            [.text("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"), .response("200 OK", body: [7])]
        }
        defer { server.stop() }
        let response = try await transport().send(request(server))
        #expect(response.head.status == 200)
        #expect(response.head["link"] == nil)
        #expect(response.body == [7])
    }

    @Test func `a rejected body is not read`() async throws {
        let server = ScriptedServer { _, _ in
            [.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .stall]
        }
        defer { server.stop() }
        let response = try await transport().send(request(server, classify: { _ in .reject }))
        #expect(response.head.status == 200)
    }

    @Test func `a body in memory is limited`() async throws {
        let server = ScriptedServer { _, _ in
            [.text("HTTP/1.1 500 Oops\r\n\r\n"), .send(ramp(200_000)), .stall]
        }
        defer { server.stop() }
        let cut = try await transport().send(
            request(server, classify: { _ in .memory(limit: 1_000, truncates: true) })
        )
        #expect(cut.body == ramp(1_000))
        await #expect(throws: TransportError.bodyTooLong) {
            try await transport().send(
                request(server, classify: { _ in .memory(limit: 1_000, truncates: false) })
            )
        }
    }

    @Test func `a stalled connection is given up`() async throws {
        let server = ScriptedServer { _, _ in
            [.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .stall]
        }
        defer { server.stop() }
        let sink = sink(ScratchFile(), length: 9)
        await #expect(throws: TransportError.stalled) {
            try await get(server, into: sink, length: 9, idleLimit: .milliseconds(200))
        }
        #expect(sink.received == 3)
    }

    @Test func `a dripping connection is given up`() async throws {
        let server = ScriptedServer { _, _ in
            [
                .text("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"),
                .drip(7, everyMilliseconds: 20),
            ]
        }
        defer { server.stop() }
        await #expect(throws: TransportError.stalled) {
            try await get(
                server,
                into: sink(ScratchFile(), length: 1_000_000),
                length: 1_000_000,
                idleLimit: .milliseconds(400),
                minimumBytes: 1_024
            )
        }
    }

    @Test func `a peer that stops reading is given up`() async throws {
        let server = ScriptedServer { _, _ in [.leaveBody, .stopReading] }
        defer { server.stop() }
        await #expect(throws: TransportError.stalled) {
            try await transport().send(
                request(
                    server,
                    .put,
                    body: .bytes(ramp(16 << 20)),
                    idleLimit: .milliseconds(300)
                )
            )
        }
    }

    @Test func `reception waits for acknowledgements`() async throws {
        let content = ramp(4 << 20)
        let server = ScriptedServer { _, _ in [.response("200 OK", body: content)] }
        defer { server.stop() }
        let file = ScratchFile()
        let (reports, feed) = AsyncStream<Int64>.makeStream()
        let sink = sink(
            file,
            length: content.count,
            interval: 1 << 30,
            maximum: 256 << 10,
            onCheckpoint: { received, _ in feed.yield(received) }
        )
        let transport = try transport()
        let sent = request(
            server,
            idleLimit: .milliseconds(200),
            classify: { _ in .file(sink, length: Int64(content.count)) }
        )
        async let response = transport.send(sent)
        var acknowledged: Int64 = 0
        for await received in reports {
            // What waits for us is no stall, whatever the time.
            if acknowledged == 0 { try await Task.sleep(for: .milliseconds(500)) }
            #expect(sink.received == received)
            #expect(received - acknowledged <= 256 << 10 + 16 << 10)
            acknowledged = received
            sink.acknowledge(upTo: received)
            if received == Int64(content.count) { break }
        }
        _ = try await response
        #expect(file.content == content)
        #expect(sink.checksum == CRC64(of: content))
    }

    @Test func `nothing is written after a failure`() {
        let file = ScratchFile()
        let sink = sink(file, length: 10)
        let server = ScriptedServer { _, _ in [] }
        defer { server.stop() }
        let exchange = Exchange(request(server, classify: { _ in .file(sink, length: 10) }))
        for line in ["HTTP/1.1 200 OK\r\n", "\r\n"] {
            #expect(exchange.receive(headerLine: [UInt8](line.utf8).span) {})
        }
        func receive(_ bytes: [UInt8]) -> Exchange.Reception {
            unsafe bytes.withUnsafeBytes { unsafe exchange.receive($0) }
        }
        #expect(receive([1, 2]) == .taken)
        // A hole in the file would have the checksum of its neighbours.
        exchange.fail(.localIO(errno: 28, call: "pwrite"))
        #expect(receive([4, 5]) == .ended)
        sink.end()
        #expect(sink.received == 2)
        #expect(file.content == [1, 2])
    }

    @Test func `a write that fails after a pause is not skipped`() async throws {
        let content = ramp(4 << 20)
        let server = ScriptedServer { _, _ in [.response("200 OK", body: content)] }
        defer { server.stop() }
        let file = ScratchFile()
        let (reports, feed) = AsyncStream<Int64>.makeStream()
        let sink = sink(
            file,
            length: content.count,
            interval: 1 << 30,
            maximum: 256 << 10,
            onCheckpoint: { received, _ in feed.yield(received) }
        )
        let transport = try transport()
        let sent = request(
            server,
            idleLimit: .milliseconds(500),
            classify: { _ in .file(sink, length: Int64(content.count)) }
        )
        async let response = transport.send(sent)
        var iterator = reports.makeAsyncIterator()
        let paused = try #require(await iterator.next())
        file.forbidWriting()
        sink.acknowledge(upTo: paused)
        let error: TransportError?
        do {
            _ = try await response
            error = nil
        } catch let thrown as TransportError {
            error = thrown
        }
        #expect(error == .localIO(errno: 9, call: "pwrite"))
        #expect(sink.received == paused)
        #expect(sink.checksum == CRC64(of: [UInt8](content[..<Int(paused)])))
    }

    @Test func `an acknowledgement within the checkpoint goes on at once`() async throws {
        let content = ramp(1 << 20)
        let server = ScriptedServer { _, _ in [.response("200 OK", body: content)] }
        defer { server.stop() }
        let box = Mutex<FileSink?>(nil)
        let sink = sink(
            ScratchFile(),
            length: content.count,
            interval: 1 << 30,
            maximum: 100_000,
            onCheckpoint: { received, _ in box.withLock { $0 }?.acknowledge(upTo: received) }
        )
        box.withLock { $0 = sink }
        _ = try await get(server, into: sink, length: content.count)
        #expect(sink.checksum == CRC64(of: content))
        box.withLock { $0 = nil }
    }

    @Test func `a file that can't be written is a local error`() async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK", body: [1, 2])] }
        defer { server.stop() }
        let sink = FileSink(
            descriptor: -1,
            fileOffset: 0,
            expectedLength: 2,
            initialChecksum: CRC64(),
            checkpointInterval: 1,
            maximumUnacknowledged: 100,
            onCheckpoint: { _, _ in },
            onProgress: { _ in }
        )
        await #expect(throws: TransportError.localIO(errno: 9, call: "pwrite")) {
            try await get(server, into: sink, length: 2)
        }
        #expect(sink.received == 0)
    }
}
