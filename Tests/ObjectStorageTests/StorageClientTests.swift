import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

@Suite("Client", .timeLimit(.minutes(10)))
struct StorageClientTests {
    private static func page(_ keys: [String], next: String? = nil, prefix: String = "") -> [UInt8]
    {
        let contents = keys.map { key in
            "<Contents><Key>\(key)</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
                + "<ETag>\"E\"</ETag><Size>7</Size><StorageClass>Standard</StorageClass></Contents>"
        }
        let token = next.map { "<NextContinuationToken>\($0)</NextContinuationToken>" } ?? ""
        return [UInt8](
            ("<ListBucketResult><Name>bucket</Name><Prefix>\(prefix)</Prefix>"
                + "<EncodingType>url</EncodingType><IsTruncated>\(next != nil)</IsTruncated>"
                + token + contents.joined() + "</ListBucketResult>").utf8
        )
    }

    @Test func `a listing asks for what it needs`() async throws {
        let fixture = try ClientFixture { _, index in
            [
                .response(
                    "200 OK",
                    body: Self.page(["p%2Fa%01"], next: index == 0 ? "T%2F1" : nil, prefix: "p%2F")
                )
            ]
        }
        let first = try await fixture.client.list(
            ListRequest(prefix: "p/", startAfter: "p/0", delimiter: "/", maximumKeys: 500)
        )
        #expect(first.objects.map(\.key) == ["p/a\u{1}"])
        #expect(first.next == ContinuationToken("T/1"))
        let second = try await fixture.client.list(
            ListRequest(prefix: "p/", startAfter: "p/0", token: first.next)
        )
        #expect(second.next == nil)
        #expect(
            fixture.server.requests.map(\.target) == [
                "/bucket/?list-type=2&prefix=p%2F&start-after=p%2F0&delimiter=%2F&max-keys=500"
                    + "&encoding-type=url",
                "/bucket/?list-type=2&prefix=p%2F&continuation-token=T%2F1&max-keys=1000"
                    + "&encoding-type=url",
            ]
        )
    }

    @Test func `a page that is cut is asked for again`() async throws {
        let whole = Self.page(["a"])
        let fixture = try ClientFixture { _, index in
            [.response("200 OK", body: index == 0 ? whole.dropLast(3) : whole)]
        }
        #expect(try await fixture.client.list(ListRequest(prefix: "")).objects.count == 1)
    }

    @Test(arguments: [
        "<html><body>Log in</body></html>", "Log in", "", "<ListBucketResult/>",
        "<ListBucketResult><Name>other</Name><IsTruncated>false</IsTruncated></ListBucketResult>",
        "<ListBucketResult><Prefix>q/</Prefix><IsTruncated>false</IsTruncated></ListBucketResult>",
    ])
    func `what is no listing of ours is no listing`(text: String) async throws {
        let fixture = try ClientFixture { _, _ in
            [.response("200 OK", body: [UInt8](text.utf8))]
        }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.list(ListRequest(prefix: "p/"))
        }
        guard case .protocolViolation = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(fixture.server.requests.count == 3)
    }

    @Test func `metadata is read from headers`() async throws {
        let fixture = try ClientFixture { _, _ in
            [
                .text(
                    "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nETag: \"E\"\r\n"
                        + "Last-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n"
                        + "x-oss-object-type: Multipart\r\nx-oss-storage-class: Archive\r\n"
                        + "x-oss-restore: ongoing-request=\"true\"\r\n"
                        + "x-oss-hash-crc64ecma: none\r\nX-Oss-Meta-Name: Wert\r\n"
                        + "x-oss-request-id: R\r\n\r\n"
                )
            ]
        }
        let metadata = try await fixture.client.head("k", versionID: nil)
        #expect(metadata.size == 1_234)
        #expect(metadata.crc64 == nil)
        #expect(metadata.lastModified == Timestamp(seconds: 1_767_323_045))
        #expect(metadata.kind == .multipart)
        #expect(metadata.storageClass == .archive)
        #expect(metadata.restoreState == .ongoing)
        #expect(metadata.userMetadata == ["name": "Wert"])
        #expect(metadata.requestID == "R")
    }

    @Test func `an error of HEAD is read from its header`() async throws {
        let document = "<Error><Code>NoSuchBucket</Code><EC>0015-00000101</EC></Error>"
        let header = "x-oss-err: " + Base64.encode([UInt8](document.utf8))
        let fixture = try ClientFixture { _, index in
            [.text("HTTP/1.1 404 Not Found\r\n" + (index == 0 ? header + "\r\n\r\n" : "\r\n"))]
        }
        let first = await #expect(throws: StorageError.self) {
            try await fixture.client.head("k", versionID: nil)
        }
        #expect(first?.isNoSuchBucket == true)
        #expect(first?.isNotFound == false)
        #expect(first?.ec == "0015-00000101")
        let second = await #expect(throws: StorageError.self) {
            try await fixture.client.head("k", versionID: nil)
        }
        #expect(second?.isNotFound == true)
    }

    @Test func `a wrong endpoint is named and not followed`() async throws {
        let other = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { other.stop() }
        let location = "Location: http://user@127.0.0.1:\(other.port)/k?x-oss-signature=abc"
        let fixture = try ClientFixture { _, index in
            [
                index == 0
                    ? .response("307 Temporary Redirect", headers: [location])
                    : serviceError(
                        "403 Forbidden",
                        "AccessDenied",
                        extra: "<Endpoint>oss-cn-shanghai.aliyuncs.com</Endpoint>"
                    )
            ]
        }
        let redirect = await #expect(throws: StorageError.self) {
            try await fixture.client.head("k", versionID: nil)
        }
        #expect(redirect?.endpointHint == "127.0.0.1:\(other.port)")
        let denied = await #expect(throws: StorageError.self) {
            try await fixture.client.list(ListRequest(prefix: ""))
        }
        #expect(denied?.endpointHint == "oss-cn-shanghai.aliyuncs.com")
        #expect(
            denied?.message
                == "ListObjectsV2 failed: the service answered 403 AccessDenied (No.)."
                + " Use the endpoint 'oss-cn-shanghai.aliyuncs.com'"
        )
        #expect(other.requests.isEmpty)
    }

    @Test func `a large or strange error is still an error`() async throws {
        let huge = [UInt8]("<Error><Code>X</Code><Message>".utf8) + ramp(10 << 20)
        let message = "\u{1B}[31m" + String(repeating: "a", count: 5_000)
        let fixture = try ClientFixture { _, index in
            index == 0
                ? [.response("400 Bad", body: huge)]
                : [
                    serviceError(
                        "400 Bad",
                        "InvalidArgument",
                        message: message.replacing("\u{1B}", with: "\u{9B}")
                    )
                ]
        }
        let first = await #expect(throws: StorageError.self) {
            try await fixture.client.list(ListRequest(prefix: ""))
        }
        #expect(first?.kind == .service(status: 400, code: "BadErrorResponse"))
        let second = await #expect(throws: StorageError.self) {
            try await fixture.client.list(ListRequest(prefix: ""))
        }
        let text = try #require(second?.serviceMessage)
        #expect(text.unicodeScalars.count == 256)
        #expect(text.hasPrefix("\\u{9B}[31maaa"))
    }

    @Test func `the clock is corrected once`() async throws {
        let skew = serviceError(
            "403 Forbidden",
            "RequestTimeTooSkewed",
            extra: "<ServerTime>2026-01-02T04:04:05.000Z</ServerTime>"
        )
        let fixture = try ClientFixture { _, index in
            [index == 0 ? skew : .response("200 OK", body: Self.page([]))]
        }
        for _ in 0..<2 { _ = try await fixture.client.list(ListRequest(prefix: "")) }
        #expect(fixture.recorder.clockCorrections == [3_600])
        #expect(fixture.recorder.pauses.isEmpty)
        #expect(
            fixture.server.requests.map { $0["x-oss-date"] } == [
                "20260102T030405Z", "20260102T040405Z", "20260102T040405Z",
            ]
        )
        let stubborn = try ClientFixture { _, _ in [skew] }
        let error = await #expect(throws: StorageError.self) {
            try await stubborn.client.list(ListRequest(prefix: ""))
        }
        #expect(error?.isAccessDenied == true)
        #expect(stubborn.server.requests.count == 2)
    }

    /// Hands out numbered keys, and counts how often it is asked.
    private actor Source: CredentialsProvider {
        nonisolated let name = "numbered keys"
        private(set) var refreshCount = 0
        let hasMore: Bool

        init(hasMore: Bool) {
            self.hasMore = hasMore
        }

        private func key(_ number: Int) -> Credentials {
            Credentials(
                accessKeyID: "key-\(number)",
                accessKeySecret: Secret("canary-secret"),
                securityToken: Secret("token-\(number)")
            )
        }

        func credentials() async throws(CredentialsError) -> Credentials { key(refreshCount) }

        func refresh(rejected: Credentials) async throws(CredentialsError) -> Credentials? {
            guard hasMore else { return nil }
            refreshCount += 1
            return key(refreshCount)
        }
    }

    @Test func `expired credentials are renewed once for all`() async throws {
        let source = Source(hasMore: true)
        let fixture = try ClientFixture(credentials: source) { request, _ in
            [
                request["x-oss-security-token"] == "token-0"
                    ? serviceError("403 Forbidden", "SecurityTokenExpired")
                    : .response("200 OK", body: Self.page([]))
            ]
        }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    (try? await fixture.client.list(ListRequest(prefix: ""))) != nil
                }
            }
            for await succeeded in group { #expect(succeeded) }
        }
        #expect(await source.refreshCount == 1)
    }

    @Test func `refused credentials without others end the request`() async throws {
        let fixture = try ClientFixture(credentials: Source(hasMore: false)) { _, _ in
            [serviceError("403 Forbidden", "InvalidAccessKeyId")]
        }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.list(ListRequest(prefix: ""))
        }
        #expect(error?.isAccessDenied == true)
        #expect(fixture.server.requests.count == 1)
    }

    @Test func `several objects are deleted, each by its own result`() async throws {
        let answer =
            "<DeleteResult><EncodingType>url</EncodingType><Deleted><Key>a%2Fb</Key></Deleted>"
            + "<Error><Key>c</Key><Code>AccessDenied</Code></Error></DeleteResult>"
        let fixture = try ClientFixture { request, _ in
            request.method == "DELETE"
                ? [serviceError("404 Not Found", "NoSuchKey")]
                : [.response("200 OK", body: [UInt8](answer.utf8))]
        }
        let failures = try await fixture.client.delete(["a/b", "c", "d", "e\u{1}"])
        #expect(Set(failures.keys) == ["c", "d"])
        #expect(failures["c"]?.serviceCode == "AccessDenied")
        let seen = fixture.server.requests
        #expect(seen.map(\.target) == ["/bucket/e%01", "/bucket/?delete&encoding-type=url"])
        #expect(seen[1]["content-md5"] == Base64.encode(Digest.md5(seen[1].body)))
        #expect(try await fixture.client.delete([]).isEmpty)
    }

    @Test func `more objects than one request holds are deleted by several`() async throws {
        let fixture = try ClientFixture { _, _ in
            [.response("200 OK", body: [UInt8]("<DeleteResult></DeleteResult>".utf8))]
        }
        let keys = (0..<1_500).map { ObjectKey("k\($0)") }
        #expect(try await fixture.client.delete(keys).count == 1_500)
        #expect(fixture.server.requests.count == 2)
    }

    @Test func `links are described`() async throws {
        let fixture = try ClientFixture { _, _ in
            [.response("200 OK", headers: ["x-oss-symlink-target: a%2Fb%20c"])]
        }
        #expect(try await fixture.client.symlinkTarget("l") == "a/b c")
        try await fixture.client.restore("k", days: 2, tier: "Bulk")
        #expect(fixture.server.requests.last?["content-type"] == "application/xml")
    }

    @Test func `what can't be sent is refused before sending`() async throws {
        let fixture = try ClientFixture { _, _ in [.response("200 OK")] }
        let long = ObjectKey([UInt8](repeating: 0x61, count: 1_024))
        for key in [ObjectKey(""), long, ObjectKey([0xFF])] {
            let error = await #expect(throws: StorageError.self) {
                try await fixture.client.head(key, versionID: nil)
            }
            guard case .invalidRequest = error?.kind else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        for value in ["a\r\nx-oss-meta-b: c", "ä", "\u{0}"] {
            await #expect(throws: StorageError.self) {
                try await fixture.client.put(
                    PutRequest(key: "k", userMetadata: [(name: "a", value: value)]),
                    body: .none,
                    onProgress: { _ in }
                )
            }
        }
        #expect(fixture.server.requests.isEmpty)
    }

    @Test func `no message holds a secret`() async throws {
        let echo = "The token token-0 and canary"
        let fixture = try ClientFixture(signatureVersion: .v1) { _, _ in
            [
                serviceError(
                    "403 Forbidden",
                    "SignatureDoesNotMatch",
                    extra: "<StringToSign>\(echo)</StringToSign>"
                )
            ]
        }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.head("k", versionID: nil)
        }
        let text = try #require(error).message + String(reflecting: error)
        #expect(!text.contains("canary"))
        #expect(!text.contains("token-0"))
    }

    @Test func `an address is signed and limited in time`() async throws {
        let fixture = try ClientFixture { _, _ in [] }
        let url = try await fixture.client.presignedURL(
            method: .get,
            key: "a b",
            query: [("response-content-type", "a/b")],
            headers: [],
            expires: .seconds(60)
        )
        #expect(url.hasPrefix(fixture.server.url + "/bucket/a%20b?response-content-type=a%2Fb&"))
        #expect(url.contains("x-oss-expires=60"))
        #expect(url.contains("&x-oss-signature="))
        await #expect(throws: StorageError.self) {
            try await fixture.client.presignedURL(
                method: .get,
                key: "k",
                query: [],
                headers: [],
                expires: .seconds(604_801)
            )
        }
    }
}
