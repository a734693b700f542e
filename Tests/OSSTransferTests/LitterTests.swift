import Foundation
import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Testing

@Suite("What killed processes and two transfers to one file leave")
struct LitterTests {
    private static let content = StoreFixture.ramp(3_000_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private static func options(_ records: String?) -> DownloadOptions {
        var options = DownloadOptions.inPieces
        options.recordDirectory = records
        return options
    }

    private func download(
        _ fixture: StoreFixture,
        _ urls: PresignedURLs,
        records: String? = nil
    ) throws -> ResumableDownload {
        try fixture.resumable(.presigned(urls), Self.options(records))
    }

    /// As a process leaves it that is killed before it has written its record.
    @Test func `a partial file without a record is found by the next download of the file`()
        async throws
    {
        let urls = try await fixture.presigned(Self.content)
        let others = try await fixture.presigned([1, 2, 3], "other")
        for next in [urls, others] {
            _ = try await fixture.pause(download(fixture, urls))
            #expect(fixture.partials == 1)
            _ = try await download(fixture, next).run()
            #expect(fixture.partials == 0)
        }
        #expect(fixture.content("file") == [1, 2, 3])
    }

    @Test func `two downloads to one file are refused, whatever they download`() async throws {
        let urls = try await fixture.presigned(Self.content)
        let others = try await fixture.presigned(StoreFixture.ramp(3_000_000, 7), "other")
        try fixture.hold("GetObject", from: 3)
        let first = try download(fixture, urls).start()
        await fixture.server.untilHeld(1)
        await expectError(.alreadyRunning) {
            try await download(fixture, others).run()
        }
        try fixture.setFaults("[]")
        _ = try await first.value
        #expect(fixture.content("file") == Self.content)
        #expect(fixture.partials == 0)
        _ = try await download(fixture, others).run()
        #expect(fixture.content("file") != Self.content)
    }

    @Test func `a manager adds no second download to one file`() async throws {
        for name in ["a", "b"] { try await fixture.client().put(Self.content, to: name) }
        @Sendable func job(_ key: String, _ path: String) throws -> TransferJob {
            .download(.object(try fixture.client(), key: key), to: fixture.path(path))
        }
        var manager: TransferManager? = try await fixture.manager()
        try await manager?.add("one", job: job("a", "file"))
        await expectError(.alreadyExists) {
            try await manager?.add("two", job: job("b", "./server/../file"))
        }
        manager = nil
        let next = try await fixture.nextManager { _ in try job("a", "file") }
        await #expect(throws: TransferError.self) {
            try await next.add("two", job: job("b", "file"))
        }
        try await next.start("one")
        try await next.runUntilIdle()
        // What has finished owns the file no longer.
        try await next.add("two", job: job("b", "file"))
        try await next.cancel("two")
        try await next.add("three", job: job("b", "file"))
    }

    @Test func `sweeping keeps a download whose volume is not mounted`() async throws {
        let urls = try await fixture.presigned(Self.content)
        let records = TransferRecords(directory: fixture.path("records"))
        for folder in ["volume", "volume/folder"] {
            try FileManager.default.createDirectory(
                atPath: fixture.path(folder),
                withIntermediateDirectories: true
            )
            func download() throws -> ResumableDownload {
                try fixture.resumable(
                    .presigned(urls),
                    to: folder + "/file",
                    Self.options(records.directory)
                )
            }
            _ = try await fixture.pause(download())
            // An empty mount point is left.
            try FileManager.default.moveItem(
                atPath: fixture.path("volume"),
                toPath: fixture.path("away")
            )
            try FileManager.default.createDirectory(
                atPath: fixture.path("volume"),
                withIntermediateDirectories: false
            )
            #expect(try await records.sweep() == 0)
            // Of a file straight below it, nothing tells whether it was deleted, but the age.
            if folder != "volume" { #expect(try await records.sweep(abandonedAfter: .zero) == 0) }
            try FileManager.default.removeItem(atPath: fixture.path("volume"))
            try FileManager.default.moveItem(
                atPath: fixture.path("away"),
                toPath: fixture.path("volume")
            )
            fixture.server.clearRequestLog()
            _ = try await download().run()
            #expect(fixture.content(folder + "/file") == Self.content)
            #expect(fixture.bytesSent < Self.content.count)
            #expect(fixture.names(in: "records") == [])
        }
    }

    @Test func `sweeping removes what no transfer uses, and nothing of one that runs`()
        async throws
    {
        let urls = try await fixture.presigned(Self.content)
        let records = TransferRecords(directory: fixture.path("records"))
        let paused = try download(fixture, urls, records: records.directory)
        _ = try await fixture.holding(paused) {
            let removed = try await records.sweep(abandonedAfter: .zero)
            #expect(removed == 0)
            paused.transfer.pause()
        }
        #expect(try await records.sweep() == 0)
        #expect(fixture.partials == 1)
        let name = try #require(fixture.names(in: "records").first)
        // What killed processes leave: a lock, half a record, a second partial file.
        try fixture.write("records/\(name).lock", [])
        try fixture.write("records/\(name).tmp", [0x7B])
        let partial = try #require(fixture.names(in: ".").first { $0.hasPrefix(".osssync-") })
        try fixture.write(String(partial.dropLast()) + "f", [1])
        let long = Date(timeIntervalSinceNow: -86_400)
        for file in ["records/\(name)", "records/\(name).tmp"] {
            try FileManager.default.setAttributes(
                [.modificationDate: long],
                ofItemAtPath: fixture.path(file)
            )
        }
        #expect(try await records.sweep() == 2)
        #expect(fixture.names(in: "records") == [name])
        #expect(fixture.names(in: ".").filter { $0.hasPrefix(".osssync-") } == [partial])
        #expect(try await records.sweep(abandonedAfter: .seconds(3_600)) == 2)
        #expect(fixture.names(in: "records") == [])
        #expect(fixture.partials == 0)
    }
}
