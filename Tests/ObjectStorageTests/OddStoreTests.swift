import SyncModel
import SyncTestSupport
import Testing

@testable import ObjectStorage

/// Stores that differ a little: what one of them refuses is learned once.
@Suite("Odd stores", .timeLimit(.minutes(10)))
struct OddStoreTests {
    private let content = ramp(20_000)

    // MARK: - Content that the store unpacks

    /// Sends the object as it is stored only to those who accept gzip, as R2 does.
    private func unpacking(_ request: ScriptedRequest) -> ScriptedAction {
        guard request["accept-encoding"] == "gzip" else {
            return .text(
                "HTTP/1.1 200 OK\r\nETag: W/\"E\"\r\nVary: Accept-Encoding\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            )
        }
        return objectResponse(content, request)
    }

    @Test func `an object that the store unpacks is fetched as it is stored`() async throws {
        let fixture = try ClientFixture(dialect: .s3) { request, _ in [unpacking(request)] }
        for start in [0, 10_000] {
            let sink = FileSink(holding: 10_000) { _ in }
            _ = try await fixture.client.get(
                GetRequest(
                    key: "page.gz",
                    range: ByteRange(offset: Int64(start), length: 10_000),
                    ifMatch: ETag(wire: "E")
                ),
                into: sink
            )
            #expect(sink.checksum == CRC64(of: [UInt8](content[start..<start + 10_000])))
        }
        // The second range is asked for in the right way at once.
        #expect(fixture.server.requests.count == 3)
        #expect(fixture.recorder.pauses.isEmpty)
    }

    @Test func `a HEAD without a length is asked for as the object is stored`() async throws {
        let fixture = try ClientFixture(dialect: .s3) { request, _ in
            let length = request["accept-encoding"] == "gzip" ? "Content-Length: 7\r\n" : ""
            return [.text("HTTP/1.1 200 OK\r\nETag: \"E\"\r\n\(length)\r\n")]
        }
        for requests in [2, 3] {
            let found = try await fixture.client.head("page.gz", versionID: nil)
            #expect((found.size, found.etag) == (7, ETag(wire: "E")))
            #expect(fixture.server.requests.count == requests)
        }
        #expect(fixture.recorder.pauses.isEmpty)
    }

    @Test func `a HEAD with a weak tag is asked for as the object is stored`() async throws {
        let tag = "ETag: W/\"E\"\r\n"
        let fixture = try ClientFixture(dialect: .s3) { request, _ in
            if request.method == "PUT" { return [uploadResponse([1])] }
            let isStored = request["accept-encoding"] == "gzip"
            let headers = isStored ? ("ETag: \"E\"\r\n", 7) : (tag, 9)
            return [
                .text("HTTP/1.1 200 OK\r\n\(headers.0)Content-Length: \(headers.1)\r\n\r\n")
            ]
        }
        let found = try await fixture.client.head("page.gz", versionID: nil)
        #expect((found.size, found.etag) == (7, ETag(wire: "E")))
        // Also where it is about to be replaced.
        var request = PutRequest(key: "other.gz", replaced: ETag(wire: "E"))
        request.keepsMetadata = true
        _ = try await fixture.client.put(request, body: .bytes([1])) { _ in }
        #expect(fixture.server.requests.map(\.method) == ["HEAD", "HEAD", "HEAD", "HEAD", "PUT"])
    }

    @Test func `a store that unpacks in any case is named`() async throws {
        let fixture = try ClientFixture(dialect: .s3) { _, _ in
            [
                .text(
                    "HTTP/1.1 200 OK\r\nVary: Accept-Encoding\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
                )
            ]
        }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.get(
                GetRequest(key: "k", range: ByteRange(offset: 0, length: 10)),
                into: FileSink(holding: 10) { _ in }
            )
        }
        #expect(error?.kind == .integrity(.unpacked))
        #expect(error?.message.contains("the store unpacks the object") == true)
    }

    // MARK: - Deletions

