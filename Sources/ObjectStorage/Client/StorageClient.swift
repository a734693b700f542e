internal import SyncModel
internal import Synchronization

/// The client of one bucket, in OSS's or S3's dialect.
///
/// 1. An operation (`Operations/`) builds a `StorageRequest`; `repeating` runs it with retries.
/// 2. `send` signs each attempt (`Signing/`) and hands it to libcurl's thread (`HTTP/`).
/// 3. The operation reads the answer's headers or XML, or throws a `StorageError` (`Errors/`).
///
/// Bodies go between socket and file without being held; checksums are computed on the way.
///
/// Not guaranteed: exactly one effect per call. A lost answer may hide a success; only what is safe
/// to repeat is sent again, the rest is thrown for the caller to find out.
package final class StorageClient: Sendable {
    let configuration: StorageConfiguration
    let environment: StorageEnvironment
    /// Asks the configured source once for all requests that wait.
    let credentials: CachedCredentials
    private let transport: any HTTPSending
    let signer: V4Signer
    let clock: ServerClock
    let budget: RetryBudget
    let outage: OutageGate
    let sending = SendingGate()
    /// The configured endpoint, or that of the region where the bucket was found to be.
    let place: Mutex<Endpoint>
    /// True once the service has said that it knows no conditions on writes.
    let ignoresConditions = Atomic(false)
    /// True once the service has said that it wants the digest of every body.
    let needsDigests = Atomic(false)
    /// True once an answer to a body had no CRC-64 of it, for which there is only the MD5 then.
    let lacksChecksums: Atomic<Bool>
    /// True once the service has said that it knows no parts of objects.
    let lacksPartNumbers = Atomic(false)
    /// True once the service has said that it deletes no several objects at once.
    let lacksMultipleDeletion = Atomic(false)
    /// True once the service has refused a HEAD for asking for checksums.
    let lacksChecksumMode = Atomic(false)
    /// True once a listing has shown that the service writes a blank as `%20`, or a plus as itself,
    /// so that a plus is a plus.
    private let keepsPlus = Atomic(false)
    /// Objects that are sent as they are stored only to those who accept their encoding.
    private let packed = Mutex<Set<ObjectKey>>([])
    /// The `Content-Encoding` of objects that the transport would decode.
    let codings = Mutex<[ObjectKey: String]>([:])
    /// What proves the parts of uploads instead of their MD5.
    let partChecksums = PartChecksums()
    /// True once an object was replaced whose metadata could not all be kept.
    let hasLeftOutMetadata = Atomic(false)

    /// Starts the client's thread; no request is made.
    package convenience init(
        configuration: StorageConfiguration,
        environment: StorageEnvironment
    ) throws(StorageError) {
        let transport: HTTPTransport
        do throws(TransportError) {
            transport = try HTTPTransport(configuration.network)
        } catch {
            throw StorageError(kind: .transport(error), operation: "connect")
        }
        self.init(configuration: configuration, environment: environment, transport: transport)
    }

    /// The same over another transport.
    package init(
        configuration: StorageConfiguration,
        environment: StorageEnvironment,
        transport: any HTTPSending
    ) {
        self.configuration = configuration
        self.environment = environment
        self.transport = transport
        credentials = CachedCredentials(configuration.credentials, now: environment.now)
        signer = V4Signer(parameters: configuration.dialect.signature, additionalHeaders: [])
        lacksChecksums = Atomic(!configuration.dialect.computesChecksum)
        let endpoint = configuration.endpoint
        place = Mutex(endpoint)
        clock = ServerClock(
            trustsServer: endpoint.scheme == .https || endpoint.isLoopback,
            now: environment.now
        )
        budget = RetryBudget(configuration.network.retry.runBudget)
        outage = OutageGate(configuration.network.retry)
    }

    package var dialect: StorageDialect { configuration.dialect }

    var endpoint: Endpoint { place.withLock { $0 } }

    /// How the names of an answer are encoded: no single name tells it, but a page may.
    func keyEncoding(of body: [UInt8]) -> PercentEncodingStyle {
        guard dialect.keyEncoding == .form else { return dialect.keyEncoding }
        if keepsPlus.load(ordering: .relaxed) { return .strict }
        guard hasEncodedBlank(body) else { return .form }
        noteKeptPlus()
        return .strict
    }

    func noteKeptPlus() { keepsPlus.store(true, ordering: .relaxed) }

    static let packedLimit = 10_000

    func isPacked(_ key: ObjectKey) -> Bool { packed.withLock { $0.contains(key) } }

    func notePacked(_ key: ObjectKey) {
        packed.withLock { if $0.count < Self.packedLimit { $0.insert(key) } }
    }
}

