import OSSTransfer
import StorageServer
import StoreFixture
import Testing

@Suite("Progress of an upload")
struct UploadProgressTests {
    private static let content = StoreFixture.ramp(3_000_000)

    /// Parts that are cut off are sent again, which is told when that begins.
    @Test func `does not go back at a pause, and begins again with what the store has`()
        async throws
    {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        try fixture.write("file", Self.content)
        var options = UploadOptions()
        options.partSize = 200_000
        options.recordDirectory = fixture.path("records")
        options.progressInterval = .milliseconds(1)
        let upload = try fixture.resumable(options)
        var progress = upload.transfer.progress.makeAsyncIterator()
        var all: [TransferProgress] = []
        _ = try await fixture.interrupt(upload) { upload in
            // More than the five parts that are stored.
            while all.last?.completedBytes ?? 0 <= 1_000_000 {
                all.append(try #require(await progress.next()))
            }
            upload.transfer.pause()
        }
        while let next = await progress.next() { all.append(next) }
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completedBytes <= $1.completedBytes })
        #expect(all.allSatisfy { $0.stepBytes >= 0 })
        #expect(try #require(all.last).completedBytes > 1_000_000)
        // The store has five parts; the loop begins before the parts are listed.
        var rest: [TransferProgress] = []
        let transfer = upload.start()
        for await next in transfer.progress { rest.append(next) }
        #expect(rest.contains { $0.completedBytes < all.last?.completedBytes ?? 0 })
        #expect(rest.last?.completedBytes == 3_000_000)
        #expect(rest.allSatisfy { $0.stepBytes >= 0 })
        #expect(rest.reduce(0) { $0 + $1.stepBytes } == 2_000_000)
    }

    @Test func `does not go back when a part is sent again`() async throws {
        let fixture = try StoreFixture()
        defer { fixture.stop() }
        try fixture.write("file", Self.content)
        var options = UploadOptions()
        options.partSize = 200_000
        options.streams = 1
        options.progressInterval = .milliseconds(1)
        try fixture.setFaults(
            """
            [{"match": {"operation": "UploadPart", "occurrence": 3},
              "effect": {"hold": true, "close": {"when": "before", "how": "rst"}}}]
            """
        )
        let upload = try fixture.resumable(options)
        // It tells of what moves from now on.
        var progress = upload.transfer.progress.makeAsyncIterator()
        let transfer = upload.start()
        var all: [TransferProgress] = []
        await fixture.server.untilHeld(1)
        while all.last?.completedBytes ?? 0 <= 400_000 {
            all.append(try #require(await progress.next()))
        }
        try fixture.setFaults("[]")
        while let next = await progress.next() { all.append(next) }
        #expect(try await transfer.value.object?.size == 3_000_000)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completedBytes <= $1.completedBytes })
        #expect(all.last?.completedBytes == 3_000_000)
        // What was lost may have moved, too: libcurl sends it again by itself.
        #expect(all.reduce(0) { $0 + $1.stepBytes } >= 3_000_000)
    }
}