    @Test(arguments: [
        ("501 Not Implemented", "NotImplemented"), ("405 Method Not Allowed", "MethodNotAllowed"),
        ("400 Bad Request", "MalformedXML"), ("400 Bad Request", "NotImplemented"),
        ("400 Bad Request", "InvalidRequest"), ("404 Not Found", "NoSuchKey"),
        ("411 Length Required", "MissingContentLength"), ("400 Bad Request", "InvalidArgument"),
        ("403 Forbidden", "MethodNotAllowed"), ("415 Unsupported Media Type", "Unsupported"),
    ])
    func `a store that deletes no several objects deletes them one by one`(
        status: String,
        code: String
    ) async throws {
        let fixture = try ClientFixture(dialect: .s3) { request, _ in
            if request.method == "POST" { return [serviceError(status, code)] }
            return request.target.hasSuffix("denied")
                ? [serviceError("403 Forbidden", "AccessDenied")]
                : [.text("HTTP/1.1 204 No Content\r\n\r\n")]
        }
        let failures = try await fixture.client.delete(["a", "b", "denied"])
        #expect(failures.mapValues(\.serviceCode) == ["denied": "AccessDenied"])
        #expect(try await fixture.client.delete(["c"]).isEmpty)
        #expect(fixture.server.requests.count { $0.method == "POST" } == 1)
        #expect(fixture.server.requests.count { $0.method == "DELETE" } == 4)
    }

    @Test func `a refusal that says nothing of the operation is one of the request`() async throws {
        let fixture = try ClientFixture(dialect: .s3) { _, _ in
            [serviceError("403 Forbidden", "AccessDenied")]
        }
        await #expect(throws: StorageError.self) { try await fixture.client.delete(["a"]) }
        #expect(fixture.server.requests.count == 1)
    }

    // MARK: - Conditions

    @Test(arguments: [StorageDialect.oss, .s3])
    func `a store without conditional writes is asked for them once`(
        dialect: StorageDialect
    ) async throws {
        let fixture = try ClientFixture(dialect: dialect) { request, _ in
            if request["x-oss-forbid-overwrite"] != nil || request["if-none-match"] != nil {
                return [serviceError("501 Not Implemented", "NotImplemented")]
            }
            let checksum = CRC64(of: [1]).value
            return [
                .text(
                    "HTTP/1.1 200 OK\r\nETag: \"55a54008ad1ba589aa210d2629c1df41\"\r\n"
                        + "x-oss-hash-crc64ecma: \(checksum)\r\nContent-Length: 0\r\n\r\n"
                )
            ]
        }
        for key in ["a", "b"] {
            let request = PutRequest(key: ObjectKey(key), forbidsOverwrite: true)
            _ = try await fixture.client.put(request, body: .bytes([1])) { _ in }
        }
        #expect(fixture.server.requests.count { $0.method == "PUT" } == 3)
    }

    // MARK: - HEAD

    @Test(arguments: ["400 Bad Request", "405 Method Not Allowed", "501 Not Implemented"])
    func `a refused request for checksums is made without them, and not again`(
        status: String
    ) async throws {
        let fixture = try ClientFixture(dialect: .s3) { request, _ in
            if request["x-amz-checksum-mode"] != nil {
                return [.text("HTTP/1.1 \(status)\r\n\r\n")]
            }
            return [.text("HTTP/1.1 200 OK\r\nETag: \"E\"\r\nContent-Length: 7\r\n\r\n")]
        }
        #expect(try await fixture.client.head("a", versionID: nil).size == 7)
        #expect(try await fixture.client.head("b", versionID: nil).size == 7)
        #expect(fixture.server.requests.count == 3)
    }

