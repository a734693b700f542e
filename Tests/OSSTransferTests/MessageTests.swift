import OSSBucket
import OSSTransfer
import ObjectStorage
import StorageServer
import StoreFixture
import Testing

/// What an app's developer reads when something is wrong.
@Suite("Messages of transfers")
struct MessageTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private static func message(_ body: () async throws -> Void) async -> String? {
        let error = await #expect(throws: TransferError.self) { try await body() }
        return error.map { "\($0.code): \($0.message)" }
    }

    @Test func `say what cannot be uploaded`() async throws {
        let client = try fixture.client()
        try fixture.write("folder/file", [1])
        let folder = fixture.path("folder")
        let told = await Self.message {
            _ = try await ResumableUpload(of: folder, to: client, key: "k").run()
        }
        #expect(told == "localState: '\(folder)': it is a directory; an upload sends one file")
        let device = await Self.message {
            _ = try await ResumableUpload(of: "/dev/null", to: client, key: "k").run()
        }
        #expect(device == "localState: '/dev/null': it is a character device, not a file")
        #expect(fixture.server.requestLog.isEmpty)
    }

    private static func failure(_ error: TransportError) -> String {
        StorageError(kind: .transport(error), operation: "GetObject").message
    }

    private static func answer(_ status: Int, _ code: String, _ text: String = "") -> String {
        StorageError(
            kind: .service(status: status, code: code),
            operation: "PutObject",
            serviceMessage: text
        ).message
    }

    @Test(
        arguments: [
            { EndpointError.missing.message },
            { EndpointError.missingOf(provider: "minio").message },
            { failure(.tlsFailed(reason: "")) },
            { failure(.proxyFailed(reason: "")) },
            { answer(400, "AuthorizationHeaderMalformed") },
            { answer(400, "InvalidPart", "All parts must have the same length.") },
            { answer(403, "PathStyleDomainForbidden") },
            { ItemFailure.encrypted.message },
            { TransferError.interrupted.message },
            {
                let account = AccessKey(id: "id", secret: "secret")
                var store = StoreConfiguration(region: nil, credentials: .fixed(account))
                store.endpoint = "http://example.com"
                return await message { _ = try BucketClient("b", configuration: store) } ?? ""
            },
            {
                let account = AccessKey(id: "id", secret: "secret")
                var store = StoreConfiguration(region: nil, credentials: .fixed(account))
                store.endpoint = "https://example.com"
                return await message { _ = try BucketClient("b", configuration: store) } ?? ""
            },
        ] as [@Sendable () async -> String]
    )
    func `name no option of the program, which has its own`(
        message: @escaping @Sendable () async -> String
    ) async {
        let told = await message()
        #expect(!told.isEmpty && !told.contains("--") && !told.contains("'osssync "))
        let ofProgram = await namingOptions { Task { await message() } }.value
        #expect(ofProgram != told)
    }

    @Test(
        arguments: [
            ("ftp://host/x?y", "'ftp://host/…' does not begin with https:// or http://"),
            ("file:///x", "'file:///…' does not begin with https:// or http://"),
            ("host/x", "'host/…' does not begin with https:// or http://"),
            ("https://", "there is no host in it"),
            (
                "https://host/a b",
                "'https://host/…' is longer than 16 KiB, or contains a blank, '#' or another "
                    + "character that has to be percent-encoded"
            ),
        ]
    )
    func `say why a text is no signed URL`(url: String, reason: String) async {
        let told = await Self.message { _ = try DownloadSource.presigned(PresignedURLs(get: url)) }
        #expect(told == "configuration: not a signed URL: \(reason)")
    }

    @Test func `name the directory that is missing`() async throws {
        let client = try fixture.client()
        try await client.put([1], to: "key")
        let source = DownloadSource.object(client, key: "key")
        let missing = "the directory '\(fixture.path("absent"))' does not exist: create it first"
        let file = fixture.path("absent/file")
        let download = await Self.message {
            _ = try await ResumableDownload(from: source, to: file).run()
        }
        #expect(download == "localState: '\(file)': \(missing)")
        var options = DownloadOptions()
        options.recordDirectory = fixture.path("absent/records/")
        let record = await Self.message {
            let file = fixture.path("file")
            _ = try await ResumableDownload(from: source, to: file, options: options).run()
        }
        #expect(record == "localState: '\(fixture.path("file"))': \(missing)")
        let manager = await Self.message {
            _ = try await TransferManager(directory: fixture.path("absent/records")) { _ in
                .download(source, to: file)
            }
        }
        #expect(manager == "localState: \(missing)")
    }

    @Test func `name the directory that another manager has`() async throws {
        let first = try await fixture.manager()
        let told = await Self.message { _ = try await fixture.manager() }
        #expect(
            told == "locked: '\(first.directory)': another transfer manager, of this process or of "
                + "another one, has this directory; use that one, or another directory"
        )
    }

    @Test(
        arguments: [
            ("AccessDenied", "Request has expired.", "The signed URL has expired: get a new one"),
            ("SecurityTokenExpired", "No.", "The signed URL has expired: get a new one"),
            ("AccessDenied", "No.", "The signed URL may have expired, or does not allow this"),
            ("SignatureDoesNotMatch", "No.", "The signed URL may have expired, or does not allow"),
        ]
    )
    func `ask for a new URL where a signed one is refused`(
        code: String,
        text: String,
        advice: String
    ) async throws {
        let urls = try await fixture.presigned([1])
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject"},
              "effect": {"fail": {"status": 403, "code": "\(code)", "message": "\(text)"}}}]
            """
        )
        // A renewal may bring what is refused, too.
        let sources = try [DownloadSource.presigned(urls), .presigned(urls) { urls }]
        for source in sources {
            let told = await Self.message {
                _ = try await ResumableDownload(from: source, to: fixture.path("file")).run()
            }
            #expect(told?.contains(advice) == true && told?.contains("access key") == false)
            #expect(told?.hasSuffix("get a new one from what signed it") == true)
        }
    }

    @Test func `of notices name no module`() {
        let reasons: [StartOverReason] = [
            .objectChanged, .partialUnusable, .damaged(bytes: 7), .foreignCheckpoint, .fileChanged,
            .uploadVanished, .wrongContent,
        ]
        let notices: [TransferNotice] =
            reasons.map { .startedOver($0) } + [
                .resumed(bytes: 7), .waiting(pause: .seconds(1), message: "no connection"),
                .warning(message: "a weak ETag"),
            ]
        let told = notices.flatMap { ["\($0)", String(reflecting: $0), "\([$0])"] }
        #expect(told.allSatisfy { !$0.contains("Transfer.") && !$0.contains("Reason") })
        #expect("\(notices[0])" == "started over: the object was replaced")
        #expect(
            "\(notices[2])" == "started over: 7 bytes of the partial file are not what they were"
        )
    }

    @Test func `ask for a longer signature where one has expired on its way`() async throws {
        try fixture.write("file", [1])
        try fixture.setFaults(
            """
            [{"match": {"operation": "PutObject"},
              "effect": {"fail": {"status": 403, "code": "AccessDenied",
                                  "message": "Request has expired."}}}]
            """
        )
        let signer = try SigningServer(fixture)
        let told = await Self.message {
            _ = try await fixture.signedUpload(signer, UploadOptions()).run()
        }
        #expect(told?.hasPrefix("expired: ") == true)
        #expect(told?.hasSuffix("sign for longer, and check the clock of what signs") == true)
    }
}
