import Foundation
import OSSBucket
import OSSTransfer
import StoreFixture
import Synchronization

/// An app's server that has the keys of a bucket and signs for a device that has none.
final class SigningServer: Sendable {
    private struct State {
        var asked: [UploadRequest] = []
        var change: @Sendable (UploadRequest) -> UploadRequest = { $0 }
        var answer: @Sendable (UploadRequest, SignedRequest) throws -> SignedRequest = { $1 }
    }

    private let client: BucketClient
    private let state = Mutex(State())

    init(
        _ fixture: StoreFixture,
        _ dialect: StoreDialect = .oss,
        _ signature: StoreConfiguration.Signature = .v4
    ) throws {
        var configuration = fixture.configuration
        configuration.signature = signature
        client = try BucketClient(
            StoreFixture.bucket,
            dialect: dialect,
            configuration: configuration
        )
    }

    var asked: [UploadRequest] { state.withLock { $0.asked } }

    func asked(_ operation: UploadRequest.Operation) -> [UploadRequest] {
        asked.filter { $0.operation == operation }
    }

    /// What is signed in place of each request.
    func setChange(_ change: @escaping @Sendable (UploadRequest) -> UploadRequest) {
        state.withLock { $0.change = change }
    }

    /// What is done with each signature before it is handed out.
    func setAnswer(
        _ answer: @escaping @Sendable (UploadRequest, SignedRequest) throws -> SignedRequest
    ) {
        state.withLock { $0.answer = answer }
    }

    /// Both ways as JSON, as between a device and its server.
    @Sendable func sign(_ request: UploadRequest) async throws -> SignedRequest {
        let body = try JSONEncoder().encode(request)
        let received = try JSONDecoder().decode(UploadRequest.self, from: body)
        let change = state.withLock { $0.change }
        let signed = try await client.sign(change(received), lifetime: .seconds(600))
        let answer = try state.withLock { state in
            state.asked.append(received)
            return try state.answer(received, signed)
        }
        return try JSONDecoder().decode(SignedRequest.self, from: JSONEncoder().encode(answer))
    }

    /// The object `k` for a device.
    func target(
        _ dialect: StoreDialect = .oss,
        key: String = "k"
    ) throws(TransferError) -> UploadTarget {
        var connection = ConnectionSettings()
        connection.longestRetryPause = .milliseconds(10)
        return try .signed(
            ObjectReference(dialect: dialect, bucket: StoreFixture.bucket, key: key),
            connection: connection,
            sign: sign
        )
    }
}

extension StoreFixture {
    /// An upload of the file `file` by signed requests.
    func signedUpload(
        _ signer: SigningServer,
        _ options: UploadOptions,
        onNotice: @escaping @Sendable (TransferNotice) -> Void = { _ in }
    ) throws -> ResumableUpload {
        try ResumableUpload(
            of: path("file"),
            to: signer.target(),
            options: options,
            onNotice: onNotice
        )
    }
}
