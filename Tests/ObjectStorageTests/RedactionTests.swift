import SyncModel
import SyncTestSupport
import Testing

@testable import ObjectStorage

/// What is left of a request's credentials in what the service repeats of it.
@Suite("Redaction")
struct RedactionTests {
    static let secret = "canary-secret-0123456789"
    static let token = "CAISq+canary/token==with~and more of it"

    static let credentials = Credentials(
        accessKeyID: "key-id",
        accessKeySecret: Secret(secret),
        securityToken: Secret(token)
    )

    /// What nothing may show: ends and middles of what a request was signed with and carried.
    static let pieces = ["canary", "et-01234", "CAISq+", "CAISq%2B", "more of it", "more%20of"]

    /// All that a service knows of its client, and a secret that it should not know.
    static func echo(_ request: ScriptedRequest, _ dialect: StorageDialect = .oss) -> String {
        let authorization = request["authorization"] ?? "none"
        let token = request[dialect.header("security-token")] ?? "none"
        let spelled = percentEncode(token.utf8, keepsSlash: false)
        return "\(secret) \(token) \(spelled) \(authorization)"
    }

    static func signature(of request: ScriptedRequest?) -> String {
        let authorization = request?["authorization"] ?? "none"
        return String(authorization.suffix(24).prefix(20))
    }

    static func expectNothing(of request: ScriptedRequest?, in text: String) {
        for piece in pieces + [signature(of: request)] {
            #expect(!text.contains(piece), "\(piece) is in \(text)")
        }
    }

    @Test(arguments: [SignatureVersion.v4, .v1])
    func `an error that repeats its request has no secret of it`(
        version: SignatureVersion
    ) async throws {
        let fixture = try ClientFixture(
            attempts: 1,
            signatureVersion: version,
            credentials: StaticCredentials(Self.credentials)
        ) { request, _ in
            let echo = Self.echo(request)
            return [
                serviceError(
                    "403 Forbidden",
                    "Code-\(echo)",
                    message: "no \(echo)",
                    extra: "<Endpoint>\(echo)</Endpoint><EC>\(echo)</EC>"
                )
            ]
        }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.delete("k", versionID: nil)
        }
        let found = try #require(error)
        Self.expectNothing(of: fixture.server.requests.first, in: String(reflecting: found))
        Self.expectNothing(of: fixture.server.requests.first, in: found.message)
        #expect(found.serviceMessage?.hasPrefix("no (secret) (secret) ") == true)
    }

    @Test func `S3's requests are kept from its errors as well`() async throws {
        let fixture = try ClientFixture(
            attempts: 1,
            dialect: .s3,
            credentials: StaticCredentials(Self.credentials)
        ) { request, _ in
            [serviceError("403 Forbidden", "AccessDenied", message: Self.echo(request, .s3))]
        }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.delete("k", versionID: nil)
        }
        let found = try #require(error)
        #expect(found.serviceCode == "AccessDenied")
        Self.expectNothing(of: fixture.server.requests.first, in: String(reflecting: found))
    }

    @Test func `the results of single keys have no secret of their request`() async throws {
        let fixture = try ClientFixture(
            credentials: StaticCredentials(Self.credentials)
        ) { request, _ in
            let body =
                "<DeleteResult><Error><Key>a</Key><Code>AccessDenied</Code><Message>"
                + Self.echo(request) + "</Message></Error></DeleteResult>"
            return [.response("200 OK", body: [UInt8](body.utf8))]
        }
        let failures = try await fixture.client.delete(["a"])
        let found = try #require(failures["a"])
        #expect(found.serviceMessage?.hasPrefix("(secret)") == true)
        Self.expectNothing(of: fixture.server.requests.first, in: String(reflecting: found))
    }

    @Test func `a callback that failed has no secret of the upload`() async throws {
        let fixture = try ClientFixture(
            credentials: StaticCredentials(Self.credentials)
        ) { request, _ in
            [serviceError("203 Non-Authoritative", "CallbackFailed", message: Self.echo(request))]
        }
        let result = try await fixture.client.put(
            PutRequest(key: "k", callback: UploadCallback(parameters: "{}", variables: nil)),
            body: .none,
            onProgress: { _ in }
        )
        let text = try #require(result.callbackFailure)
        #expect(text.hasPrefix("(secret)"))
        Self.expectNothing(of: fixture.server.requests.first, in: text)
    }

    @Test func `a signed address gives its permission to no message`() throws {
        let address = try PresignedURL(
            parsing: "https://h.example/k?x-oss-signature-version=OSS4-HMAC-SHA256"
                + "&x-oss-security-token=CAISq%2Bcanary%2Ftoken&x-oss-signature=0123456789abcdef"
        )
        var context = AttemptContext()
        context.urls = PresignedPair(get: address, head: nil)
        var redaction = Redaction()
        redaction.add(context)
        let text = "OSS4-HMAC-SHA256 23456789ab CAISq+canary/token; CAISq%2Bcanary%2Ftoken?"
        #expect(redaction.applied(to: text) == "OSS4-HMAC-SHA256 (secret) (secret); (secret)?")
    }

    @Test func `what holds no secret stays, and so does what is too short to be one`() {
        var redaction = Redaction()
        #expect(redaction.applied(to: "anything at all") == "anything at all")
        redaction.add([UInt8]("key".utf8))
        redaction.add([UInt8]("0123456789".utf8))
        #expect(redaction.applied(to: "the key 0123456") == "the key 0123456")
        #expect(redaction.applied(to: "at 01234567 and 23456789") == "at (secret) and (secret)")
        #expect(redaction.applied(to: "0123456789" + "0123456789") == "(secret)")
        #expect(redaction.applied(to: "é0123456789é") == "é(secret)é")
    }
}
