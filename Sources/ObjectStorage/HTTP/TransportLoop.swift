#if SystemLibraries
internal import CCurl

/// The transport's thread: starts, moves and ends exchanges.
///
/// Unchecked, because it is made on one thread and then used by its own thread alone.
final class TransportLoop: @unchecked Sendable {
    private struct Transfer {
        let easy: CurlEasy
        let context: CallbackContext
        let continuation: CheckedContinuation<Result<HTTPResponse, TransportError>, Never>
        var detector: StallDetector
        /// What had been received when the sockets were last waited for, of an exchange that ends
        /// when nothing more has arrived.
        var drying: (received: Int64, waits: Int)?
    }

    private let multi: CurlMulti
    private let inbox: TransportInbox
    private let settings: NetworkSettings
    private let start = SuspendingClock.now
    /// By the identities of their handles.
    private var transfers: [UInt: Transfer] = [:]
    private var idleHandles: [CurlEasy] = []
    private let limiter: BandwidthLimiter?
    private var lastCheck = Duration.zero
    /// Often enough for the shortest patience of all exchanges so far.
    private var checkInterval = Duration.seconds(1)
    private var isStopped = false
    /// True if an exchange ends when nothing more has arrived.
    private var hasDrying = false
    /// How often the sockets were waited for.
    private var waits = 0

    init(multi: CurlMulti, inbox: TransportInbox, settings: NetworkSettings) {
        self.multi = multi
        self.inbox = inbox
        self.settings = settings
        limiter = settings.bandwidth.map { BandwidthLimiter($0) }
    }

    func run() {
        while true {
            for command in inbox.take() { obey(command) }
            if isStopped, transfers.isEmpty { return }
            multi.perform()
            while let (identity, code) = multi.nextResult() { end(identity, code) }
            checkStalls()
            var limit = min(transfers.isEmpty ? .seconds(60) : checkInterval, holdBack())
            if hasDrying { limit = endDry() ?? limit }
            if inbox.willWait() {
                multi.poll(limit)
                waits += 1
            }
        }
    }

    private var now: Duration { SuspendingClock.now - start }

    private func obey(_ command: TransportCommand) {
        switch command {
        case .start(let exchange, let continuation): begin(exchange, continuation)
        case .check(let exchange): check(exchange)
        case .stop: isStopped = true
        }
    }

    private func begin(
        _ exchange: Exchange,
        _ continuation: CheckedContinuation<Result<HTTPResponse, TransportError>, Never>
    ) {
        guard !exchange.isCancelled else {
            return continuation.resume(returning: .failure(.cancelled))
        }
        guard let easy = idleHandles.popLast() ?? CurlEasy() else {
            return continuation.resume(
                returning: .failure(.connectFailed(reason: "libcurl has no memory"))
            )
        }
        let inbox = inbox
        let context = CallbackContext(exchange: exchange, limiter: limiter) {
            inbox.post(.check(exchange))
        }
        do throws(TransportError) {
            try easy.prepare(exchange, context: context, settings: settings)
            guard multi.add(easy) else {
                throw .connectFailed(reason: "libcurl refuses the request")
            }
        } catch {
            easy.end(isReusable: false)
            return continuation.resume(returning: .failure(error))
        }
        let limits = exchange.request.stallLimits
        checkInterval = min(checkInterval, limits.idleLimit / 4)
        transfers[easy.identity] = Transfer(
            easy: easy,
            context: context,
            continuation: continuation,
            detector: StallDetector(stallLimits: limits, moved: 0, now: now)
        )
    }

    /// Ends the exchange if it was cancelled, and else lets it go on after a pause.
    private func check(_ exchange: Exchange) {
        guard
            let (identity, transfer) = transfers.first(where: { _, transfer in
                transfer.context.exchange === exchange
            })
        else { return }
        if exchange.isCancelled {
            end(identity, CURLE_ABORTED_BY_CALLBACK)
        } else if exchange.isPaused {
            exchange.resumed()
            let code = transfer.easy.resume()
            if code != CURLE_OK { return end(identity, code) }
        }
        if exchange.endsWhenDry { hasDrying = true }
    }

