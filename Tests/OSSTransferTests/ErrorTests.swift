import OSSBucket
import OSSTransfer
import StorageServer
import StoreFixture
import Testing

/// What an app learns from an error beside its text.
@Suite("Errors of transfers")
struct ErrorTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    struct Answer: Sendable, CustomTestStringConvertible {
        let status: Int
        let service: String
        var message = "No."
        let code: TransferError.Code
        var isRetryable = false

        var testDescription: String { "\(status) \(service)" }
    }

    static let answers = [
        Answer(
            status: 403,
            service: "AccessDenied",
            message: "Request has expired.",
            code: .expired
        ),
        Answer(status: 403, service: "AccessDenied", code: .forbidden),
        Answer(status: 403, service: "SecurityTokenExpired", code: .expired),
        Answer(status: 403, service: "InvalidAccessKeyId", code: .credentials),
        Answer(status: 403, service: "SignatureDoesNotMatch", code: .credentials),
        Answer(status: 404, service: "NoSuchKey", code: .notFound),
        Answer(status: 403, service: "InvalidObjectState", code: .needsRestore),
        Answer(status: 400, service: "InvalidRequest", code: .configuration),
        Answer(status: 503, service: "SlowDown", code: .remoteUnreachable, isRetryable: true),
        Answer(status: 500, service: "InternalError", code: .remoteUnreachable, isRetryable: true),
    ]

    @Test(arguments: answers)
    func `tell what the service said and whether trying again may help`(
        answer: Answer
    ) async throws {
        let client = try fixture.client { $0.connection.retries = 0 }
        try await client.put([1], to: "key")
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject"},
              "effect": {"fail": {"status": \(answer.status), "code": "\(answer.service)",
                                  "message": "\(answer.message)"}}}]
            """
        )
        let download = try ResumableDownload(
            from: .object(client, key: "key"),
            to: fixture.path("file")
        )
        let error = await #expect(throws: TransferError.self) { try await download.run() }
        #expect(error?.code == answer.code)
        #expect(error?.isRetryable == answer.isRetryable)
        let single = await #expect(throws: TransferError.self) {
            try await client.get("key", maxBytes: 9)
        }
        #expect(single?.code == answer.code)
        #expect(single?.isRetryable == answer.isRetryable)
        for error in [error, single] {
            #expect(error?.status == answer.status)
            #expect(error?.serviceCode == answer.service)
            #expect(error?.requestID != nil)
        }
    }

    @Test func `have the checkpoint of what was received`() async throws {
        let client = try fixture.client { $0.connection.retries = 0 }
        try await client.put(StoreFixture.ramp(1_000_000), to: "key")
        try fixture.setFaults(
            """
            [{"match": {"operation": "GetObject", "from": 9},
              "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
            """
        )
        let download = try fixture.resumable(.object(client, key: "key"))
        let error = await #expect(throws: TransferError.self) { try await download.start().value }
        let checkpoint = try #require(error?.checkpoint)
        #expect(checkpoint.receivedLength > 0)
        try fixture.setFaults("[]")
        fixture.server.clearRequestLog()
        let next = try ResumableDownload(
            from: .object(client, key: "key"),
            to: fixture.path("file"),
            checkpoint: checkpoint
        )
        #expect(try await next.run().file?.isVerified == true)
        #expect(fixture.bytesSent == 1_000_000 - checkpoint.receivedLength)
    }

    @Test func `have the checkpoint also if the task was cancelled`() async throws {
        let client = try fixture.client()
        try await client.put(StoreFixture.ramp(1_000_000), to: "key")
        let download = try fixture.resumable(.object(client, key: "key"))
        try fixture.hold("GetObject", from: 9)
        let run = Task { try await download.run() }
        await fixture.server.untilHeld(1)
        run.cancel()
        let error = await #expect(throws: TransferError.self) { try await run.value }
        try fixture.setFaults("[]")
        #expect(error?.code == .cancelled)
        #expect((error?.checkpoint?.receivedLength ?? 0) > 0)
    }

    @Test func `without a connection are worth another try`() async throws {
        let client = try fixture.client {
            $0.endpoint = StoreFixture.deadEndpoint
            $0.connection.retries = 0
        }
        let error = await #expect(throws: TransferError.self) { try await client.head("key") }
        #expect(error?.code == .remoteUnreachable && error?.isRetryable == true)
        #expect(error?.status == nil && error?.serviceCode == nil)
    }
}
