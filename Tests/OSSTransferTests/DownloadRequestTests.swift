import OSSBucket
import StorageServer
import StoreFixture
import Testing

@testable import OSSTransfer

/// What a download asks the store for.
@Suite("The requests of a download")
struct DownloadRequestTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    enum Source: CaseIterable, Sendable {
        case urls, urlForGet, client
    }

    private static let mebibyte = 1 << 20

    private func source(
        _ kind: Source,
        _ fixture: StoreFixture,
        _ content: [UInt8]
    ) async throws -> DownloadSource {
        let urls = try await fixture.presigned(content)
        return switch kind {
        case .urls: try .presigned(urls)
        case .urlForGet: try .presigned(PresignedURLs(get: urls.get))
        case .client: .object(try fixture.client(), key: "key")
        }
    }

    private func operations(_ fixture: StoreFixture) -> [String] {
        fixture.server.requestLog.map(\.operation)
    }

    @Test(arguments: Source.allCases, [1, 200_000, 24_000_000])
    func `are one for an object of up to a range`(kind: Source, size: Int) async throws {
        let content = StoreFixture.ramp(size)
        let source = try await source(kind, fixture, content)
        fixture.server.clearRequestLog()
        let download = try ResumableDownload(from: source, to: fixture.path("file"))
        let file = try #require(try await download.run().file)
        #expect(fixture.content("file") == content)
        #expect(file.info.size == Int64(size) && file.isVerified)
        #expect(operations(fixture) == ["GetObject"])
    }

    @Test(arguments: Source.allCases)
    func `bring each byte of a larger one once`(kind: Source) async throws {
        let content = StoreFixture.ramp(40 * Self.mebibyte)
        let source = try await source(kind, fixture, content)
        fixture.server.clearRequestLog()
        var options = DownloadOptions()
        options.streams = 4
        let download = try fixture.resumable(source, options)
        #expect(try await download.run().file?.isVerified == true)
        #expect(fixture.content("file") == content)
        #expect(fixture.bytesSent == Int64(content.count))
        #expect(Set(operations(fixture)) == ["GetObject"])
    }

    /// A kill loses what was asked for at most.
    @Test(arguments: [(1, [4, 4, 4, 4, 4, 1]), (4, [8, 4, 4, 4, 1])])
    func `ask for no more than 4 MiB for each stream`(streams: Int, expected: [Int]) async throws {
        let source = try await source(.client, fixture, StoreFixture.ramp(21 * Self.mebibyte))
        fixture.server.clearRequestLog()
        var options = DownloadOptions()
        options.partSize = 8 << 20
        options.streams = streams
        let download = try fixture.resumable(source, options)
        _ = try await download.run()
        let sizes = fixture.server.requestLog.map { Int($0.bytesSent) / Self.mebibyte }
        #expect(sizes.sorted(by: >) == expected)
    }

    private static func longOptions() -> DownloadOptions {
        var options = DownloadOptions()
        options.partSize = 1 << 20
        return options
    }

    /// Many streams may lose more than one connection can hold.
    @Test(.enabled(if: usesLibcurl), arguments: Source.allCases)
    func `begin with one for several ranges`(kind: Source) async throws {
        let content = StoreFixture.ramp(5 * Self.mebibyte + 10)
        let source = try await source(kind, fixture, content)
        // As slow as its request, which is no reason to send others.
        try fixture.setFaults(
            #"[{"match": {"operation": "GetObject"}, "effect": {"delay": 2}}]"#
        )
        fixture.server.clearRequestLog()
        let download = try fixture.resumable(source, Self.longOptions())
        let file = try #require(try await download.run().file)
        #expect(file.isVerified)
        #expect(fixture.content("file") == content)
        #expect(fixture.bytesSent == Int64(content.count))
        #expect(operations(fixture) == ["GetObject"])
    }

    /// The first request is held after half of the first range, or of the third.
    @Test(.enabled(if: usesLibcurl), arguments: [500_000, 2_500_000])
    func `are shared by other streams if the first is slow`(place: Int) async throws {
        let content = StoreFixture.ramp(6 * Self.mebibyte)
        let source = try await source(.client, fixture, content)
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "occurrence": 1}, "effect": {"holdAt": \(place)}}]
            """
        )
        fixture.server.clearRequestLog()
        let download = try fixture.resumable(source, Self.longOptions())
        async let outcome = fixture.lettingGo { try await download.run() }
        // All but the rest of the range in which it is held.
        let others = Int64(content.count - (place / Self.mebibyte + 1) * Self.mebibyte)
        _ = await download.transfer.progress.first {
            $0.completedBytes >= others + Int64(place) / 2
        }
        try fixture.setFaults("[]")
        #expect(try await outcome.file?.isVerified == true)
        #expect(fixture.content("file") == content)
        #expect(operations(fixture).count == 1 + Int(others) / Self.mebibyte)
    }

    /// It loses its connection in the second range, and asks for the rest that is still its own.
    @Test(.enabled(if: usesLibcurl))
    func `of the first continue after a lost connection`() async throws {
        let content = StoreFixture.ramp(6 * Self.mebibyte)
        let source = try await source(.client, fixture, content)
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "occurrence": 1},
              "effects": [{"delay": 2}, {"cut": {"at": 1500000, "how": "fin"}}]}]
            """
        )
        fixture.server.clearRequestLog()
        let download = try fixture.resumable(source, Self.longOptions())
        #expect(try await download.run().file?.isVerified == true)
        #expect(fixture.content("file") == content)
        #expect(fixture.bytesSent == Int64(content.count))
    }

    /// In the third range of the first request.
    @Test(.enabled(if: usesLibcurl))
    func `of one that was paused ask for what its record has not`() async throws {
        let content = StoreFixture.ramp(6 * Self.mebibyte)
        let source = try await source(.client, fixture, content)
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "occurrence": 1}, "effect": {"holdAt": 2500000}},
             {"match": {"operation": "GetObject", "from": 2}, "effect": {"hold": true}}]
            """
        )
        fixture.server.clearRequestLog()
        let download = try fixture.resumable(source, Self.longOptions())
        async let outcome = fixture.lettingGo { try await download.run() }
        _ = await download.transfer.progress.first { $0.completedBytes >= 2_400_000 }
        download.transfer.pause()
        guard case .paused(let checkpoint?) = try await outcome else {
            Issue.record("it was not paused")
            return
        }
        #expect(checkpoint.receivedLength >= 2_400_000)
        #expect(try await download.run().file?.isVerified == true)
        #expect(fixture.content("file") == content)
        #expect(fixture.bytesSent - Int64(content.count) <= 1 << 20)
    }

    @Test(arguments: Source.allCases)
    func `find out that an object is empty`(kind: Source) async throws {
        let source = try await source(kind, fixture, [])
        let download = try ResumableDownload(from: source, to: fixture.path("file"))
        #expect(try await download.run().file?.info.size == 0)
        #expect(fixture.content("file") == [])
        #expect(download.transfer.state == .finished)
    }

    @Test func `are none before the file may be replaced`() async throws {
        let source = try await source(.client, fixture, [1])
        try fixture.write("file", [9])
        fixture.server.clearRequestLog()
        var options = DownloadOptions()
        options.ifExists = .fail
        let download = try fixture.resumable(source, options)
        await expectError(.alreadyExists) { try await download.run() }
        #expect(operations(fixture) == [])
    }

    @Test(arguments: Source.allCases)
    func `of one that goes on name its version, and nothing comes before them`(
        kind: Source
    ) async throws {
        let content = StoreFixture.ramp(3_000_000)
        let source = try await source(kind, fixture, content)
        func download() throws -> ResumableDownload {
            try ResumableDownload(from: source, to: fixture.path("file"), options: .inPieces)
        }
        let first = try download()
        let checkpoint = try #require(try await fixture.pause(first))
        fixture.server.clearRequestLog()
        _ = try await first.run()
        #expect(Set(operations(fixture)) == ["GetObject"])
        #expect(fixture.bytesSent == 3_000_000 - checkpoint.receivedLength)

        let second = try download()
        _ = try await fixture.pause(second)
        // The size is the same, and so is the place of every range.
        try await fixture.client().put(StoreFixture.ramp(3_000_000, 7), to: "key")
        fixture.server.clearRequestLog()
        _ = try await second.run()
        #expect(fixture.content("file") == StoreFixture.ramp(3_000_000, 7))
        #expect(fixture.server.requestLog.first?.status == 412)
    }

    /// All is asked for by one request, which the server takes forty seconds to answer.
    @Test(.timeLimit(.minutes(5)))
    func `end with a pause, which receives only what has arrived`() async throws {
        let content = StoreFixture.ramp(8_000_000)
        let source = try await source(.client, fixture, content)
        try fixture.setFaults(
            #"[{"match": {"operation": "GetObject"}, "effect": {"slow": 200000}}]"#
        )
        fixture.server.clearRequestLog()
        let download = try ResumableDownload(from: source, to: fixture.path("file"))
        async let outcome = download.run()
        _ = await download.transfer.progress.first { $0.completedBytes > 0 }
        let before = download.transfer.snapshot.completed
        download.transfer.pause()
        guard case .paused(let checkpoint?) = try await outcome else {
            Issue.record("it was not paused")
            return
        }
        let received = checkpoint.receivedLength
        #expect(received >= before)
        // Half of what comes while a pause may wait.
        #expect(received - before < 200_000)
        try fixture.setFaults("[]")
        _ = try await download.run()
        #expect(fixture.content("file") == content)
        #expect(fixture.bytesSent - 8_000_000 <= 1 << 20)
    }

    @Test func `of an archived object are one, and say that it must be restored`() async throws {
        let source = try await source(.client, fixture, [1, 2, 3])
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject"},
              "effect": {"fail": {"status": 403, "code": "InvalidObjectState"}}}]
            """
        )
        fixture.server.clearRequestLog()
        let download = try ResumableDownload(from: source, to: fixture.path("file"))
        await expectError(.needsRestore) { try await download.run() }
        #expect(operations(fixture) == ["GetObject"])
        #expect(fixture.names(in: ".") == ["server"])
    }

    @Test func `of an object that is replaced before its second range find the new one`()
        async throws
    {
        let source = try await source(.client, fixture, StoreFixture.ramp(300_000))
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "occurrence": 2},
              "effect": {"replaceObject": {"at": 0, "size": 200000}}}]
            """
        )
        let notices = Notices()
        let download = try fixture.resumable(source, notices: notices)
        let file = try #require(try await download.run().file)
        #expect(file.info.size == 200_000 && file.isVerified)
        #expect(fixture.content("file")?.count == 200_000)
        #expect(notices.all == [.startedOver(.objectChanged)])
    }
}
