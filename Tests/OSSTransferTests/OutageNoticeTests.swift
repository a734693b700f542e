import OSSTransfer
import StoreFixture
import Testing

@Suite("A transfer without a connection", .timeLimit(.minutes(5)))
struct OutageNoticeTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// Reports the notices of a transfer as they come.
    private struct Waits: Sendable {
        let notices: AsyncStream<TransferNotice>
        let add: @Sendable (TransferNotice) -> Void

        init() {
            let (notices, continuation) = AsyncStream.makeStream(of: TransferNotice.self)
            self.notices = notices
            add = { continuation.yield($0) }
        }

        /// The first wait for a connection.
        func first() async -> (pause: Duration, message: String)? {
            for await case .waiting(let pause, let message) in notices { return (pause, message) }
            return nil
        }
    }

    @Test func `says so at the first failure, and no monitor counts the wait twice`() async throws {
        let monitor = TransferMonitor()
        // The usual settings, with which the attempt takes minutes.
        let client = try fixture.client {
            $0.endpoint = StoreFixture.deadEndpoint
            $0.connection.monitor = monitor
        }
        let waits = Waits()
        let download = try ResumableDownload(
            from: .object(client, key: "key"),
            to: fixture.path("file"),
            onNotice: waits.add
        )
        let transfer = download.start()
        let told = try #require(await waits.first())
        #expect(told.message.contains("the connection could not be made"))
        #expect(told.pause > .zero && told.pause <= .seconds(30))
        #expect(monitor.counters.waits == told.pause)
        #expect(transfer.state == .running)
        transfer.cancel()
        #expect(try await transfer.value == .cancelled)
    }

    @Test func `is told also if another transfer tries for all`() async throws {
        let client = try fixture.client { $0.endpoint = StoreFixture.deadEndpoint }
        let (first, second) = (Waits(), Waits())
        let transfers = try [first, second].enumerated().map { index, waits in
            try ResumableDownload(
                from: .object(client, key: "key"),
                to: fixture.path("file\(index)"),
                onNotice: waits.add
            ).transfer
        }
        transfers[0].resume()
        #expect(await first.first() != nil)
        transfers[1].resume()
        let told = try #require(await second.first())
        #expect(told.message.contains("the connection could not be made"))
        for transfer in transfers { transfer.cancel() }
        for transfer in transfers { _ = try await transfer.value }
    }

    @Test func `is an event of its manager`() async throws {
        let client = try fixture.client { $0.endpoint = StoreFixture.deadEndpoint }
        let source = DownloadSource.object(client, key: "key")
        let manager = try await TransferManager(directory: fixture.path("transfers")) { _ in
            .download(source, to: fixture.path("file"))
        }
        let events = manager.events
        try await manager.add("a")
        try await manager.start("a")
        async let run: Void = manager.runUntilIdle()
        for await event in events {
            if case .notice(.waiting) = event.kind { break }
        }
        try await manager.cancel("a")
        try await run
    }
}
