import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import SyncModel
import Synchronization
import Testing

@Suite("Resumable download")
struct ResumableDownloadTests {
    private static let content = StoreFixture.ramp(3_000_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test func `by signed URLs goes on in another process where it was paused`() async throws {
        let urls = try await fixture.presigned(Self.content)
        let first = try fixture.resumable(.presigned(urls), to: "film")
        let checkpoint = try #require(try await fixture.pause(first))
        #expect(checkpoint.totalLength == 3_000_000)
        #expect(checkpoint.crc64 == CRC64(of: Self.content).value)
        #expect((100_000..<3_000_000).contains(checkpoint.receivedLength))
        #expect(first.transfer.state == .paused)
        #expect(fixture.names(in: ".").count { $0.hasPrefix(".osssync-") } == 1)
        #expect(!fixture.exists("film"))

        // The checkpoint goes through JSON, as an app would keep it.
        let kept = try JSONEncoder().encode(checkpoint)
        let read = try JSONDecoder().decode(Checkpoint.self, from: kept)
        #expect(read == checkpoint)
        let notices = Notices()
        fixture.server.clearRequestLog()
        let second = try fixture.resumable(
            .presigned(urls),
            to: "film",
            checkpoint: read,
            notices: notices
        )
        let file = try #require(try await second.run().file)
        #expect(notices.all == [.resumed(bytes: checkpoint.receivedLength)])
        #expect(fixture.content("film") == Self.content)
        #expect(file.info.size == 3_000_000)
        #expect(file.crc64 == file.info.crc64)
        #expect(fixture.bytesSent == 3_000_000 - checkpoint.receivedLength)
        #expect(fixture.names(in: ".").count { $0.hasPrefix(".osssync-") } == 0)
        #expect(await second.checkpoint == nil)
        #expect(second.transfer.state == .finished)
    }

    @Test(arguments: [0, 1, 70_000]) func `needs no URL for HEAD`(size: Int) async throws {
        let content = StoreFixture.ramp(size)
        let urls = try await fixture.presigned(content)
        fixture.server.clearRequestLog()
        let download = try fixture.resumable(.presigned(PresignedURLs(get: urls.get)))
        #expect(try await download.run().file?.info.size == Int64(size))
        #expect(fixture.content("file") == content)
        #expect(fixture.server.requestLog.allSatisfy { $0.operation == "GetObject" })
    }

    @Test func `from a bucket keeps its record where it was told to`() async throws {
        let client = try fixture.client()
        try await client.put(Self.content, to: "key")
        var options = DownloadOptions.inPieces
        options.recordDirectory = fixture.path("records")
        func download() throws(TransferError) -> ResumableDownload {
            try fixture.resumable(.object(client, key: "key"), options)
        }
        let checkpoint = try #require(try await fixture.pause(download()))
        #expect(fixture.names(in: "records").count == 1)
        let second = try download()
        fixture.server.clearRequestLog()
        _ = try await second.run()
        #expect(fixture.content("file") == Self.content)
        #expect(fixture.bytesSent == 3_000_000 - checkpoint.receivedLength)
        #expect(fixture.names(in: "records") == [])
        #expect(!fixture.names(in: ".").contains { $0.hasPrefix(".osssync-") })
    }

    @Test func `of an object that was replaced starts over and says so`() async throws {
        let urls = try await fixture.presigned(Self.content)
        let notices = Notices()
        let download = try fixture.resumable(.presigned(urls), notices: notices)
        let checkpoint = try #require(try await fixture.pause(download))
        let other = StoreFixture.ramp(2_500_000, 7)
        try await fixture.client().put(other, to: "key")
        _ = try await download.run()
        #expect(fixture.content("file") == other)
        #expect(
            notices.all == [
                .resumed(bytes: checkpoint.receivedLength), .startedOver(.objectChanged),
            ]
        )
        let last = await download.transfer.progress.first { $0.completedBytes == $0.totalBytes }
        #expect(last?.totalBytes == 2_500_000)
        #expect(!fixture.names(in: ".").contains { $0.hasPrefix(".osssync-") })
    }