    /// Ends the exchanges that are to end when nothing more has arrived, if nothing has since the
    /// sockets were last looked at.
    ///
    /// - Returns: How long to wait at most; nil if there is no such exchange.
    private func endDry() -> Duration? {
        var limit: Duration?
        for (identity, transfer) in transfers where transfer.context.exchange.endsWhenDry {
            let exchange = transfer.context.exchange
            // What is held back here has arrived.
            guard !exchange.isPaused, !transfer.context.isThrottled else {
                transfers[identity]?.drying = nil
                limit = limit ?? .milliseconds(10)
                continue
            }
            limit = .zero
            let received = exchange.receivedBytes
            guard let before = transfer.drying, before.received == received else {
                transfers[identity]?.drying = (received, waits)
                continue
            }
            guard before.waits < waits else { continue }
            exchange.cancel()
            end(identity, CURLE_ABORTED_BY_CALLBACK)
        }
        hasDrying = limit != nil
        return limit
    }

    private func end(_ identity: UInt, _ code: CURLcode) {
        guard let (continuation, result) = take(identity, code) else { return }
        continuation.resume(returning: result)
    }

    /// Who waits for the exchange, and how it ended; nothing here holds its files any more.
    private func take(
        _ identity: UInt,
        _ code: CURLcode
    ) -> (
        CheckedContinuation<Result<HTTPResponse, TransportError>, Never>,
        Result<HTTPResponse, TransportError>
    )? {
        guard let transfer = transfers.removeValue(forKey: identity) else { return nil }
        var error = transfer.easy.error(for: code)
        // Before a request was sent, whatever was said was said by a proxy.
        if settings.proxy != nil, !transfer.context.exchange.wasSent { error = error?.ofProxy }
        multi.remove(transfer.easy)
        let result = transfer.context.exchange.finish(error)
        transfer.easy.end(isReusable: code == CURLE_OK)
        if idleHandles.count < settings.connectionLimit { idleHandles.append(transfer.easy) }
        return (transfer.continuation, result)
    }
}

// MARK: - Stalls

extension TransportLoop {
    private func checkStalls() {
        let now = now
        guard now - lastCheck >= checkInterval else { return }
        // Stopped or suspended, this process saw no bytes: that is not the connections' fault.
        let wasAway = now - lastCheck > checkInterval * 8 && lastCheck != .zero
        lastCheck = now
        for (identity, transfer) in transfers {
            let exchange = transfer.context.exchange
            let moved = exchange.receivedBytes + transfer.easy.sentBytes
            var detector = transfer.detector
            if exchange.isPaused || transfer.context.isThrottled || wasAway {
                detector.restart(moved: moved, now: now)
            } else if detector.isStalled(moved: moved, now: now) {
                exchange.fail(.stalled)
                end(identity, CURLE_OPERATION_TIMEDOUT)
                continue
            }
            transfers[identity]?.detector = detector
        }
    }
}

// MARK: - Bandwidth

extension TransportLoop {
    /// Lets transfers continue whose turn it is to use the limited line; returns how long to wait
    /// at most.
    private func holdBack() -> Duration {
        guard let limiter, limiter.holdsBack else { return .seconds(60) }
        let pause = limiter.pause
        guard pause == .zero else { return max(pause, .milliseconds(1)) }
        let waiting = transfers.filter { $0.value.context.isThrottled }
            .map { (body: $0.key, lastMoved: $0.value.context.lastMoved) }
        let turns = limiter.next(waiting)
        limiter.letGo(someWait: turns.count < waiting.count)
        for identity in turns {
            guard let transfer = transfers[identity] else { continue }
            transfer.context.isThrottled = false
            transfer.context.hasTurn = true
            // May call the callbacks, which may hold back again.
            let code = transfer.easy.resume()
            if code != CURLE_OK { end(identity, code) }
        }
        return .zero
    }
}
#endif
