internal import SyncModel
internal import Synchronization

/// The client of one bucket: signs, sends, judges and repeats requests.
package final class StorageClient: ObjectStore {
    let configuration: StorageConfiguration
    let environment: StorageEnvironment
    /// Asks the configured source once for all requests that wait.
    private let credentials: CachedCredentials
    private let transport: any HTTPSending
    private let signer: V4Signer
    private let clock: ServerClock
    private let budget: RetryBudget
    /// The configured endpoint, or that of the region where the bucket was found to be.
    private let place: Mutex<Endpoint>
    /// True once the service has said that it knows no conditions on writes.
    let ignoresConditions = Atomic(false)

    /// Starts the client's thread; no request is made.
    package convenience init(
        configuration: StorageConfiguration,
        environment: StorageEnvironment
    ) throws(StorageError) {
        let transport: HTTPTransport
        do throws(TransportError) {
            transport = try HTTPTransport(
                TransportSettings(
                    connectTimeout: configuration.connectTimeout,
                    connectionLimit: configuration.connectionLimit,
                    caFile: configuration.caFile,
                    proxy: configuration.proxy,
                    bytesPerSecond: configuration.bytesPerSecond
                )
            )
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
        let endpoint = configuration.endpoint
        place = Mutex(endpoint)
        clock = ServerClock(
            trustsServer: endpoint.scheme == .https || endpoint.isLoopback,
            now: environment.now
        )
        budget = RetryBudget(configuration.retry.runBudget)
    }

    package var dialect: StorageDialect { configuration.dialect }

    var endpoint: Endpoint { place.withLock { $0 } }
}

/// What one attempt is made with, and leaves for the judgement of its failure.
struct AttemptContext {
    /// True after a failure: no connection is used again.
    var needsFreshConnection = false
    fileprivate(set) var isRepetition = false
    fileprivate(set) var credentials: Credentials?
    fileprivate var reading: ServerClock.Reading?
    fileprivate var endpoint: Endpoint?
}

// MARK: - One exchange

extension StorageClient {
    /// Signs and sends `request`, and throws for a status that is no success.
    ///
    /// `judge` sees the head of a success before its body; nil keeps the body in memory.
    func send(
        _ request: StorageRequest,
        _ context: inout AttemptContext,
        bodyLimit: Int = 8 << 20,
        judge: (@Sendable (ResponseHead) -> BodyDisposition)? = nil
    ) async throws(StorageError) -> HTTPResponse {
        try request.validate(dialect)
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
        let exchange = HTTPRequest(
            method: request.method,
            url: endpoint.origin(bucket: configuration.bucket)
                + signed.target(keepsEmptyValues: dialect.signature.keepsEmptyValues),
            headers: signed.headers.map { (name: $0.0, value: $0.1) }
                + [(name: "User-Agent", value: configuration.userAgent)],
            body: request.body,
            patience: patience(for: request),
            isReplayable: request.isRepeatable,
            needsFreshConnection: context.needsFreshConnection,
            onSent: request.onSent,
            judge: { head in
                guard head.isSuccess else {
                    return .memory(limit: errorBodyLimit, truncates: true)
                }
                return judge?(head) ?? .memory(limit: bodyLimit, truncates: false)
            }
        )
        environment.observe(.requestSent)
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(exchange)
        } catch {
            throw request.failure(kind(of: error))
        }
        guard response.head.isSuccess else {
            throw request.failure(response, dialect: dialect, now: environment.now())
        }
        return response
    }

    private func kind(of error: TransportError) -> StorageError.Kind {
        switch error {
        case .cancelled: .cancelled
        case .localIO(let errno, let call): .localIO(errno: errno, call: call)
        case .sourceChanged: .integrity(.sourceChanged)
        default: .transport(error)
        }
    }

    private func credentials(
        for request: StorageRequest
    ) async throws(StorageError) -> Credentials {
        do throws(CredentialsError) {
            return try await credentials.credentials()
        } catch {
            throw request.failure(Task.isCancelled ? .cancelled : .credentials(error.message))
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

    private func signable(_ request: StorageRequest, at endpoint: Endpoint) -> SignableRequest {
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

    private func known(
        _ region: String?,
        for request: StorageRequest
    ) throws(StorageError) -> String {
        guard let region else {
            throw request.failure(
                .invalidRequest(
                    "the bucket's region is part of every signature and can't be told from the"
                        + " endpoint: give --region"
                )
            )
        }
        return region
    }

    private func patience(for request: StorageRequest) -> Patience {
        let limit = configuration.stallTimeout
        guard !request.isSlow else {
            return Patience(idleLimit: limit * 10, minimumBytes: 0, totalLimit: limit * 20)
        }
        return Patience(
            idleLimit: limit,
            minimumBytes: Int64(limit.milliseconds) * 1_024 / 1_000
        )
    }

    /// The query parameters that make an address of `request`.
    func presign(
        _ request: StorageRequest,
        seconds: Int64
    ) async throws(StorageError) -> String {
        try request.validate(dialect)
        let credentials = try await credentials(for: request)
        let longest =
            credentials.securityToken == nil
            ? V4Signer.maximumLifetime : V4Signer.maximumTemporaryLifetime
        guard (1...longest).contains(seconds) else {
            throw request.failure(
                .invalidRequest("an address is valid for 1 to \(longest) seconds")
            )
        }
        let endpoint = endpoint
        var signed = signable(request, at: endpoint)
        let time = clock.read().time
        switch configuration.signatureVersion {
        case .v1:
            signed.query += V1Signer().presign(
                signed,
                credentials: credentials,
                time: time,
                expiresInSeconds: seconds
            )
        case .v4:
            signed.query += signer.presign(
                signed,
                credentials: credentials,
                region: try known(endpoint.region, for: request),
                time: time,
                expiresInSeconds: seconds
            )
        }
        return endpoint.origin(bucket: configuration.bucket)
            + signed.target(keepsEmptyValues: dialect.signature.keepsEmptyValues)
    }
}

// MARK: - Repetition

extension StorageClient {
    /// Bytes of one attempt that are worth another.
    private static let worthwhile: Int64 = 64 << 10

    /// Makes attempts until one succeeds or nothing more may be tried.
    ///
    /// Bytes that `sink` received in an attempt make its failure count for less.
    func repeating<Value>(
        isRepeatable: Bool = true,
        into sink: FileSink? = nil,
        _ attempt: (inout AttemptContext) async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        var state = RetryState(configuration.retry)
        var context = AttemptContext()
        var number = 1
        while true {
            let before = sink?.received ?? 0
            do throws(StorageError) {
                let value = try await attempt(&context)
                budget.refund()
                environment.observe(.succeeded)
                return value
            } catch {
                let gained = (sink?.received ?? 0) - before
                // A few bytes each time would go on for ever.
                if gained >= Self.worthwhile {
                    state.madeProgress()
                    budget.refund()
                }
                guard isRepeatable || error.isCertainlyUndone else { throw error }
                try await prepareToRepeat(after: error, number, &state, &context)
                number += 1
                context.isRepetition = true
            }
        }
    }

    /// Throws `error` if there is to be no other attempt, and else returns when it may begin.
    private func prepareToRepeat(
        after error: StorageError,
        _ number: Int,
        _ state: inout RetryState,
        _ context: inout AttemptContext
    ) async throws(StorageError) {
        let retryClass = error.retryClass
        if case .throttled(let retryAfter) = retryClass {
            environment.observe(.throttled(retryAfter: retryAfter))
        }
        if case .transport = error.kind { context.needsFreshConnection = true }
        switch state.next(retryClass, random: environment.randomUnit()) {
        case .giveUp:
            if case .clockSkew = retryClass { clock.distrust() }
            throw error
        case .wait(let pause):
            guard budget.spend() else { throw error }
            environment.observe(.retrying(error, attempt: number))
            guard (try? await environment.sleep(pause)) != nil else {
                // All that ends a pause early is the task's end.
                throw StorageError(kind: .cancelled, operation: error.operation, key: error.key)
            }
        case .correctClock(let serverTime):
            guard let reading = context.reading else { throw error }
            switch clock.correct(by: serverTime, after: reading) {
            case .refused: throw error
            case .alreadyCorrected: break
            case .corrected(let offset):
                environment.observe(.clockCorrected(offsetSeconds: offset))
            }
        case .refreshCredentials: try await refreshCredentials(after: error, context)
        case .changeRegion(let region):
            guard let used = context.endpoint, used.region != region else { throw error }
            place.withLock { $0 = used.moved(to: region) }
        }
    }

    private func refreshCredentials(
        after error: StorageError,
        _ context: AttemptContext
    ) async throws(StorageError) {
        guard let rejected = context.credentials else { throw error }
        let fresh: Credentials?
        do throws(CredentialsError) {
            fresh = try await credentials.refresh(rejected: rejected)
        } catch {
            throw StorageError(
                kind: Task.isCancelled ? .cancelled : .credentials(error.message),
                operation: "refresh credentials"
            )
        }
        guard let fresh, fresh != rejected else { throw error }
    }
}

extension StorageError {
    /// The request has had no effect, or could not be made.
    fileprivate var isCertainlyUndone: Bool {
        switch retryClass {
        case .throttled, .clockSkew, .refreshCredentials, .otherRegion: true
        default: !mayHaveReachedServer
        }
    }
}
