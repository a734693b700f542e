import SyncModel
import Testing

@testable import StorageServer

@Suite("The server's side of SigV4")
struct S3SigningTests {
    /// A client's server that knows the vectors' keys.
    private static let authenticator = Authenticator(
        credentials: [
            ServerCredentials(accessKeyID: "AKIAEXAMPLE", secret: "aws-secret-example"),
            ServerCredentials(
                accessKeyID: "ASIAEXAMPLE",
                secret: "aws-sts-secret-example",
                securityToken: "CAISexample+token/with=special chars~"
            ),
        ],
        region: "us-east-1"
    )
    private static let now = Timestamp(seconds: 1_767_323_045)

    private static func signed(_ vector: ServerVector) -> Request {
        let request = vector.request
        let header = vector.expected.authorization.map { [(name: "authorization", value: $0)] }
        return Request(
            method: request.method,
            target: request.target,
            headers: request.headers + (header ?? [])
        )
    }

    private static let vectors =
        ServerVector.all("s3-v4-header") + ServerVector.all("s3-v4-presign")

    @Test func `the vectors are there`() {
        #expect(Self.vectors.count == 11)
    }

    @Test(arguments: vectors)
    func `accepts what the official SDKs sign`(vector: ServerVector) throws {
        let request = Self.signed(vector)
        #expect(request.dialect == .s3)
        _ = try Self.authenticator.verifyS3(request, now: Self.now)
    }

    @Test(arguments: vectors)
    func `refuses the same signature for another method`(vector: ServerVector) {
        let request = Self.signed(vector)
        let other = Request(method: .delete, target: request.target, headers: request.headers)
        #expect(
            Self.code { try Self.authenticator.verifyS3(other, now: Self.now) }
                == "SignatureDoesNotMatch"
        )
    }

    @Test(arguments: [
        (-1_000, "RequestTimeTooSkewed"), (1_000, "RequestTimeTooSkewed"),
    ])
    func `refuses a clock that is far off`(offset: Int64, code: String) throws {
        let vector = try #require(ServerVector.all("s3-v4-header").first)
        let now = Timestamp(seconds: Self.now.seconds + offset)
        #expect(
            Self.code { try Self.authenticator.verifyS3(Self.signed(vector), now: now) }
                == code
        )
    }

    @Test func `a signed URL ends with its time`() throws {
        let vector = try #require(ServerVector.all("s3-v4-presign").first)
        let request = Self.signed(vector)
        let last = Timestamp(seconds: Self.now.seconds + 3_600)
        _ = try Self.authenticator.verifyS3(request, now: last)
        let late = Timestamp(seconds: last.seconds + 1)
        #expect(
            Self.code { try Self.authenticator.verifyS3(request, now: late) }
                == "AccessDenied"
        )
    }

    private static func code(_ body: () throws -> SignedPayload) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? ServiceError)?.code
        }
    }

    @Test func `OSS's own signatures are not S3`() {
        for vector in ServerVector.all("oss-v4-header") + ServerVector.all("oss-v1-header") {
            #expect(Self.signed(vector).dialect == .oss)
        }
    }
}

@Suite("Bodies in S3's chunks")
struct ChunkedBodyTests {
    /// The example of "Signature Calculations for the Authorization Header: Transferring Payload
    /// in Multiple Chunks" in the S3 API reference.
    private static let scope = "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request"
    private static let seed = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
    private static let signatures = [
        "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
        "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
        "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
    ]

    private static func encoded(_ sizes: [Int]) -> [UInt8] {
        var result: [UInt8] = []
        for (size, signature) in zip(sizes, signatures) {
            result += Array("\(String(size, radix: 16));chunk-signature=\(signature)\r\n".utf8)
            result += [UInt8](repeating: UInt8(ascii: "a"), count: size)
            result += Array("\r\n".utf8)
        }
        return result
    }

    private func decode(_ body: [UInt8], piece: Int) throws -> (bytes: Int, complete: Bool) {
        let scope = try #require(S3Scope(Self.scope))
        let time = try #require(Timestamp(basicText: "20130524T000000Z"))
        let key = S3SigningKey(
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            scope: scope,
            time: time,
            keys: SigningKeys()
        )
        let chunks = ChunkedBody(key: key, seed: Self.seed)
        var count = 0
        for start in stride(from: 0, to: body.count, by: piece) {
            let part = Array(body[start..<min(start + piece, body.count)])
            try unsafe part.withUnsafeBytes { bytes in
                try unsafe chunks.receive(bytes) { count += $0.count }
            }
        }
        return (count, chunks.isComplete)
    }

    @Test(arguments: [1, 7, 65_536, 100_000])
    func `are decoded and verified however they arrive`(piece: Int) throws {
        let result = try decode(Self.encoded([65_536, 1_024, 0]), piece: piece)
        #expect(result == (66_560, true))
    }

    @Test func `a chunk that was changed is refused`() {
        var body = Self.encoded([65_536, 1_024, 0])
        body[70_000 - 4_000] ^= 1
        #expect(throws: ServiceError.self) { try decode(body, piece: 4_096) }
    }

    @Test func `a body without its last chunk is not complete`() throws {
        let result = try decode(Self.encoded([65_536, 1_024]), piece: 4_096)
        #expect(result == (66_560, false))
    }

    @Test(arguments: ["", "zz\r\n", "-1\r\n", "3;chunk-signature=0\r\nabcd\r\n"])
    func `nonsense is refused`(text: String) throws {
        if text.isEmpty {
            #expect(try decode([], piece: 1) == (0, false))
        } else {
            #expect(throws: ServiceError.self) { try decode(Array(text.utf8), piece: 64) }
        }
    }
}
