import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

@Suite("Cancellation", .timeLimit(.minutes(10)))
struct CancellationTests {
    @Test func `a cancelled call returns, and touches its sink no more`() async throws {
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let server = ScriptedServer { _, _ in
            [
                .text("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nabc"),
                .drip(7, everyMilliseconds: 5),
            ]
        }
        defer { server.stop() }
        let transport = try transport()
        let file = ScratchFile()
        let checkpoint = Mutex<Int64>(0)
        let sink = sink(
            file,
            length: 1_000_000,
            onCheckpoint: { received, _ in checkpoint.withLock { $0 = received } },
            onProgress: { _ in begin.yield() }
        )
        let sent = request(server, classify: { _ in .file(sink, length: 1_000_000) })
        await withTaskGroup(of: TransportError?.self) { group in
            group.addTask {
                do throws(TransportError) {
                    _ = try await transport.send(sent)
                    return nil
                } catch {
                    return error
                }
            }
            for await _ in begun { break }
            group.cancelAll()
            #expect(await group.next() == .some(.cancelled))
        }
        let received = sink.received
        #expect(checkpoint.withLock { $0 } == received)
        // A later request on the same thread proves that nothing of the first is left there.
        let other = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { other.stop() }
        for _ in 0..<3 { _ = try await transport.send(request(other)) }
        #expect(sink.received == received)
    }

    @Test func `a call that is cancelled before it begins sends nothing`() async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let transport = try transport()
        let sent = request(server)
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                await #expect(throws: TransportError.cancelled) { try await transport.send(sent) }
            }
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `a hundred requests at once are all answered`() async throws {
        let server = ScriptedServer { request, _ in
            [.response("200 OK", body: [UInt8](request.target.utf8))]
        }
        defer { server.stop() }
        let transport = try transport()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let target = "/\(number)"
                    let response = try await transport.send(request(server, target: target))
                    return response.body == [UInt8](target.utf8)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
