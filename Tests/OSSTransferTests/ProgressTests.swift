import OSSTransfer
import StoreFixture
import Testing

@Suite("Progress of a download")
struct DownloadProgressTests {
    private static let content = StoreFixture.ramp(2_000_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test func `sums to what moved and ends with the whole`() async throws {
        let urls = try await fixture.presigned(Self.content)
        let download = try fixture.resumable(.presigned(urls))
        var progress = download.transfer.progress.makeAsyncIterator()
        var all: [TransferProgress] = []
        _ = try await fixture.holding(download) {
            all.append(try #require(await progress.next()))
            download.transfer.pause()
        }
        // Each stop ends the loop, and the next begins where the transfer is.
        while let next = await progress.next() { all.append(next) }
        #expect(all.last?.completedBytes ?? 0 < 2_000_000)
        let rest = download.start().progress
        for await next in rest { all.append(next) }
        let last = try #require(all.last)
        #expect(last.completedBytes == 2_000_000)
        #expect(all.allSatisfy { $0.totalBytes == 2_000_000 })
        #expect(all.reduce(0) { $0 + $1.stepBytes } == 2_000_000)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completedBytes <= $1.completedBytes })
        #expect(all.count > 1)
    }

    @Test func `of a resumed one counts what is there as completed and not as moved`() async throws
    {
        let urls = try await fixture.presigned(Self.content)
        let first = try fixture.resumable(.presigned(urls))
        let checkpoint = try #require(try await fixture.pause(first))
        let second = try fixture.resumable(.presigned(urls), checkpoint: checkpoint)
        let told = Task {
            var told: [TransferProgress] = []
            for await progress in second.transfer.progress { told.append(progress) }
            return told
        }
        _ = try await second.run()
        let all = await told.value
        #expect(all.last?.completedBytes == 2_000_000)
        #expect(all.reduce(0) { $0 + $1.stepBytes } == 2_000_000 - checkpoint.receivedLength)
    }

    @Test func `is told no more often than its interval`() async throws {
        let urls = try await fixture.presigned(Self.content)
        var options = DownloadOptions.inPieces
        options.progressInterval = .seconds(3_600)
        let download = try fixture.resumable(.presigned(urls), options)
        var progress = download.transfer.progress.makeAsyncIterator()
        _ = try await fixture.holding(download) { #expect(await progress.next() != nil) }
        // Of the end, which no interval holds back.
        #expect(await progress.next()?.completedBytes == 2_000_000)
        #expect(await progress.next() == nil)
    }

    @Test func `ends with an attempt that fails`() async throws {
        let download = try fixture.resumable(.object(fixture.client(), key: "absent"))
        let outcome = Task { try await download.run() }
        for await _ in download.transfer.progress { Issue.record("nothing was there") }
        await expectError(.notFound) { try await outcome.value }
    }

    @Test func `ends with the end of a transfer whose handle nobody holds any more`() async throws {
        let urls = try await fixture.presigned([1])
        var download: ResumableDownload? = try fixture.resumable(.presigned(urls))
        let progress = try #require(download?.start().progress)
        download = nil
        var last: TransferProgress?
        for await next in progress { last = next }
        #expect(last?.completedBytes == 1)
        #expect(fixture.content("file") == [1])
    }
}