    @Test func `a HEAD that is refused in any case is refused`() async throws {
        let fixture = try ClientFixture(dialect: .s3) { _, _ in
            [.text("HTTP/1.1 400 Bad Request\r\n\r\n")]
        }
        for _ in 0..<2 {
            let error = await #expect(throws: StorageError.self) {
                try await fixture.client.head("a", versionID: nil)
            }
            #expect(error?.status == 400)
        }
        #expect(fixture.server.requests.count == 4)
    }

    // MARK: - Names

    private func listing(_ keys: [String]) -> ScriptedAction {
        let contents = keys.map {
            "<Contents><Key>\($0)</Key><Size>1</Size><ETag>\"E\"</ETag>"
                + "<LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>"
        }
        let body =
            "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>"
            + contents.joined() + "</ListBucketResult>"
        return .response("200 OK", headers: [], body: [UInt8](body.utf8))
    }

    private func names(_ client: StorageClient, page: Int) async throws -> [String] {
        let request = ListRequest(prefix: "", maximumKeys: page)
        return try await client.list(request).objects.map(\.key.text)
    }

    @Test func `a page with an encoded blank shows that a plus is a plus`() async throws {
        let fixture = try ClientFixture(dialect: .s3) { request, _ in
            if request.target.contains("max-keys=1") { return [listing(["a+b"])] }
            return [listing(request.target.contains("max-keys=2") ? ["a%20b", "a+b"] : ["c+d"])]
        }
        #expect(try await names(fixture.client, page: 1) == ["a b"])
        #expect(try await names(fixture.client, page: 2) == ["a b", "a+b"])
        // From then on it is known.
        #expect(try await names(fixture.client, page: 3) == ["c+d"])
    }

    @Test func `the prefix that was asked for shows that a plus is a plus`() async throws {
        let fixture = try ClientFixture(dialect: .s3) { _, _ in
            let body =
                "<ListBucketResult><Prefix>c++/</Prefix><EncodingType>url</EncodingType>"
                + "<IsTruncated>false</IsTruncated><Contents><Key>c++/a+b</Key><Size>1</Size>"
                + "<ETag>\"E\"</ETag><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
                + "</Contents></ListBucketResult>"
            return [.response("200 OK", headers: [], body: [UInt8](body.utf8))]
        }
        let page = try await fixture.client.list(ListRequest(prefix: "c++/"))
        #expect(page.objects.map(\.key.text) == ["c++/a+b"])
    }

    // MARK: - Answers

    @Test func `that there is no object is an answer like any other`() async throws {
        let fixture = try ClientFixture(runBudget: 2) { _, index in
            [
                index % 2 == 0
                    ? serviceError("503 Busy", "SlowDown")
                    : .text("HTTP/1.1 404 Not Found\r\n\r\n")
            ]
        }
        for _ in 0..<20 {
            let error = await #expect(throws: StorageError.self) {
                try await fixture.client.head("k", versionID: nil)
            }
            #expect(error?.status == 404)
        }
        let answers = fixture.recorder.observations.count {
            if case .answered = $0 { true } else { false }
        }
        #expect(answers == 20)
    }

    // MARK: - Messages

    @Test func `a refused key is named with its source and its place`() async throws {
        for (code, advice) in [
            ("InvalidAccessKeyId", "Check the access key"),
            ("SignatureDoesNotMatch", "Check the access key"),
            ("AccessDenied", "Check the permissions of the access key"),
        ] {
            let fixture = try ClientFixture(
                credentials: StaticCredentials(
                    Credentials(
                        accessKeyID: "LTAI0123456789V9",
                        accessKeySecret: Secret("canary-secret")
                    )
                )
            ) { _, _ in [serviceError("403 Forbidden", code)] }
            let error = await #expect(throws: StorageError.self) {
                try await fixture.client.read(GetRequest(key: "k"), limit: 10)
            }
            let message = error?.message ?? ""
            let expected =
                "\(advice) (LTAI…V9 from a given key, region 'cn-hangzhou', endpoint '127.0.0.1:"
            #expect(message.contains(expected), "\(message)")
            #expect(!message.contains("canary") && !message.contains("0123456789"))
        }
    }

    @Test func `keys of the environment are named by their variable`() {
        let credentials = EnvironmentCredentials(
            environment: ["ALIBABA_CLOUD_ACCESS_KEY_ID": "A", "OSS_ACCESS_KEY_ID": ""],
            families: [.oss, .alibabaCloud]
        )
        #expect(credentials.source == "$ALIBABA_CLOUD_ACCESS_KEY_ID")
    }

    @Test(arguments: [
        "PathStyleDomainForbidden", "InvalidPathAccess", "VirtualHostDomainRequired",
        "SecondLevelDomainForbidden",
    ])
    func `a bucket that must be part of the host is a matter of the configuration`(code: String) {
        let error = StorageError(
            kind: .service(status: 403, code: code),
            operation: "ListObjectsV2"
        )
        #expect(error.message.hasSuffix("Specify the addressing virtual"))
        #expect(error.isMisconfigured)
    }

    @Test func `what this machine lacks is no failure of a request`() {
        func message(_ kind: StorageError.Kind, key: ObjectKey? = nil) -> String {
            StorageError(kind: kind, operation: "ListObjectsV2", key: key).message
        }
        #expect(message(.credentials("there are none")) == "there are none")
        #expect(message(.cancelled) == "interrupted")
        #expect(message(.invalidRequest("no region")) == "no region")
        #expect(
            message(.invalidRequest("too long"), key: "k")
                == "ListObjectsV2 of 'k' failed: too long"
        )
    }

    @Test func `an endpoint that answers in plain text is told from a bad certificate`() {
        let error = StorageError(
            kind: .transport(.tlsFailed(reason: "SSL routines::wrong version number")),
            operation: "ListObjectsV2"
        )
        #expect(error.message.contains("The endpoint answers without TLS"))
    }
}
