package import SyncModel
internal import Synchronization

/// A request that somebody else signs.
package struct RequestToSign: Sendable {
    /// In the service's spelling, such as `UploadPart`.
    package let operation: String
    package let key: ObjectKey
    /// Names and values before any encoding.
    package let query: [(String, String)]
    package let headers: [(String, String)]
    package let contentLength: Int64
    /// True if the service has just refused a signature of this request.
    package let isRenewal: Bool
}

/// What a request is sent as.
package struct SignedAddress: Sendable {
    let url: PresignedURL
    /// All headers that are sent beside those of the transport.
    let headers: [(String, String)]

    package init(url: PresignedURL, headers: [(String, String)]) {
        self.url = url
        self.headers = headers
    }
}

/// Has each request of an upload signed elsewhere, so that this machine needs no key.
///
/// All requests go to the host of the first one.
package final class RequestSigning: Sendable {
    package typealias Sign =
        @Sendable (RequestToSign) async throws(CredentialsError) -> SignedAddress

    private let sign: Sign
    private let endpoint = Mutex<Endpoint?>(nil)

    package init(_ sign: @escaping Sign) {
        self.sign = sign
    }

    func address(
        of request: StorageRequest,
        isRenewal: Bool
    ) async throws(StorageError) -> SignedAddress {
        guard let key = request.key, StorageRequest.signedOperations.contains(request.operation)
        else {
            throw request.failure(.unsupported("no signature is asked for this request"))
        }
        let asked = RequestToSign(
            operation: request.operation,
            key: key,
            query: request.query,
            headers: request.headers,
            contentLength: request.body.length,
            isRenewal: isRenewal
        )
        let address: SignedAddress
        do throws(CredentialsError) {
            address = try await sign(asked)
        } catch {
            throw request.failure(error)
        }
        let known = endpoint.withLock { endpoint in
            if endpoint == nil { endpoint = address.url.endpoint }
            return endpoint
        }
        guard known == address.url.endpoint else {
            throw request.failure(
                .credentials("the signed request goes to another host than those before it")
            )
        }
        return address
    }
}

extension StorageRequest {
    /// Those of an upload.
    fileprivate static let signedOperations: Set<String> = [
        "PutObject", "InitiateMultipartUpload", "UploadPart", "ListParts",
        "CompleteMultipartUpload", "AbortMultipartUpload", "HeadObject",
    ]
}

extension StorageClient {
    /// A client whose requests are signed elsewhere; it sends nothing but those of an upload.
    ///
    /// - Throws: If the transport could not be started.
    package convenience init(
        signing: RequestSigning,
        dialect: StorageDialect,
        network: NetworkSettings,
        environment: StorageEnvironment
    ) throws(StorageError) {
        var configuration = StorageConfiguration(
            withoutKeys: dialect,
            endpoint: .signedElsewhere,
            network: network
        )
        configuration.signing = signing
        try self.init(configuration: configuration, environment: environment)
    }

    /// Where a request goes and what it carries, as it was signed elsewhere.
    func signedElsewhere(
        _ request: StorageRequest,
        _ signing: RequestSigning,
        _ context: inout AttemptContext
    ) async throws(StorageError) -> (url: String, headers: [(String, String)]) {
        let address = try await signing.address(of: request, isRenewal: context.isRefused)
        context.isRefused = false
        context.signedURL = address.url
        var signed = request
        signed.headers = address.headers
        try signed.validate(dialect)
        return (address.url.url, address.headers)
    }
}

extension Endpoint {
    /// Of requests that are signed elsewhere: each of their URLs names it.
    fileprivate static let signedElsewhere = Endpoint(
        scheme: .https,
        host: "",
        port: nil,
        region: nil,
        addressing: .cname
    )
}
