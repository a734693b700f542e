import Foundation
import OSSTransfer
import StorageServer
import StoreFixture
import Testing

@Suite("A download with a damaged partial file", .timeLimit(.minutes(5)))
struct DamagedRangeTests {
    @Test func `keeps what is sound of a complete range`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        let content = StoreFixture.ramp(12_000_000)
        let urls = try await fixture.presigned(content)
        var options = DownloadOptions()
        options.streams = 1
        options.partSize = 8 << 20
        options.recordDirectory = fixture.path("records")
        func make(_ notices: Notices) throws -> ResumableDownload {
            try ResumableDownload(
                from: .presigned(urls),
                to: fixture.path("file"),
                options: options,
                onNotice: notices.add
            )
        }
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "rangeStart": \(8 << 20)},
              "effect": {"hold": true, "close": {"how": "rst"}}}]
            """
        )
        let first = try make(Notices())
        async let outcome = fixture.lettingGo { try await first.run() }
        await fixture.server.untilHeld(1)
        first.transfer.pause()
        guard case .paused(let checkpoint?) = try await outcome else {
            Issue.record("it was to be paused")
            return
        }
        try fixture.setFaults("[]")
        #expect(checkpoint.receivedLength == 8 << 20)
        let name = try #require(fixture.names(in: ".").first { $0.hasPrefix(".osssync-") })
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.path(name)))
        try handle.seek(toOffset: 6_000_000)
        try handle.write(contentsOf: Data([0xFF]))
        try handle.close()
        fixture.server.clearRequestLog()
        let notices = Notices()
        _ = try await make(notices).run()
        let kept: Int64 = 4 << 20
        #expect(
            notices.all == [.startedOver(.damaged(bytes: kept)), .resumed(bytes: kept)]
        )
        #expect(fixture.bytesSent == 12_000_000 - kept)
        #expect(fixture.content("file") == content)
    }
}
