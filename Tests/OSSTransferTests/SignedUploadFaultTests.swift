import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Synchronization
import Testing

@Suite("An upload by signed requests, in trouble")
struct SignedUploadFaultTests {
    private static let content = StoreFixture.ramp(3_000_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private struct Refusal: Error {}

    @Test func `that is not signed ends with what the signer said`() async throws {
        try fixture.write("file", Self.content)
        let own = TransferError(code: .refused, message: "Refusal()")
        for (error, code) in [(Refusal(), .credentials), (own, .refused)]
            as [(any Error, TransferError.Code)]
        {
            let signer = try SigningServer(fixture)
            signer.setAnswer { request, signed in
                if request.partNumber == 3 { throw error }
                return signed
            }
            let upload = try fixture.signedUpload(signer, .inParts())
            let thrown = await expectError(code) { try await upload.run() }
            #expect(thrown?.message.hasSuffix("the app's signer: Refusal()") == true)
            #expect(signer.asked(.uploadPart).count { $0.partNumber == 3 } == 1)
        }
    }

    @Test func `whose signer cannot be reached waits for it`() async throws {
        try fixture.write("file", Self.content)
        let signer = try SigningServer(fixture)
        let failures = Mutex(0)
        signer.setAnswer { request, signed in
            guard request.partNumber == 3 else { return signed }
            let isFound = failures.withLock { failures in
                failures += 1
                return failures > 3
            }
            guard !isFound else { return signed }
            throw TransferError(
                code: .remoteUnreachable,
                message: "no network",
                isRetryable: true
            )
        }
        let upload = try fixture.signedUpload(signer, .inParts())
        #expect(try await upload.run().object?.size == 3_000_000)
        #expect(fixture.storedParts == Array(1...15))
    }

    @Test func `whose signer was never reached leaves nothing to warn of`() async throws {
        try fixture.write("file", Self.content)
        let signer = try SigningServer(fixture)
        let unreachable = TransferError(
            code: .remoteUnreachable,
            message: "no network",
            isRetryable: true
        )
        signer.setAnswer { _, _ in throw unreachable }
        let notices = Notices()
        func upload() throws -> ResumableUpload {
            try fixture.signedUpload(
                signer,
                .inParts(fixture.path("records")),
                onNotice: notices.add
            )
        }
        let error = await #expect(throws: TransferError.self) { try await upload().run() }
        #expect(error?.isRetryable == true)
        let second = try upload()
        signer.setAnswer { $1 }
        _ = await #expect(throws: Never.self) { try await second.run() }
        signer.setAnswer { _, _ in throw unreachable }
        let third = try upload()
        _ = await #expect(throws: TransferError.self) { try await third.run() }
        try await third.discard()
        #expect(notices.warnings == [])
    }

    @Test func `is not led to another host, and not to one without TLS`() async throws {
        let fixture = try StoreFixture()
        let elsewhere = try StoreFixture()
        defer {
            fixture.stop()
            elsewhere.stop()
        }
        try fixture.write("file", Self.content)
        for host in [elsewhere.server.url, "http://store.example"] {
            let signer = try SigningServer(fixture)
            signer.setAnswer { request, signed in
                guard request.operation == .complete else { return signed }
                let url = signed.url.replacing(fixture.server.url, with: host)
                return SignedRequest(url: url, headers: signed.headers)
            }
            let upload = try fixture.signedUpload(signer, .inParts())
            await expectError(.credentials) { try await upload.run() }
        }
        #expect(elsewhere.server.requestLog.isEmpty)
    }

    @Test func `whose last answer was lost asks for the object, or sends all of it again`()
        async throws
    {
        try fixture.write("file", Self.content)
        for mayAsk in [true, false] {
            let signer = try SigningServer(fixture)
            signer.setAnswer { request, signed in
                if request.operation == .head, !mayAsk { throw Refusal() }
                return signed
            }
            fixture.server.clearRequestLog()
            try fixture.setFaults(
                """
                [{"match": {"operation": "CompleteMultipartUpload", "occurrence": 1},
                  "effect": {"close": {"when": "after", "how": "rst"}}}]
                """
            )
            let notices = Notices()
            let upload = try fixture.signedUpload(signer, .inParts(), onNotice: notices.add)
            #expect(try await upload.run().object?.size == 3_000_000)
            #expect(fixture.storedParts.count == (mayAsk ? 15 : 30))
            #expect(notices.all == (mayAsk ? [] : [.startedOver(.uploadVanished)]))
            let read = try await fixture.client().get("k", maxBytes: 1 << 22).value
            #expect(read?.bytes == Self.content)
            #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
        }
    }

    @Test func `of which nobody knows whether it began says so and begins another one`()
        async throws
    {
        let signer = try SigningServer(fixture)
        try fixture.write("file", Self.content)
        try fixture.setFaults(
            """
            [{"match": {"operation": "InitiateMultipartUpload", "occurrence": 1},
              "effect": {"close": {"when": "after", "how": "rst"}}}]
            """
        )
        let notices = Notices()
        let upload = try fixture.signedUpload(signer, .inParts(), onNotice: notices.add)
        #expect(try await upload.run().object?.size == 3_000_000)
        #expect(
            notices.warnings == [
                "an upload of 'k' may have begun without an answer, and stays in the bucket: "
                    + "listing unfinished uploads is not allowed"
            ]
        )
        // With keys that may list them, nothing stays.
        #expect(try await fixture.client().incompleteUploads(prefix: "").count == 1)
    }

