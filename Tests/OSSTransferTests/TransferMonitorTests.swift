import Foundation
import OSSBucket
import OSSTransfer
import StoreFixture
import Synchronization
import Testing

@Suite("A monitor", .timeLimit(.minutes(5)))
struct TransferMonitorTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test func `counts what a client and its transfers send and receive`() async throws {
        let monitor = TransferMonitor()
        let client = try fixture.client { $0.connection.monitor = monitor }
        let bytes = StoreFixture.ramp(300_000)
        try await client.put(bytes, to: "k")
        #expect(monitor.counters.requests == 1)
        #expect(monitor.counters.bytesSent == 300_000)
        let download = try ResumableDownload(
            from: .object(client, key: "k"),
            to: fixture.path("file")
        )
        _ = try await download.run()
        #expect(monitor.counters.bytesReceived == 300_000)
        #expect(monitor.counters.retries == 0)
        #expect(monitor.counters.waits == .zero)
    }

    @Test func `counts and says what is repeated`() async throws {
        let lines = Mutex<[String]>([])
        let retries = Mutex<[RetryEvent]>([])
        let monitor = TransferMonitor { level, message, metadata in
            lines.withLock {
                $0.append("\(level.rawValue) \(message) \(metadata["key"] ?? "-")")
            }
        } onRetry: { event in
            retries.withLock { $0.append(event) }
        }
        let client = try fixture.client { $0.connection.monitor = monitor }
        try await client.put([1], to: "k")
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "first": 1},
              "effect": {"fail": {"status": 503, "code": "ServiceUnavailable"}}}]
            """
        )
        #expect(try await client.get("k").value?.bytes == [1])
        #expect(monitor.counters.retries == 1)
        #expect(monitor.counters.requests == 3)
        #expect(monitor.counters.waits > .zero)
        #expect(retries.withLock { $0.map(\.key) } == ["k"])
        let line = try #require(lines.withLock { $0.first })
        #expect(line.hasPrefix("warning GetObject failed: ") && line.hasSuffix(" k"))
    }

    @Test func `says what happens to a transfer by signed URLs`() async throws {
        let client = try fixture.client()
        try await client.put(StoreFixture.ramp(100_000), to: "k")
        let url = try await client.presignedURL(.get, key: "k", lifetime: .seconds(60))
        let levels = Mutex<[TransferMonitor.Level]>([])
        let monitor = TransferMonitor { level, _, metadata in
            guard metadata["transfer"] != nil else { return }
            levels.withLock { $0.append(level) }
        }
        var connection = ConnectionSettings()
        connection.monitor = monitor
        let other = try JSONDecoder().decode(Checkpoint.self, from: CheckpointFormatTests.encoded)
        let download = try ResumableDownload(
            from: .presigned(PresignedURLs(get: url), connection: connection),
            to: fixture.path("file"),
            checkpoint: other
        )
        _ = try await download.run()
        #expect(levels.withLock { $0 } == [.notice])
        #expect(monitor.counters.bytesReceived == 100_000)
    }
}
