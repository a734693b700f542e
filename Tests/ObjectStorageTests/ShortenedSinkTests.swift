import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

/// Sinks of several ranges, of which fewer are wanted later.
@Suite("A sink of several ranges", .timeLimit(.minutes(10)))
struct ShortenedSinkTests {
    private static let rangeLength = Int(FileSink.blockSize)
    private static let content = ramp(4 * rangeLength - 1000)

    /// Feeds the sink from `start` on; how the last piece was received.
    private func feed(
        _ sink: FileSink,
        _ range: Range<Int>,
        pieces: Int
    ) -> FileSink.Outcome {
        var outcome = FileSink.Outcome.written
        for start in stride(from: range.lowerBound, to: range.upperBound, by: pieces) {
            let piece = Array(Self.content[start..<min(start + pieces, range.upperBound)])
            outcome = unsafe piece.withUnsafeBytes { unsafe sink.write($0) }
            guard case .written = outcome else { return outcome }
        }
        return outcome
    }

    @Test(arguments: [1, 5000, 16 << 10, 600_000])
    func `reports the end of each range`(pieces: Int) {
        let reports = Mutex<[Int64: CRC64]>([:])
        let sink = sink(
            ScratchFile(),
            length: Self.content.count,
            interval: 1 << 30,
            rangeLength: Int64(Self.rangeLength),
            onCheckpoint: { received, checksum in reports.withLock { $0[received] = checksum } }
        )
        guard case .written = feed(sink, 0..<Self.content.count, pieces: pieces) else {
            Issue.record("it was not received")
            return
        }
        sink.end()
        for end in [1, 2, 3].map({ $0 * Self.rangeLength }) + [Self.content.count] {
            let checksum = CRC64(of: Array(Self.content[..<end]))
            #expect(reports.withLock { $0[Int64(end)] } == checksum)
        }
        #expect(sink.checksum == CRC64(of: Self.content))
    }

    @Test(arguments: [0, 1, 100_000, 262_143, 262_144, 300_000, 786_431, 786_432, 1_000_000])
    func `ends with the range that it has begun`(before: Int) {
        let file = ScratchFile()
        let sink = sink(
            file,
            length: Self.content.count,
            rangeLength: Int64(Self.rangeLength)
        )
        _ = feed(sink, 0..<before, pieces: 10_000)
        let end = min(Self.content.count, (before / Self.rangeLength + 1) * Self.rangeLength)
        #expect(sink.shorten() == Int64(Self.content.count - end))
        #expect(sink.shorten() == 0)
        #expect(sink.expectedLength == Int64(end))
        let outcome = feed(sink, before..<Self.content.count, pieces: 10_000)
        switch outcome {
        case .enough: #expect(end < Self.content.count)
        case .written: #expect(end == Self.content.count)
        default: Issue.record("\(outcome)")
        }
        sink.end()
        #expect(sink.received == Int64(end))
        #expect(sink.checksum == CRC64(of: Array(Self.content[..<end])))
        #expect(file.content == Array(Self.content[..<end]))
    }

    @Test func `ends with a piece that ends where the range does`() {
        let sink = sink(
            ScratchFile(),
            length: Self.content.count,
            rangeLength: Int64(Self.rangeLength)
        )
        _ = sink.shorten()
        guard case .enough = feed(sink, 0..<Self.rangeLength, pieces: 16 << 10) else {
            Issue.record("it waits for another byte")
            return
        }
        #expect(sink.received == Int64(Self.rangeLength))
    }

    @Test func `of one range is not shortened, and takes no more than it should`() {
        let sink = sink(ScratchFile(), length: 100)
        #expect(sink.shorten() == 0)
        guard case .tooLong = feed(sink, 0..<101, pieces: 101) else {
            Issue.record("it took too much")
            return
        }
        #expect(sink.received == 0)
    }

    @Test func `ends its request without an error, and with it the connection`() async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK", body: Self.content)] }
        defer { server.stop() }
        let box = Mutex<FileSink?>(nil)
        let file = ScratchFile()
        let sink = sink(
            file,
            length: Self.content.count,
            rangeLength: Int64(Self.rangeLength),
            onProgress: { _ in _ = box.withLock { $0 }?.shorten() }
        )
        box.withLock { $0 = sink }
        let transport = try transport()
        let length = Int64(Self.content.count)
        let sent = request(server, classify: { _ in .file(sink, length: length) })
        #expect(try await transport.send(sent).head.status == 200)
        #expect(sink.received == Int64(Self.rangeLength))
        #expect(file.content == Array(Self.content[..<Self.rangeLength]))
        guard usesLibcurl else { return }
        _ = try await transport.send(request(server))
        #expect(server.connectionCount == 2)
        box.withLock { $0 = nil }
    }
}

@Suite("The system's receive buffer")
struct ReceiveBufferTests {
    @Test(
        arguments: [
            ("4096\t131072\t6291456\n", 6_291_456), ("4096 131072 33554432", 33_554_432),
            ("", nil), ("4096 131072", nil), ("4096 131072 x", nil), ("1 2 0", nil),
            ("1 2 3 4", nil),
        ] as [(String, Int64?)]
    )
    func `is the last of three numbers`(text: String, limit: Int64?) {
        #expect(ReceiveBuffer.limit(text) == limit)
    }
}
