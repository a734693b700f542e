import SyncModel
import SyncTestSupport
import Testing

@testable import ObjectStorage

@Suite("Bodies that are held", .timeLimit(.minutes(10)))
struct HeldBodyTests {
    private func get(
        _ server: ScriptedServer,
        into sink: FileSink,
        length: Int
    ) async throws -> HTTPResponse {
        try await transport().send(
            request(
                server,
                idleLimit: .seconds(5),
                classify: { _ in .file(sink, length: Int64(length)) }
            )
        )
    }

    @Test func `what is held is what came, over two attempts`() async throws {
        let content = ramp(100_000)
        let sink = FileSink(holding: Int64(content.count)) { _ in }
        for piece in [content[..<40_000], content[40_000...]] {
            let server = ScriptedServer { _, _ in [.response("200 OK", body: Array(piece))] }
            defer { server.stop() }
            _ = try await get(server, into: sink, length: piece.count)
        }
        #expect(sink.checksum == CRC64(of: content))
        let held = sink.withHeldBytes { bytes in
            (0..<bytes.byteCount).map { offset in
                unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            }
        }
        #expect(held == content)
    }

    @Test func `more than was announced is refused`() async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK", body: ramp(20))] }
        defer { server.stop() }
        let sink = FileSink(holding: 10) { _ in }
        await #expect(throws: TransportError.bodyTooLong) {
            try await get(server, into: sink, length: 20)
        }
        #expect(sink.received <= 10)
    }
}
