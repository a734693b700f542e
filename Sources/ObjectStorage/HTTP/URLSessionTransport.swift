#if !SystemLibraries
internal import Foundation
internal import SyncModel
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Sends requests and receives responses by the platform's URLSession, where libcurl is not linked.
///
/// Everything of an exchange happens on one serial queue. Not guaranteed, because URLSession does
/// not offer it: a limit of the time in which a connection is made, of its own; a body from a file
/// without holding all of it in memory meanwhile; and on Linux a pause of what arrives, so that
/// there a body that nobody takes is held in memory.
final class URLSessionTransport: HTTPSending {
    private let queue = OperationQueue()
    private let connectionLimit: Int
    private let session: URLSession

    init(_ settings: NetworkSettings) throws(TransportError) {
        guard settings.caFile == nil, settings.proxy == nil, settings.bandwidth == nil else {
            throw .unsendable(
                reason: "URLSession takes neither authorities, nor a proxy, nor a bandwidth"
            )
        }
        queue.maxConcurrentOperationCount = 1
        connectionLimit = settings.connectionLimit
        session = Self.session(connectionLimit: connectionLimit, queue)
    }

    // Exchanges under way go on.
    deinit { session.finishTasksAndInvalidate() }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let exchange = Exchange(request)
        // A connection that was used may have died, and URLSession then repeats the request by
        // itself: what must not be repeated gets a connection of its own.
        let isShared = request.isReplayable && !request.needsFreshConnection
        let session =
            isShared ? session : Self.session(connectionLimit: connectionLimit, queue)
        defer { if !isShared { session.finishTasksAndInvalidate() } }
        let exchanging = URLSessionExchange(exchange, queue: queue)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchanging.start(in: session, continuation)
            }
        } onCancel: {
            exchange.cancel()
            exchanging.check()
        }
        return try result.get()
    }

    private static func session(connectionLimit: Int, _ queue: OperationQueue) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpMaximumConnectionsPerHost = max(1, connectionLimit)
        // Stalls are found by the exchange itself.
        configuration.timeoutIntervalForRequest = 86_400
        return URLSession(
            configuration: configuration,
            delegate: URLSessionExchanges(),
            delegateQueue: queue
        )
    }
}

/// The exchanges of a session, by their tasks: URLSession of Linux tells nothing to the delegate of
/// a task.
///
/// Unchecked, because it is used on the serial queue alone.
private final class URLSessionExchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private var exchanges: [Int: URLSessionExchange] = [:]

    func add(_ exchange: URLSessionExchange, _ task: URLSessionTask) {
        exchanges[task.taskIdentifier] = exchange
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let goesOn = exchanges[dataTask.taskIdentifier]?.received(response) ?? false
        completionHandler(goesOn ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchanges[dataTask.taskIdentifier]?.received(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchanges[task.taskIdentifier]?.sent(totalBytesSent)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The answer that says so is the answer.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    ) {
        exchanges.removeValue(forKey: task.taskIdentifier)?.ended(error)
    }
}

/// One exchange of a URLSession.
///
/// Unchecked, because everything but the exchange's own flag is used on the serial queue alone.
private final class URLSessionExchange: @unchecked Sendable {
    typealias Continuation = CheckedContinuation<Result<HTTPResponse, TransportError>, Never>

    /// Bodies are held whole while they are sent.
    private static let longestBody: Int64 = 1 << 30

    private let exchange: Exchange
    private let queue: OperationQueue
    private var continuation: Continuation?
    private var task: URLSessionTask?
    private var timer: (any DispatchSourceTimer)?
    private var detector: StallDetector
    private let start = SuspendingClock.now
    private var sentBytes: Int64 = 0
    /// What arrived while its reception was paused.
    private var pending: [Data] = []
    /// How the task ended while something was pending.
    private var end: Result<Void, TransportError>?

    init(_ exchange: Exchange, queue: OperationQueue) {
        self.exchange = exchange
        self.queue = queue
        detector = StallDetector(stallLimits: exchange.request.stallLimits, moved: 0, now: .zero)
    }

    private var now: Duration { SuspendingClock.now - start }

    func start(in session: URLSession, _ continuation: Continuation) {
        queue.addOperation { [self] in
            self.continuation = continuation
            guard !exchange.isCancelled else { return finish(.cancelled) }
            do throws(TransportError) {
                try begin(session)
            } catch {
                finish(error)
            }
        }
    }

    /// The exchange was cancelled or may go on.
    func check() {
        queue.addOperation { [self] in
            guard continuation != nil else { return }
            if exchange.isCancelled { return stop() }
            if exchange.isPaused {
                exchange.resumed()
                resumeReception()
                let arrived = pending
                pending = []
                for data in arrived { receive(data) }
            }
            if exchange.endsWhenDry, pending.isEmpty {
                exchange.cancel()
                return stop()
            }
            if pending.isEmpty, let end { finish(end) }
        }
    }

    private func begin(_ session: URLSession) throws(TransportError) {
        let request = try URLRequest(exchange.request)
        let hasBody = exchange.request.method == .put || exchange.request.method == .post
        guard exchange.willSend() else { return finish(.cancelled) }
        let task =
            hasBody
            ? session.uploadTask(with: request, from: try body()) : session.dataTask(with: request)
        (session.delegate as? URLSessionExchanges)?.add(self, task)
        self.task = task
        watch()
        task.resume()
    }

    /// All of the request's body, digested.
    private func body() throws(TransportError) -> Data {
        let length = exchange.request.body.length
        guard length > 0 else { return Data() }
        guard length <= Self.longestBody, let memory = unsafe malloc(Int(length)) else {
            throw .localIO(errno: ENOMEM, call: "malloc")
        }
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: memory, count: Int(length))
        guard unsafe exchange.takeBody(into: buffer) else {
            unsafe free(memory)
            // What was wrong is known to the exchange.
            throw .sourceChanged
        }
        return unsafe Data(bytesNoCopy: memory, count: Int(length), deallocator: .free)
    }

    private func stop() {
        task?.cancel()
        finish(.cancelled)
    }

    private func finish(_ error: TransportError) { finish(.failure(error)) }

    /// Hands the result over, once.
    private func finish(_ end: Result<Void, TransportError>) {
        guard let continuation else { return }
        self.continuation = nil
        timer?.cancel()
        timer = nil
        pending = []
        let error: TransportError? = if case .failure(let error) = end { error } else { nil }
        continuation.resume(returning: exchange.finish(error))
    }
}

