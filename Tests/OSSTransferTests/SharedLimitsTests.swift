import Foundation
import OSSBucket
import StoreFixture
import Testing

@testable import OSSTransfer
@testable import ObjectTransfer

@Suite("Limits that sources share", .timeLimit(.minutes(5)))
struct SharedLimitsTests {
    private static let content = StoreFixture.ramp(300_000)

    private func download(
        _ fixture: StoreFixture,
        _ urls: PresignedURLs,
        to name: String,
        _ limits: SharedLimits
    ) throws -> ResumableDownload {
        var connection = ConnectionSettings()
        connection.sharedLimits = limits
        return try ResumableDownload(
            from: .presigned(urls, connection: connection),
            to: fixture.path(name)
        )
    }

    #if SystemLibraries
    @Test func `are one bandwidth for signed URLs and buckets`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let urls = try await fixture.presigned(Self.content)
        let limits = try SharedLimits(bandwidth: 400_000)
        let download = try download(fixture, urls, to: "a", limits)
        let client = try fixture.client { $0.connection.sharedLimits = limits }
        let start = ContinuousClock.now
        async let read = client.get("key", maxBytes: 1 << 20).value
        _ = try await download.run()
        #expect(try await read?.bytes == Self.content)
        // 100,000 may go at once; the rest takes 1.25 s. With a limit each, half of it takes 0.5 s.
        #expect(ContinuousClock.now - start > .seconds(1))
    }
    #endif

    @Test func `are one line for the requests of all transfers`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let urls = try await fixture.presigned(Self.content)
        let limits = try SharedLimits(connections: 1)
        let first = try download(fixture, urls, to: "a", limits)
        let client = try fixture.client { $0.connection.sharedLimits = limits }
        let second = try ResumableDownload(
            from: .object(client, key: "key"),
            to: fixture.path("b")
        )
        _ = try await fixture.holding(first, at: 1) {
            second.start()
            // The only connection is held at the server.
            while limits.limiter?.waitingCount != 1 { await Task.yield() }
        }
        _ = try await second.transfer.value
        #expect(fixture.content("a") == Self.content && fixture.content("b") == Self.content)
    }

    @Test func `are refused if nothing could move, or one of two bandwidths counted`() throws {
        let wrong: [() throws -> Void] = [
            { _ = try SharedLimits(connections: 0) }, { _ = try SharedLimits(connections: 1_025) },
        ]
        #if SystemLibraries
        let more: [() throws -> Void] = [
            { _ = try SharedLimits(bandwidth: 0) },
            {
                var connection = ConnectionSettings()
                connection.bandwidthLimit = 1
                connection.sharedLimits = try SharedLimits(bandwidth: 1)
                _ = try DownloadSource.presigned(
                    PresignedURLs(get: "https://bucket.example.com/key"),
                    connection: connection
                )
            },
        ]
        #else
        let more: [() throws -> Void] = []
        #endif
        for attempt in wrong + more {
            let error = #expect(throws: TransferError.self) { try attempt() }
            #expect(error?.code == .configuration)
        }
    }
}
