package import ObjectStorage
internal import SyncModel

/// The object that an upload makes, and by which right.
public struct UploadTarget: Sendable {
    /// Signs a request on behalf of a device without keys.
    public typealias Signer = @Sendable (_ request: UploadRequest) async throws -> SignedRequest

    /// The object's whole key.
    public let key: String
    let dialect: StoreDialect
    /// The bucket and the key.
    let object: String
    /// The object as records know it again, without secrets.
    let subject: String
    var monitor: TransferMonitor?
    /// What encrypts the content before it is sent.
    package var cipher: ContentCipher?
    let makeStore: @Sendable () throws(TransferError) -> any ObjectStore

    func store() throws(TransferError) -> any ObjectStore {
        let store = try makeStore()
        if let cipher { return SealedStore(store, cipher) }
        return store
    }

    /// ``subject``, and with what it is encrypted: parts that were sent as they are, or with
    /// another password, are of no use.
    var recordedSubject: String { cipher.map { subject + " " + $0.check } ?? subject }

    /// An object of a bucket, written with the bucket's credentials.
    ///
    /// - Parameters:
    ///   - client: The bucket.
    ///   - key: The object's whole key.
    /// - Returns: A target; no request is made.
    public static func object(_ client: BucketClient, key: String) -> UploadTarget {
        UploadTarget(
            key: key,
            dialect: client.dialect,
            object: "\(client.bucket)/\(key)",
            subject: client.subject(of: key),
            monitor: client.monitor,
            makeStore: { client.limitedStore }
        )
    }

    /// An object by requests that are signed elsewhere, so that this device needs no key.
    ///
    /// ```swift
    /// let target = try UploadTarget.signed(ObjectReference(parsing: "oss://bucket/film.mov")) {
    ///     try await server.sign($0)
    /// }
    /// let upload = try ResumableUpload(of: "film.mov", to: target)
    /// ```
    ///
    /// Each request is signed right before it is sent, and once more if the store refuses it. All
    /// go to one host; a redirect is an error of code `redirected`. What is signed never stands in
    /// a message or a record.
    ///
    /// - Parameters:
    ///   - object: The object; its bucket must be the one that is signed for.
    ///   - connection: How the host is reached.
    ///   - sign: Asked for each request, from several tasks at once. If the app's server can't be
    ///     reached (a `TransferError` whose `isRetryable` is true or whose `status` is 5xx, a
    ///     `URLError` of connection, time or resolution), the upload waits as for a lost connection
    ///     and asks again. Anything else that it throws ends the upload with that error's code and
    ///     text, and code `credentials` for errors of other types.
    /// - Returns: A target; nothing is signed and no request is made.
    /// - Throws: `TransferError` of code `configuration` for settings that no connection can have,
    ///   and for certificate authorities that can't be read.
    public static func signed(
        _ object: ObjectReference,
        connection: ConnectionSettings = ConnectionSettings(),
        sign: @escaping Signer
    ) throws(TransferError) -> UploadTarget {
        try connection.check()
        try ResolvedConnection.checkAuthorities(connection.network.caFile)
        let allowsInsecureHTTP = connection.allowsInsecureHTTP
        let network = connection.network
        let dialect = object.dialect
        let place = "\(object.bucket)/\(object.key)"
        let makeStore: @Sendable () throws(TransferError) -> any ObjectStore = {
            () throws(TransferError) -> any ObjectStore in
            let signing = RequestSigning { (request) async throws(CredentialsError) in
                try await AppQuestion(source: "the app's signer").ask {
                    try await address(of: request, sign, allowsInsecureHTTP)
                }
            }
            do throws(StorageError) {
                let store = try StorageClient(
                    signing: signing,
                    dialect: dialect == .oss ? .oss : .s3,
                    network: network,
                    environment: connection.environment
                )
                return connection.limiting(store)
            } catch {
                throw TransferError(error)
            }
        }
        return UploadTarget(
            key: object.key,
            dialect: dialect,
            object: place,
            subject: "\(dialect.rawValue):///\(place)",
            monitor: connection.monitor,
            makeStore: makeStore
        )
    }

    private static func address(
        of request: RequestToSign,
        _ sign: Signer,
        _ allowsInsecureHTTP: Bool
    ) async throws -> SignedAddress {
        func refusal(_ message: String) -> TransferError {
            TransferError(code: .credentials, message: message)
        }
        guard let asked = UploadRequest(request) else { throw refusal("it belongs to no upload") }
        let signed = try await sign(asked)
        let url: PresignedURL
        do throws(EndpointError) {
            url = try PresignedURL(parsing: signed.url)
        } catch {
            throw refusal("not a signed URL: \(error.message)")
        }
        guard url.endpoint.isSafe(allowsInsecureHTTP) else {
            throw refusal(url.endpoint.plainHTTPWarning)
        }
        let headers = signed.headers.sorted { $0.key < $1.key }
            .map { ($0.key.lowercased(), $0.value) }
        return SignedAddress(url: url, headers: headers)
    }
}

extension UploadRequest {
    /// Nil for what is no request of an upload.
    init?(_ request: RequestToSign) {
        guard let operation = Operation(rawValue: request.operation) else { return nil }
        func parameter(_ name: String) -> String? {
            request.query.first { $0.0 == name }?.1
        }
        self.init(
            operation,
            key: String(decoding: request.key.bytes, as: UTF8.self),
            uploadID: parameter("uploadId"),
            partNumber: parameter("partNumber").flatMap { Int($0) },
            partNumberMarker: parameter("part-number-marker").flatMap { Int($0) },
            contentLength: request.contentLength,
            headers: Dictionary(request.headers) { $1 },
            isRenewal: request.isRenewal
        )
    }
}

extension Endpoint {
    /// False for plain http to another machine, unless that is allowed.
    func isSafe(_ allowsInsecureHTTP: Bool) -> Bool {
        scheme == .https || isLoopback || allowsInsecureHTTP
    }

    var plainHTTPWarning: String {
        "'\(displayText(origin(bucket: nil)))' is plain http, where anyone on the network path can "
            + "read and change everything; use https"
    }
}
