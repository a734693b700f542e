import OSSTransfer
import ObjectStorage
import StoreFixture
import SyncModel
import SyncTestSupport
import Synchronization
import Testing

/// Downloads from web servers that do less than an object store.
@Suite("A download from a server that is not perfect", .timeLimit(.minutes(10)))
struct OddServerTests {
    private static let content = StoreFixture.ramp(300_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private static func head(_ status: String, _ lines: [String], _ length: Int) -> [UInt8] {
        let all = ["HTTP/1.1 " + status, "Content-Length: \(length)"] + lines
        return [UInt8]((all.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// Answers with ranges where they are asked for, or with everything.
    private static func answer(
        _ request: ScriptedRequest,
        etag: String?,
        ignoresRanges: Bool,
        sending limit: Int = .max,
        other: [String] = []
    ) -> ScriptedAction {
        let bounds = request["range"]?.dropFirst("bytes=".count).split(separator: "-")
            .compactMap { Int($0) }
        var lines = other + (etag.map { ["ETag: " + $0] } ?? [])
        var (status, body) = ("200 OK", content)
        if let bounds, !ignoresRanges {
            let last = min(bounds[1], content.count - 1)
            status = "206 Partial Content"
            lines.append("Content-Range: bytes \(bounds[0])-\(last)/\(content.count)")
            body = Array(content[bounds[0]...last])
        }
        let sent = request.method == "HEAD" ? [] : Array(body.prefix(limit))
        return .send(head(status, lines, body.count) + sent)
    }

    private func download(
        _ server: ScriptedServer,
        _ fixture: StoreFixture,
        _ notices: Notices,
        head: Bool = true,
        retries: Int = 1
    ) throws -> ResumableDownload {
        var connection = ConnectionSettings()
        connection.retries = retries
        connection.longestRetryPause = .milliseconds(1)
        var options = DownloadOptions()
        options.partSize = 64 << 10
        options.recordDirectory = fixture.path("records")
        return try ResumableDownload(
            from: .presigned(
                PresignedURLs(get: server.url + "/key", head: head ? server.url + "/key" : nil),
                connection: connection
            ),
            to: fixture.path("file"),
            options: options,
            onNotice: notices.add
        )
    }

    private func warnings(_ notices: Notices) -> [String] {
        notices.all.compactMap { if case .warning(let message) = $0 { message } else { nil } }
    }

    @Test(arguments: [false, true])
    func `that ignores ranges takes all of it, and does not resume`(isWeak: Bool) async throws {
        let etag = isWeak ? "W/\"5f-abc\"" : "\"5f\""
        let server = ScriptedServer { request, index in
            index == 0
                ? [
                    Self.answer(request, etag: etag, ignoresRanges: true, sending: 200_000),
                    .close,
                ]
                : [Self.answer(request, etag: etag, ignoresRanges: true)]
        }
        defer { server.stop() }
        let notices = Notices()
        let download = try download(server, fixture, notices)
        let error = await #expect(throws: TransferError.self) { try await download.run() }
        #expect(error?.code == .remoteUnreachable && error?.isRetryable == true)
        #expect(error?.checkpoint == nil)
        #expect(fixture.names(in: ".").allSatisfy { !$0.hasPrefix(".osssync-") })
        #expect(try await download.run().file?.info.size == 300_000)
        #expect(fixture.content("file") == Self.content)
        #expect(
            warnings(notices)
                == Array(
                    repeating: "'key': the server sends only whole objects, so a download that is "
                        + "interrupted starts over",
                    count: 2
                )
        )
        #expect(server.requests.count { $0.method == "GET" } == 2)
        #expect(server.requests.allSatisfy { $0["if-match"] == nil })
    }

    @Test func `whose tags are weak takes all of it in one request`() async throws {
        let server = ScriptedServer { request, _ in
            [Self.answer(request, etag: "W/\"5f-abc\"", ignoresRanges: false)]
        }
        defer { server.stop() }
        let notices = Notices()
        let file = try await download(server, fixture, notices).run().file
        #expect(file?.info.size == 300_000)
        #expect(fixture.content("file") == Self.content)
        #expect(warnings(notices).count == 1)
        let seen = server.requests
        let asked = seen.filter { $0.method == "GET" }.map { $0["range"] }
        #expect(asked == ["bytes=0-65535", nil])
        #expect(seen.allSatisfy { $0["if-match"] == nil })
        #expect(fixture.names(in: "records") == [])
    }

    @Test func `that ignores the range of a later request takes all of it`() async throws {
        let server = ScriptedServer { request, _ in
            let isFirst = request["range"]?.hasPrefix("bytes=0-") == true
            return [Self.answer(request, etag: "\"5f\"", ignoresRanges: !isFirst)]
        }
        defer { server.stop() }
        let notices = Notices()
        let file = try await download(server, fixture, notices, retries: 0).run().file
        #expect(file?.info.size == 300_000)
        #expect(fixture.content("file") == Self.content)
        #expect(warnings(notices).count == 1)
        #expect(server.requests.last { $0.method == "GET" }?["range"] == nil)
        #expect(fixture.names(in: "records") == [])
        #expect(fixture.names(in: ".").allSatisfy { !$0.hasPrefix(".osssync-") })
    }

    /// OSS does not know If-Range: it would answer with another version, or all of it.
    @Test func `is asked for the rest by If-Match, never by If-Range`() async throws {
        let server = ScriptedServer { request, index in
            index == 0
                ? [
                    Self.answer(request, etag: "\"5f\"", ignoresRanges: false, sending: 30_000),
                    .close,
                ]
                : [Self.answer(request, etag: "\"5f\"", ignoresRanges: false)]
        }
        defer { server.stop() }
        let file = try await download(server, fixture, Notices()).run().file
        #expect(file?.info.size == 300_000)
        #expect(fixture.content("file") == Self.content)
        let later = server.requests.filter { $0.method == "GET" }.dropFirst()
        #expect(later.count > 1)
        #expect(later.allSatisfy { $0["range"] != nil && $0["if-match"] == "\"5f\"" })
        #expect(server.requests.allSatisfy { $0["if-range"] == nil })
    }

    @Test func `without an ETag takes all of it in one request`() async throws {
        let server = ScriptedServer { request, _ in
            let time = "Last-Modified: Sat, 04 Apr 2026 08:00:00 GMT"
            return [Self.answer(request, etag: nil, ignoresRanges: false, other: [time])]
        }
        defer { server.stop() }
        let notices = Notices()
        let file = try await download(server, fixture, notices).run().file
        #expect(file?.info.size == 300_000 && file?.info.etag == "" && file?.isVerified == false)
        #expect(fixture.content("file") == Self.content)
        #expect(
            warnings(notices) == [
                "'key': the server gives no ETag, so a download that is interrupted starts over"
            ]
        )
        let asked = server.requests.filter { $0.method == "GET" }.map { $0["range"] }
        #expect(asked == ["bytes=0-65535", nil])
        #expect(server.requests.allSatisfy { $0["if-match"] == nil })
        #expect(fixture.names(in: "records") == [])
    }

    /// It may be an MD5, or look like one.
    @Test(arguments: [true, false])
    func `whose tags have 32 digits is asked once, and believed if they are the MD5`(
        isDigest: Bool
    ) async throws {
        let tag =
            isDigest
            ? hexadecimalText(Digest.md5(Self.content)) : "5f" + String(repeating: "0", count: 30)
        let server = ScriptedServer { request, _ in
            [Self.answer(request, etag: "\"\(tag)\"", ignoresRanges: false)]
        }
        defer { server.stop() }
        let notices = Notices()
        let file = try await download(server, fixture, notices).run().file
        #expect(file?.isVerified == isDigest && notices.all == [])
        #expect(fixture.content("file") == Self.content)
        let asked = server.requests.filter { $0.method == "GET" }.compactMap { $0["range"] }
        #expect(Set(asked).count == asked.count && asked.count == 5)
    }

    @Test func `without an ETag and a time says what is missing`() async throws {
        let server = ScriptedServer { request, _ in
            [Self.answer(request, etag: nil, ignoresRanges: false)]
        }
        defer { server.stop() }
        let download = try download(server, fixture, Notices())
        let error = await #expect(throws: TransferError.self) { try await download.run() }
        #expect(error?.code == .unsupportedServer && error?.isRetryable == false)
        #expect(error?.message.contains("no ETag") == true)
        #expect(!fixture.exists("file"))
    }

    @Test(arguments: [403, 405, 501])
    func `that refuses HEAD is asked by GET`(status: Int) async throws {
        let replaced = Atomic(false)
        let server = ScriptedServer { request, index in
            if request.method == "HEAD" { return [.response("\(status) No")] }
            // The object is replaced after the first range, so that it must be looked at.
            guard index > 0, !replaced.exchange(true, ordering: .relaxed) else {
                return [
                    Self.answer(request, etag: index == 0 ? "\"a\"" : "\"b\"", ignoresRanges: false)
                ]
            }
            return [.response("412 Precondition Failed")]
        }
        defer { server.stop() }
        let notices = Notices()
        var options = DownloadOptions()
        options.partSize = 64 << 10
        options.streams = 1
        let url = server.url + "/key"
        let download = try fixture.resumable(
            .presigned(PresignedURLs(get: url, head: url)),
            options,
            notices: notices
        )
        #expect(try await download.run().file?.info.size == 300_000)
        #expect(notices.all == [.startedOver(.objectChanged)])
        #expect(fixture.content("file") == Self.content)
        #expect(server.requests.contains { $0["range"] == "bytes=0-0" })
    }

    /// Also of a plain URL, which has nothing that another host could learn: requests go to the
    /// host that the app named.
    @Test(arguments: [301, 302, 303, 307, 308])
    func `that redirects is not followed, and the other host is named`(
        status: Int
    ) async throws {
        let other = ScriptedServer { request, _ in
            [Self.answer(request, etag: "\"5f\"", ignoresRanges: false)]
        }
        defer { other.stop() }
        let place = "127.0.0.1:\(other.port)"
        let server = ScriptedServer { _, _ in
            [.response("\(status) Elsewhere", headers: ["Location: http://\(place)/k?a=secret"])]
        }
        defer { server.stop() }
        let download = try download(server, fixture, Notices(), head: false)
        let error = await #expect(throws: TransferError.self) { try await download.run() }
        #expect(error?.code == .redirected && error?.isRetryable == false)
        #expect(error?.status == status)
        #expect(
            error?.message.hasSuffix(
                "Redirects are not followed: use a URL of the host '\(place)'"
            ) == true
        )
        #expect(error?.message.contains("secret") == false)
        #expect(server.requests.count == 1 && other.requests.isEmpty)
    }

    // MARK: - What URLSession changes

    @Test func `that stores the object encoded delivers it as it is stored, or says why not`()
        async throws
    {
        let server = ScriptedServer { request, _ in
            let coding = request.target.hasSuffix("=identity") ? "identity" : "gzip"
            let lines = ["ETag: \"5f\"", "Content-Encoding: \(coding)"]
            return [.send(Self.head("200 OK", lines, Self.packed.count) + Self.packed)]
        }
        defer { server.stop() }
        func download(_ target: String) throws -> ResumableDownload {
            let urls = PresignedURLs(get: server.url + target)
            return try fixture.resumable(.presigned(urls), DownloadOptions())
        }
        if usesLibcurl {
            #expect(try await download("/key").run().file != nil)
        } else {
            let plain = try download("/key")
            let error = await #expect(throws: TransferError.self) { try await plain.run() }
            #expect(error?.code == .unsupportedServer && error?.isRetryable == false)
            #expect(
                error?.message.hasSuffix(
                    "the object is stored with Content-Encoding 'gzip', which URLSession decodes; "
                        + "sign the URL with response-content-encoding=identity, or store it "
                        + "without"
                ) == true
            )
            #expect(server.requests.count == 1 && !fixture.exists("file"))
            let signed = try download("/key?response-content-encoding=identity")
            #expect(try await signed.run().file != nil)
        }
        #expect(fixture.content("file") == Self.packed)
    }

    /// What gzip makes of forty greetings.
    private static let packed: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 87, 200, 24, 49, 36, 0, 158, 80,
        148, 125, 240, 0, 0, 0,
    ]

    @Test(.enabled(if: !usesLibcurl))
    func `is not asked for a key that URLSession would change`() async throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let urls = PresignedURLs(get: server.url + "/a/../b")
        let start = ContinuousClock.now
        let download = try fixture.resumable(.presigned(urls), DownloadOptions())
        let error = await #expect(throws: TransferError.self) { try await download.run() }
        #expect(error?.code == .configuration && error?.isRetryable == false)
        #expect(error?.message.contains("rename the object") == true)
        // It was tried again for 100 s.
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(server.requests.isEmpty)
    }
}