    @Test func `replaced in the middle of a request ends as the new object`() async throws {
        let urls = try await fixture.presigned(Self.content)
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "occurrence": 3},
              "effect": {"replaceObject": {"at": 100, "size": 1000000}}}]
            """
        )
        let notices = Notices()
        let download = try fixture.resumable(.presigned(urls), notices: notices)
        let file = try #require(try await download.run().file)
        #expect(file.info.size == 1_000_000)
        #expect(fixture.content("file")?.count == 1_000_000)
        #expect(file.crc64 == file.info.crc64)
        #expect(notices.all == [.startedOver(.objectChanged)])
    }

    @Test func `detects a checkpoint of another object and leaves what it names`() async throws {
        let urls = try await fixture.presigned(Self.content)
        let first = try fixture.resumable(.presigned(urls), to: "a")
        let checkpoint = try #require(try await fixture.pause(first))
        let other = StoreFixture.ramp(100_000, 3)
        let others = try await fixture.presigned(other, "other")
        let notices = Notices()
        let second = try fixture.resumable(
            .presigned(others),
            to: "b",
            checkpoint: checkpoint,
            notices: notices
        )
        _ = try await second.run()
        #expect(notices.all == [.startedOver(.foreignCheckpoint)])
        #expect(fixture.content("b") == other)
        _ = try await first.run()
        #expect(fixture.content("a") == Self.content)
    }

    @Test func `detects a shorter partial file`() async throws {
        let (notices, download) = try await fixture.damaged(Self.content) { partial in
            let handle = try FileHandle(forWritingTo: partial)
            try handle.truncate(atOffset: 1_000)
            try handle.close()
        }
        _ = try await download.run()
        #expect(notices.all == [.startedOver(.partialUnusable)])
        #expect(fixture.content("file") == Self.content)
    }

    @Test func `detects a damaged partial file and fetches only that range again`() async throws {
        let (notices, download) = try await fixture.damaged(Self.content) { partial in
            let handle = try FileHandle(forUpdating: partial)
            try handle.write(contentsOf: Data([0xFF]))
            try handle.close()
        }
        let checkpoint = try #require(await download.checkpoint)
        fixture.server.clearRequestLog()
        _ = try await download.run()
        #expect(fixture.content("file") == Self.content)
        let lost = try #require(checkpoint.ranges.first { $0.offset == 0 }?.length)
        #expect(notices.all.first == .startedOver(.damaged(bytes: lost)))
        #expect(fixture.bytesSent == 3_000_000 - checkpoint.receivedLength + lost)
    }

    @Test func `cancelled leaves nothing`() async throws {
        let urls = try await fixture.presigned(Self.content)
        var options = DownloadOptions.inPieces
        options.recordDirectory = fixture.path("records")
        let download = try fixture.resumable(.presigned(urls), options)
        _ = try await fixture.pause(download)
        try await download.discard()
        #expect(download.transfer.state == .cancelled)
        #expect(await download.checkpoint == nil)
        #expect(fixture.names(in: "records") == [])
        #expect(!fixture.names(in: ".").contains { $0.hasPrefix(".osssync-") })

        let second = try fixture.resumable(.presigned(urls))
        let outcome = try await fixture.holding(second) { second.transfer.cancel() }
        #expect(outcome == .cancelled)
        #expect(!fixture.names(in: ".").contains { $0.hasPrefix(".osssync-") })
        #expect(try await second.run().file != nil)
        #expect(fixture.content("file") == Self.content)
    }

    @Test func `whose task is cancelled can go on`() async throws {
        let urls = try await fixture.presigned(Self.content)
        let download = try fixture.resumable(.presigned(urls))
        try fixture.hold("GetObject", from: 20)
        let task = Task { try await download.run() }
        await fixture.server.untilHeld(1)
        task.cancel()
        await expectError(.cancelled) { try await task.value }
        try fixture.setFaults("[]")
        let checkpoint = try #require(await download.checkpoint)
        #expect(checkpoint.receivedLength >= 100_000)
        fixture.server.clearRequestLog()
        _ = try await download.run()
        #expect(fixture.content("file") == Self.content)
        #expect(fixture.bytesSent == 3_000_000 - checkpoint.receivedLength)
    }

    @Test func `is under way once only`() async throws {
        let urls = try await fixture.presigned(Self.content)
        let download = try fixture.resumable(.presigned(urls))
        let outcome = try await fixture.holding(download) {
            #expect(download.start() === download.transfer)
            // The same by the checkpoint, as if in another process: its partial file is locked.
            let checkpoint = try #require(await download.checkpoint)
            let second = try fixture.resumable(.presigned(urls), checkpoint: checkpoint)
            await expectError(.alreadyRunning) { try await second.run() }
            download.transfer.pause()
        }
        guard case .paused = outcome else {
            Issue.record("it was not paused")
            return
        }
    }

    @Test func `does not replace a file if it must not`() async throws {
        let urls = try await fixture.presigned([1, 2, 3])
        try fixture.write("file", [9])
        var options = DownloadOptions.inPieces
        options.ifExists = .fail
        let download = try fixture.resumable(.presigned(urls), options)
        await expectError(.alreadyExists) { try await download.run() }
        #expect(fixture.content("file") == [9])
        let other = try fixture.resumable(.presigned(urls))
        _ = try await other.run()
        #expect(fixture.content("file") == [1, 2, 3])
    }
}