// MARK: - What URLSession tells

extension URLSessionExchange {
    /// False to end the exchange.
    func received(_ response: URLResponse) -> Bool {
        guard continuation != nil, let response = response as? HTTPURLResponse else { return false }
        let head = ResponseHead(response)
        let goesOn: Bool
        if head.isSuccess, exchange.request.method != .head, let coding = head.decodedCoding {
            // What comes has neither the length nor the checksum of what is stored.
            exchange.fail(.encoded(displayText(coding.utf8)))
            goesOn = false
        } else {
            goesOn = exchange.receive(head, resume: { [weak self] in self?.check() })
        }
        if !goesOn { stopEarly() }
        return goesOn
    }

    func received(_ data: Data) {
        guard continuation != nil else { return }
        guard pending.isEmpty, !exchange.isPaused else { return pending.append(data) }
        receive(data)
    }

    private func receive(_ data: Data) {
        guard continuation != nil else { return }
        guard pending.isEmpty else { return pending.append(data) }
        switch unsafe data.withUnsafeBytes({ unsafe exchange.receive($0) }) {
        case .taken: break
        case .paused:
            pending.append(data)
            pauseReception()
        case .ended: stopEarly()
        }
    }

    /// The rest of the response is not wanted, or is wrong.
    private func stopEarly() {
        task?.cancel()
        finish(.success(()))
    }

    func sent(_ total: Int64) {
        guard continuation != nil else { return }
        let new = total - sentBytes
        sentBytes = total
        if new != 0 { exchange.request.onSent(Int(new)) }
    }

    func ended(_ error: (any Error)?) {
        let end: Result<Void, TransportError> =
            error.map { .failure(TransportError($0)) } ?? .success(())
        guard pending.isEmpty else {
            self.end = end
            return
        }
        finish(end)
    }
}

// MARK: - Time

extension URLSessionExchange {
    /// Looks every now and then whether anything moves.
    private func watch() {
        let limits = exchange.request.stallLimits
        let interval = min(.seconds(1), limits.idleLimit / 4)
        let timer = DispatchSource.makeTimerSource()
        let seconds = max(interval / .seconds(1), 0.001)
        timer.schedule(deadline: .now() + seconds, repeating: seconds)
        timer.setEventHandler { [weak self, queue] in
            queue.addOperation { [weak self] in self?.checkStall() }
        }
        timer.activate()
        self.timer = timer
    }

    private func checkStall() {
        guard continuation != nil else { return }
        let moved = exchange.receivedBytes + sentBytes
        guard !exchange.isPaused else { return detector.restart(moved: moved, now: now) }
        guard detector.isStalled(moved: moved, now: now) else { return }
        exchange.fail(.stalled)
        stop()
    }

    /// URLSession of Linux cannot pause a transfer: there, what arrives is held.
    private func pauseReception() {
        #if canImport(Darwin)
        task?.suspend()
        #endif
    }

    private func resumeReception() {
        #if canImport(Darwin)
        task?.resume()
        #endif
    }
}
#endif