/// What one attempt is made with, and leaves for the judgement of its failure.
struct AttemptContext {
    /// True after a failure: no connection is used again.
    var needsFreshConnection = false
    var isRepetition = false
    /// Set while this request tries for all.
    var probe: UInt64?
    /// True after a failure that may have hidden a success.
    var mayBeDone = false
    /// True while the object is looked at that the request would replace: nothing was sent yet.
    var isLooking = false
    var credentials: Credentials?
    /// The header that went out with the request.
    var authorization: String?
    var urls: PresignedPair?
    /// What was signed elsewhere.
    var signedURL: PresignedURL?
    /// True after the service has refused such a signature.
    var isRefused = false
    var reading: ServerClock.Reading?
    var endpoint: Endpoint?
}

// MARK: - One exchange

extension StorageClient {
    /// Signs and sends `request`, and throws for a status that is no success.
    ///
    /// `classify` sees the head of a success before its body; nil keeps the body in memory.
    func send(
        _ request: StorageRequest,
        _ context: inout AttemptContext,
        bodyLimit: Int = 8 << 20,
        classify: (@Sendable (ResponseHead) -> BodyDisposition)? = nil
    ) async throws(StorageError) -> HTTPResponse {
        try request.validate(dialect)
        let coding = decodedCoding(of: request)
        let request = coding == nil ? request : request.asStored
        var (url, headers) =
            if let urls = configuration.urls {
                try await presigned(request, urls, &context)
            } else if let signing = configuration.signing {
                try await signedElsewhere(request, signing, &context)
            } else {
                try await signed(request, &context)
            }
        headers.append(("User-Agent", configuration.network.userAgent))
        var exchange = HTTPRequest(
            method: request.method,
            url: url,
            headers: headers.map { (name: $0.0, value: $0.1) },
            body: request.body,
            computesMD5: request.computesMD5,
            answerLength: request.answerLength,
            stallLimits: stallLimits(for: request),
            isReplayable: request.isRepeatable,
            needsFreshConnection: context.needsFreshConnection,
            onSent: reporting(request, context.probe),
            classify: { [outage, probe = context.probe] head in
                // Others need not wait for a large body.
                outage.abandon(probe)
                guard head.isSuccess else {
                    return .memory(limit: errorBodyLimit, truncates: true)
                }
                return classify?(head.naming(coding)) ?? .memory(limit: bodyLimit, truncates: false)
            }
        )
        if let onBytes = environment.onBytes { exchange.count(onBytes) }
        environment.observe(.requestSent)
        var response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(exchange)
        } catch {
            if case .encoded(let name) = error, coding == nil, noteCoding(name, of: request) {
                return try await send(request, &context, bodyLimit: bodyLimit, classify: classify)
            }
            throw request.failure(kind(of: error))
        }
        response.head = response.head.naming(coding)
        // Also for those who take a refusal as it is, and ask something else next.
        outage.answered()
        guard response.head.isSuccess else {
            throw request.failure(
                response,
                dialect: dialect,
                region: context.endpoint?.region,
                now: environment.now()
            )
        }
        guard response.head.status == callbackFailureStatus else { return response }
        // The one success with words for people.
        var redaction = Redaction()
        redaction.add(context)
        return HTTPResponse(
            head: response.head,
            body: redaction.applied(to: response.body) ?? response.body,
            sent: response.sent
        )
    }

    /// Where the bytes are reported that were sent.
    ///
    /// A body that gets through shows a connection, though no answer yet: the others try, too.
    private func reporting(
        _ request: StorageRequest,
        _ probe: UInt64?
    ) -> @Sendable (Int) -> Void {
        guard let probe else { return request.onSent }
        let sent = Mutex(Int64(0))
        return { [outage] count in
            request.onSent(count)
            let total = sent.withLock { sent in
                sent += Int64(count)
                return sent
            }
            if total >= Self.worthwhile { outage.abandon(probe) }
        }
    }

    /// Where a request goes and what it carries, signed.
    private func signed(
        _ request: StorageRequest,
        _ context: inout AttemptContext
    ) async throws(StorageError) -> (url: String, headers: [(String, String)]) {
        let credentials = try await credentials(for: request)
        let endpoint = endpoint
        let digest = try await payloadDigest(of: request, at: endpoint)
        let reading = clock.read()
        context.credentials = credentials
        context.reading = reading
        context.endpoint = endpoint
        var signed = signable(request, at: endpoint)
        signed.payloadDigest = digest
        try sign(&signed, request, credentials, region: endpoint.region, at: reading.time)
        context.authorization = signed.headers.last { $0.0 == "authorization" }?.1
        let url =
            endpoint.origin(bucket: configuration.bucket)
            + signed.target(keepsEmptyValues: signer.parameters.keepsEmptyValues)
        return (url, signed.headers)
    }

    /// Where a request goes by an address that was signed elsewhere.
    ///
    /// Headers of the service's own would have to be signed with it, and are left out.
    private func presigned(
        _ request: StorageRequest,
        _ urls: PresignedURLSource,
        _ context: inout AttemptContext
    ) async throws(StorageError) -> (url: String, headers: [(String, String)]) {
        let pair = await urls.pair
        context.urls = pair
        let address: PresignedURL? =
            switch request.method {
            case .get where request.query.isEmpty: pair.get
            case .head where request.query.isEmpty: pair.head
            default: nil
            }
        guard let address else {
            throw request.failure(.invalidRequest("a signed address does not allow it"))
        }
        let headers = request.headers.filter { !$0.0.hasPrefix(dialect.headerPrefix) }
        return (address.url, headers)
    }

    func kind(of error: TransportError) -> StorageError.Kind {
        switch error {
        case .cancelled: .cancelled
        case .localIO(let errno, let call): .localIO(errno: errno, call: call)
        case .sourceChanged: .integrity(.sourceChanged)
        case .unsendable(let reason): .invalidRequest(reason)
        case .encoded: .unsupported(error.message + codingAdvice)
        default: .transport(error)
        }
    }

    func credentials(
        for request: StorageRequest
    ) async throws(StorageError) -> Credentials {
        do throws(CredentialsError) {
            return try await credentials.credentials()
        } catch {
            throw request.failure(error)
        }
    }

    /// The digest of the body, for a service that wants it where TLS does not protect the body.
    private func payloadDigest(
        of request: StorageRequest,
        at endpoint: Endpoint
    ) async throws(StorageError) -> String? {
        guard dialect.signsPayload, endpoint.scheme == .http else { return nil }
        do throws(TransportError) {
            return try await request.body.sha256()
        } catch {
            throw request.failure(kind(of: error))
        }
    }

    /// What lets the service refuse a body that was damaged on its way, where neither TLS nor the
    /// signature does: what it stores replaces the old object at once.
    func bodyDigest(of request: StorageRequest) async throws(StorageError) -> [UInt8]? {
        guard !dialect.signsPayload, endpoint.scheme == .http else { return nil }
        return try await digest(of: request)
    }

    /// The MD5 of the body, which is read for it.
    func digest(of request: StorageRequest) async throws(StorageError) -> [UInt8] {
        do throws(TransportError) {
            return try await request.body.md5()
        } catch {
            throw request.failure(kind(of: error))
        }
    }

    func signable(_ request: StorageRequest, at endpoint: Endpoint) -> SignableRequest {
        SignableRequest(
            method: request.method,
            endpoint: endpoint,
            bucket: configuration.bucket,
            key: request.key,
            query: request.query,
            headers: request.headers
        )
    }

    private func sign(
        _ signed: inout SignableRequest,
        _ request: StorageRequest,
        _ credentials: Credentials,
        region: String?,
        at time: Timestamp
    ) throws(StorageError) {
        switch configuration.signatureVersion {
        case .v1: V1Signer().sign(&signed, credentials: credentials, time: time)
        case .v4:
            signer.sign(
                &signed,
                credentials: credentials,
                region: try known(region, for: request),
                time: time
            )
        }
    }

    func known(
        _ region: String?,
        for request: StorageRequest
    ) throws(StorageError) -> String {
        guard let region else {
            throw request.failure(
                .invalidRequest(
                    "the bucket's region is part of every signature and cannot be determined from"
                        + " the endpoint: specify "
                        + Wording.of(library: "the region", program: "--region")
                )
            )
        }
        return region
    }

    private func stallLimits(for request: StorageRequest) -> StallLimits {
        let limit = configuration.network.stallTimeout
        guard !request.isSlow else {
            return StallLimits(idleLimit: limit * 10, minimumBytes: 0, totalLimit: limit * 20)
        }
        return StallLimits(
            idleLimit: limit,
            minimumBytes: Int64(limit.milliseconds) * 1_024 / 1_000
        )
    }
}