    @Test func `is signed only as what it says it is`() async throws {
        let client = try fixture.client()
        let wrong = [
            UploadRequest(.abort, key: "k"), UploadRequest(.uploadPart, key: "k", uploadID: "u"),
            UploadRequest(.put, key: "k", uploadID: "u"),
            UploadRequest(.complete, key: "k", uploadID: "u", partNumber: 1),
        ]
        for request in wrong {
            await expectError(.configuration) {
                try await client.sign(request, lifetime: .seconds(60))
            }
        }
        let sly = try await client.sign(
            UploadRequest(.abort, key: "k?acl", uploadID: "u&acl"),
            lifetime: .seconds(60)
        )
        #expect(sly.url.contains("/k%3Facl?uploadId=u%26acl&"))
        #expect("\(sly)" == "SignedRequest" && !String(reflecting: sly).contains("acl"))
        await expectError(.configuration) {
            try await client.sign(UploadRequest(.put, key: "k"), lifetime: .seconds(604_801))
        }
    }

    @Test(arguments: [StoreDialect.oss, .s3], [1_000, 6 << 20])
    func `does not replace an object if it must not`(dialect: StoreDialect, size: Int)
        async throws
    {
        let signer = try SigningServer(fixture, dialect)
        try fixture.write("file", StoreFixture.ramp(size))
        var options = UploadOptions.inParts()
        options.ifExists = .fail
        let target = try signer.target(dialect)
        func run() async throws(TransferError) -> ResumableUpload.Outcome {
            try await ResumableUpload(of: fixture.path("file"), to: target, options: options).run()
        }
        #expect(try await run().object?.size == Int64(size))
        await expectError(.alreadyExists) { try await run() }
        #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
    }

    @Test(arguments: [1_000, 450_000]) func `is written as the server says, not the device`(
        size: Int
    ) async throws {
        try fixture.write("file", StoreFixture.ramp(size))
        let signer = try SigningServer(fixture)
        signer.setChange { request in
            var headers = request.headers
            if [.put, .initiate].contains(request.operation) {
                headers = ["content-type": "text/server", "x-oss-storage-class": "IA"]
            }
            return UploadRequest(
                request.operation,
                key: request.key,
                uploadID: request.uploadID,
                partNumber: request.partNumber,
                headers: headers
            )
        }
        var options = UploadOptions.inParts()
        options.properties.contentType = "text/device"
        options.properties.metadata = ["owner": "device"]
        _ = try await fixture.signedUpload(signer, options).run()
        let info = try #require(try await fixture.client().head("k").value)
        #expect(info.contentType == "text/server" && info.storageClass == "IA")
        #expect(info.metadata == [:])
    }
}
