import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import SyncTestSupport
import Synchronization
import Testing

@Suite("A download in trouble")
struct DownloadFaultTests {
    private static let content = StoreFixture.ramp(3_000_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test func `of a file that another one fetches is refused as such`() async throws {
        let urls = try await fixture.presigned(StoreFixture.ramp(3_000_000))
        var options = DownloadOptions.inPieces
        options.recordDirectory = fixture.path("records")
        let chosen = options
        func download() throws -> ResumableDownload {
            try fixture.resumable(.presigned(urls), chosen)
        }
        try fixture.hold("GetObject", from: 2)
        let first = try download()
        async let outcome = first.run()
        await fixture.server.untilHeld(1)
        let refusal = await expectError(.alreadyRunning) { try await download().run() }
        #expect(refusal?.isRetryable == true)
        try fixture.setFaults("[]")
        #expect(try await outcome.file?.crc64 != nil)
    }

    /// Each pause comes when the server holds all requests, each at a random byte of its answer.
    @Test func `paused again and again costs no more than allowed`() async throws {
        let size: Int64 = 64 << 20
        let content = StoreFixture.ramp(Int(size))
        let urls = try await fixture.presigned(content)
        var options = DownloadOptions.inPieces
        options.recordDirectory = fixture.path("records")
        // What is asked for at once is no more than that, and no pause waits.
        options.pauseLoss = 512 << 10
        options.partSize = 128 << 10
        var generator = SeededGenerator(seed: 64)
        func make() throws -> ResumableDownload {
            try fixture.resumable(.presigned(urls), options)
        }
        fixture.server.clearRequestLog()
        var pauses = 0
        var download = try make()
        let rounds = min(1_000, raceRounds * 10)
        for number in 0..<rounds {
            // Every tenth time as if in a new process.
            if number % 10 == 9 { download = try make() }
            let current = download
            let place = Int.random(in: 0..<16_384, using: &generator)
            try fixture.setFaults(
                """
                [{"match": {"operation": "GetObject", "from": 1},
                  "effects": [{"holdAt": \(place)}, {"cut": {"at": \(place), "how": "rst"}}]}]
                """
            )
            async let outcome = fixture.lettingGo { try await current.run() }
            await fixture.server.untilHeld(1)
            current.transfer.pause()
            if case .paused = try await outcome { pauses += 1 } else { break }
        }
        #expect(pauses == rounds)
        try fixture.setFaults("[]")
        _ = try await download.run()
        #expect(fixture.content("file") == content)
        let sent = fixture.bytesSent
        #expect(sent >= size)
        // On a busy machine more of the streams have received something when the pause comes.
        #expect(sent - size <= Int64(pauses) * 32_768, "\(sent - size) more")
        #expect(fixture.names(in: "records") == [])
    }

    @Test func `by URLs that expire on the way asks for new ones, once for all streams`()
        async throws
    {
        let urls = try await fixture.presigned(Self.content)
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "occurrence": 6},
              "effect": {"fail": {"status": 403, "code": "AccessDenied",
                                  "message": "Request has expired."}}}]
            """
        )
        let asked = Mutex(0)
        let fresh = try await fixture.client().presignedURL(
            .get,
            key: "key",
            lifetime: .seconds(3_600)
        )
        let download = try ResumableDownload(
            from: .presigned(urls) {
                asked.withLock { $0 += 1 }
                return PresignedURLs(get: fresh)
            },
            to: fixture.path("file"),
            options: .inPieces
        )
        _ = try await download.run()
        #expect(asked.withLock { $0 } == 1)
        #expect(fixture.content("file") == Self.content)
    }

    @Test func `by URLs that have expired and cannot be renewed says so without them`() async throws
    {
        let client = try fixture.client()
        try await client.put([1], to: "key")
        let url = try await client.presignedURL(.get, key: "key", lifetime: .seconds(3_600))
        let broken = url.replacing("x-oss-signature=", with: "x-oss-signature=0")
        for renewal in [nil, { throw Refusal() }] as [(@Sendable () async throws -> PresignedURLs)?]
        {
            let download = try fixture.resumable(
                .presigned(PresignedURLs(get: broken), renewal: renewal)
            )
            let error = await expectError(.credentials) { try await download.run() }
            let text = String(reflecting: error)
            #expect(!text.contains("x-oss-signature") && !text.contains("Credential="))
            #expect(renewal == nil || error?.message.contains("Refusal()") == true)
        }
    }

    private struct Refusal: Error {}

    @Test func `is not led to another host`() async throws {
        let fixture = try StoreFixture()
        let elsewhere = try StoreFixture()
        defer {
            fixture.stop()
            elsewhere.stop()
        }
        let urls = try await fixture.presigned(Self.content)
        let others = try await elsewhere.presigned(Self.content)
        #expect(throws: TransferError.self) {
            try DownloadSource.presigned(PresignedURLs(get: urls.get, head: others.head))
        }
        elsewhere.server.clearRequestLog()
        // A new URL that leads elsewhere is not taken, either.
        let answers: [(fault: String, code: TransferError.Code)] = [
            (
                """
                {"status": 307, "code": "TemporaryRedirect",
                 "headers": {"Location": "\(others.get)"}}
                """,
                .configuration
            ),
            (#"{"status": 403, "code": "AccessDenied"}"#, .credentials),
        ]
        for (fault, code) in answers {
            // Several ranges are asked for at once, so that all get the same answer.
            try fixture.setFaults(
                #"[{"match": {"operation": "GetObject"}, "effect": {"fail": \#(fault)}}]"#
            )
            let download = try fixture.resumable(.presigned(urls) { others })
            let error = await #expect(throws: TransferError.self) { try await download.run() }
            #expect(error?.code == code)
        }
        #expect(elsewhere.server.requestLog.isEmpty)
    }

    @Test func `says that a damaged record is of no use, and starts over`() async throws {
        let urls = try await fixture.presigned(Self.content)
        var options = DownloadOptions.inPieces
        options.recordDirectory = fixture.path("records")
        let first = try fixture.resumable(.presigned(urls), options)
        _ = try await fixture.pause(first)
        let name = try #require(fixture.names(in: "records").first)
        let record = try #require(fixture.content("records/" + name))
        try fixture.write("records/" + name, Array(record.prefix(40)))
        let notices = Notices()
        let second = try fixture.resumable(.presigned(urls), options, notices: notices)
        #expect(try await second.run().file != nil)
        #expect(notices.all == [.startedOver(.foreignCheckpoint)])
        #expect(fixture.content("file") == Self.content)
    }

    #if SystemLibraries
    @Test func `says at once that its certificate authorities can't be read`() throws {
        var connection = ConnectionSettings()
        connection.caFile = "/nowhere/authorities.pem"
        let error = #expect(throws: TransferError.self) {
            try DownloadSource.presigned(
                PresignedURLs(get: "https://example.com/key?Signature=secret"),
                connection: connection
            )
        }
        #expect(error?.code == .configuration)
        #expect(error?.message.contains("'/nowhere/authorities.pem' can't be read") == true)
        // As an app's log shows it.
        #expect(error.map { "\($0.code)" } == "configuration")
    }
    #endif

    @Test(
        arguments: [
            "ftp://host/key", "https://", "key", "https://host/a b", "https://host/#x",
            "https://user@host/key", "http://example.com/key?Signature=secret",
        ]
    )
    func `refuses what is no address to send`(url: String) {
        let error = #expect(throws: TransferError.self) {
            try DownloadSource.presigned(PresignedURLs(get: url))
        }
        #expect(error?.code == .configuration)
        #expect(error?.message.contains("secret") == false)
    }

    @Test func `goes on by itself when the connection was lost, if it is asked to`() async throws {
        let urls = try await fixture.presigned(Self.content)
        var connection = ConnectionSettings()
        connection.retries = 0
        let faults = """
            [{"match": {"operation": "GetObject", "occurrence": 5},
              "effect": {"cut": {"at": 1000, "how": "rst"}}},
             {"match": {"operation": "GetObject", "occurrence": 6},
              "effect": {"close": {"when": "before", "how": "rst"}}}]
            """
        try fixture.setFaults(faults)
        let source = try DownloadSource.presigned(urls, connection: connection)
        let plain = try fixture.resumable(source)
        await expectError(.remoteUnreachable) { try await plain.run() }
        #expect(plain.transfer.state == .failed)
        try await plain.discard()

        try fixture.setFaults(faults)
        let notices = Notices()
        var options = DownloadOptions.inPieces
        options.streams = 1
        options.reconnects = ConnectionSettings.ReconnectPolicy(
            firstPause: .milliseconds(10),
            longestPause: .milliseconds(15),
            attempts: 3
        )
        let download = try fixture.resumable(source, options, notices: notices)
        _ = try await download.run()
        #expect(fixture.content("file") == Self.content)
        let pauses = notices.all.compactMap {
            if case .waiting(let pause, _) = $0 { pause } else { nil }
        }
        #expect(pauses == [.milliseconds(10), .milliseconds(15)])
        #expect(notices.all.contains { if case .resumed = $0 { true } else { false } })
    }

    @Test func `that waits for the network can be paused`() async throws {
        let urls = try await fixture.presigned(Self.content)
        var connection = ConnectionSettings()
        connection.retries = 0
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject"},
              "effect": {"close": {"when": "before", "how": "rst"}}}]
            """
        )
        var options = DownloadOptions.inPieces
        options.reconnects = ConnectionSettings.ReconnectPolicy(
            firstPause: .seconds(3_600),
            longestPause: .seconds(3_600),
            attempts: 3
        )
        let (waiting, waits) = AsyncStream.makeStream(of: Void.self)
        let download = try ResumableDownload(
            from: .presigned(urls, connection: connection),
            to: fixture.path("file"),
            options: options,
            onNotice: { _ in waits.yield() }
        )
        async let outcome = download.run()
        for await _ in waiting { break }
        download.transfer.pause()
        #expect(try await outcome == .paused(nil))
    }

    @Test func `whose bytes come wrong twice leaves the old file`() async throws {
        let urls = try await fixture.presigned([1, 2, 3])
        try fixture.write("file", [9])
        let notices = Notices()
        for (faults, isRight) in [("first", true), ("from", false)] {
            try fixture.setFaults(
                #"[{"match": {"operation": "GetObject", "\#(faults)": 1}, "effect": {"flip": 1}}]"#
            )
            let download = try fixture.resumable(
                .presigned(urls),
                to: isRight ? "other" : "file",
                notices: notices
            )
            if isRight {
                _ = try await download.run()
                #expect(fixture.content("other") == [1, 2, 3])
                #expect(notices.all == [.startedOver(.wrongContent)])
            } else {
                await expectError(.corrupt) { try await download.run() }
                #expect(fixture.content("file") == [9])
            }
        }
    }

    @Test func `of what is not there says so`() async throws {
        let client = try fixture.client()
        let download = try fixture.resumable(.object(client, key: "absent"))
        await expectError(.notFound) { try await download.run() }
        let nowhere = try fixture.resumable(.object(client, key: "absent"), to: "no/where")
        await expectError(.localState) { try await nowhere.run() }
        #expect(throws: TransferError.self) {
            try ResumableDownload(
                from: .object(client, key: "k"),
                to: fixture.path("dir") + "/",
                options: .inPieces
            )
        }
    }
}
