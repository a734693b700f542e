import Foundation
import OSSTransfer
import StorageServer
import StoreFixture
import Testing

@Suite("A download with a damaged partial file", .timeLimit(.minutes(5)))
struct DamagedRangeTests {
    /// Pauses a download of one stream where `faults` hold it, changes a byte of its partial file,
    /// and resumes it: how much it had received, and what the second attempt told and received.
    private func damaged(
        _ content: [UInt8],
        partSize: Int64 = DownloadOptions().partSize,
        at place: UInt64,
        faults: String
    ) async throws -> (received: Int64, notices: [TransferNotice], sent: Int64) {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let urls = try await fixture.presigned(content)
        var options = DownloadOptions()
        options.streams = 1
        options.partSize = partSize
        options.recordDirectory = fixture.path("records")
        func make(_ notices: Notices) throws -> ResumableDownload {
            try fixture.resumable(.presigned(urls), options, notices: notices)
        }
        try fixture.setFaults(faults)
        let first = try make(Notices())
        async let outcome = fixture.lettingGo { try await first.run() }
        await fixture.server.untilHeld(1)
        first.transfer.pause()
        let result = try await outcome
        guard case .paused(let paused) = result else {
            Issue.record("it was to be paused")
            return (0, [], 0)
        }
        let checkpoint = try #require(paused)
        try fixture.setFaults("[]")
        let name = try #require(fixture.names(in: ".").first { $0.hasPrefix(".osssync-") })
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.path(name)))
        try handle.seek(toOffset: place)
        try handle.write(contentsOf: Data([0xFF]))
        try handle.close()
        fixture.server.clearRequestLog()
        let notices = Notices()
        _ = try await make(notices).run()
        #expect(fixture.content("file") == content)
        return (checkpoint.receivedLength, notices.all, fixture.bytesSent)
    }

    @Test func `keeps what is sound of a damaged range`() async throws {
        let (received, notices, sent) = try await damaged(
            StoreFixture.ramp(8_000_000),
            at: 5_000_000,
            faults: """
                [{"match": {"operation": "GetObject", "from": 2},
                  "effects": [{"holdAt": 3000000}, {"cut": {"at": 3000000, "how": "rst"}}]}]
                """
        )
        // One range of one stream: 2 MiB, 4 MiB, 6 MiB, and what came until the pause.
        #expect(received > 6 << 20 && received < 8_000_000)
        let kept: Int64 = 4 << 20
        #expect(
            notices == [.startedOver(.damaged(bytes: received - kept)), .resumed(bytes: kept)]
        )
        #expect(sent == 8_000_000 - kept)
    }

    @Test func `keeps what is sound of a complete range`() async throws {
        let (received, notices, sent) = try await damaged(
            StoreFixture.ramp(12_000_000),
            partSize: 8 << 20,
            at: 6_000_000,
            faults: """
                [{"match": {"operation": "GetObject", "rangeStart": \(8 << 20)},
                  "effect": {"hold": true, "close": {"how": "rst"}}}]
                """
        )
        #expect(received == 8 << 20)
        let kept: Int64 = 4 << 20
        #expect(notices == [.startedOver(.damaged(bytes: kept)), .resumed(bytes: kept)])
        #expect(sent == 12_000_000 - kept)
    }
}
