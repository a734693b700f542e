internal import SyncModel
internal import Synchronization

extension StorageClient {
    /// Bytes of one attempt that are worth another.
    static let worthwhile: Int64 = 64 << 10

    /// Waits until a limited line has a share for a body of `length` bytes, nil if that is not
    /// known; ``endBody(_:)`` gives it back.
    ///
    /// Before a request is signed, which a long wait would outlast.
    func beginBody(_ length: Int64?) async throws(StorageError) -> SendingGate.Pass? {
        guard let bodies = configuration.network.bandwidth?.bodies, length ?? .max > Self.smallBody
        else {
            return nil
        }
        let pass = await bodies.enter()
        do throws(StorageError) {
            try await RequestPermission.current?.require()
        } catch {
            bodies.leave(pass, .other)
            throw error
        }
        return pass
    }

    func endBody(_ pass: SendingGate.Pass?) {
        if let pass { configuration.network.bandwidth?.bodies.leave(pass, .other) }
    }

    /// A body that moves at once.
    private static let smallBody: Int64 = 4 << 10

    /// Makes attempts until one succeeds or nothing more may be tried.
    ///
    /// Bytes that were received in an attempt make its failure count for less.
    func repeating<Value>(
        isRepeatable: @autoclosure () -> Bool = true,
        received: @autoclosure () -> Int64 = 0,
        _ attempt: (inout AttemptContext) async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        var answer: Value?
        try await repeatAttempts(
            isRepeatable: isRepeatable(),
            received: received()
        ) { (context) throws(StorageError) in
            answer = try await attempt(&context)
        }
        guard let answer else { preconditionFailure("attempts end with an answer or an error") }
        return answer
    }

    /// The same for all answers: it would be compiled once for each type.
    @inline(never)
    private func repeatAttempts(
        isRepeatable: @autoclosure () -> Bool,
        received: @autoclosure () -> Int64,
        _ attempt: (inout AttemptContext) async throws(StorageError) -> Void
    ) async throws(StorageError) {
        var state = RetryState(configuration.network.retry)
        var context = AttemptContext()
        var redaction = Redaction()
        var number = 1
        while true {
            let before = received()
            do throws(StorageError) {
                if context.probe == nil { try await awaitConnection(&context) }
                try await RequestPermission.current?.require()
                try await attempt(&context)
                outage.answered()
                budget.refund()
                return environment.observe(.answered)
            } catch let failure {
                // Whatever an answer had to say passes here.
                redaction.add(context)
                var error = failure.redacted(by: redaction)
                // An attempt that was not sent says nothing of those before it.
                if context.mayBeDone, error.reachedServer == false { error.reachedServer = nil }
                if error.isNoSuchBucket { error.bucket = configuration.bucket }
                error.isSignedElsewhere = configuration.signing != nil
                error.isSignedURL = configuration.urls != nil
                locate(&error, context)
                let gained = received() - before
                // A few bytes each time would go on for ever.
                if gained >= Self.worthwhile {
                    state.madeProgress()
                    budget.refund()
                }
                if gained > 0 || error.isAnswer { outage.answered() }
                let isUndone = context.isLooking || error.isCertainlyUndone
                guard !error.isOutage, isRepeatable() || isUndone else {
                    outage.abandon(context.probe)
                    throw error
                }
                if try await !waitForConnection(after: error, &context) {
                    outage.abandon(context.probe)
                    context.probe = nil
                    try await prepareToRepeat(after: error, number, &state, &context)
                    number += 1
                }
                context.isRepetition = true
                if !context.isLooking, error.mayHideSuccess { context.mayBeDone = true }
                context.isLooking = false
            }
        }
    }

    /// Adds which key and place were used to an error that one of them may have caused.
    private func locate(_ error: inout StorageError, _ context: AttemptContext) {
        let endpoint = context.endpoint ?? endpoint
        if case .transport = error.kind {
            error.host = endpoint.hostHeader(bucket: configuration.bucket)
        }
        guard error.isAccessDenied || error.isExpired || error.isOfOtherRegion,
            let credentials = context.credentials
        else { return }
        let region = endpoint.region.map { ", region '\(displayText($0.utf8))'" } ?? ""
        error.signer =
            "\(credentials.maskedID) from \(displayText(self.credentials.source.utf8))\(region)"
            + ", endpoint '\(displayText(endpoint.hostHeader(bucket: nil).utf8))'"
    }

    /// Another request tries for all, after about this pause.
    private func tellOfOutage(_ error: StorageError?, attempt: Int) {
        let pause = configuration.network.retry.outagePause(
            beforeTry: attempt,
            isHasty: outage.isHasty,
            random: 0
        )
        ConnectionWatch.waits(error, pause)
    }

    /// Waits while another request tries for all.
    private func awaitConnection(_ context: inout AttemptContext) async throws(StorageError) {
        switch await outage.enter(onWait: tellOfOutage) {
        case .giveUp(let found):
            // It gives up with the one that tried, and does not begin to try for all itself.
            var error = found
            error.isOutage = true
            throw error
        case .takeOver(let probe): context.probe = probe
        case .retry, .probe: break
        }
    }

    /// True if there was no connection, and the request is to be made again now; false if the error
    /// is one of this request alone.
    private func waitForConnection(
        after error: StorageError,
        _ context: inout AttemptContext
    ) async throws(StorageError) -> Bool {
        guard case .transport(let failure) = error.kind else { return false }
        let isLoss = failure.retryClass == .transient
        guard failure.retryClass == .unreachable || isLoss else { return false }
        if isLoss, !outage.countsLoss(of: error.key) { return false }
        context.needsFreshConnection = true
        switch await outage.failed(error, probe: context.probe, onWait: tellOfOutage) {
        case .giveUp:
            var error = error
            error.isOutage = true
            throw error
        case .retry:
            context.probe = nil
        case .takeOver(let probe):
            context.probe = probe
        case .probe(let probe, let attempt):
            context.probe = probe
            let pause = configuration.network.retry.outagePause(
                beforeTry: attempt,
                isHasty: outage.isHasty,
                random: environment.randomUnit()
            )
            environment.observe(
                .retrying(
                    RetryNotice(
                        error: error,
                        attempt: attempt,
                        limit: outage.limit - 1,
                        pause: pause,
                        isOutage: true
                    )
                )
            )
            guard (try? await ConnectionWatch.sleep(pause, after: error, environment)) != nil else {
                outage.abandon(probe)
                throw error.cancelled(context)
            }
            if isLoss { try await passOn(probe, error, &context) }
        }
        if Task.isCancelled {
            outage.abandon(context.probe)
            throw error.cancelled(context)
        }
        return true
    }

    /// Lets another request try in the place of one whose connection was lost.
    private func passOn(
        _ probe: UInt64,
        _ error: StorageError,
        _ context: inout AttemptContext
    ) async throws(StorageError) {
        switch await outage.passOn(probe) {
        case .giveUp(let found):
            var error = found
            error.isOutage = true
            throw error
        case .takeOver(let probe): context.probe = probe
        case .retry, .probe: context.probe = nil
        }
    }

    /// Throws `error` if there is to be no other attempt, and else returns when it may begin.
    private func prepareToRepeat(
        after error: StorageError,
        _ number: Int,
        _ state: inout RetryState,
        _ context: inout AttemptContext
    ) async throws(StorageError) {
        let retryClass = retryClass(of: error)
        if case .throttled(let retryAfter) = retryClass {
            environment.observe(.throttled(retryAfter: retryAfter))
        }
        if case .transport = error.kind { context.needsFreshConnection = true }
        switch state.next(retryClass, random: environment.randomUnit()) {
        case .giveUp:
            if case .clockSkew = retryClass { clock.distrust() }
            // A missing object, or a condition that fails, is an answer, too.
            if error.isAnswer, [.never, .objectChanged].contains(retryClass) {
                budget.refund()
                environment.observe(.answered)
            }
            throw error
        case .wait(let pause):
            guard budget.spend() else { throw error }
            environment.observe(
                .retrying(
                    RetryNotice(
                        error: error,
                        attempt: number,
                        limit: configuration.network.retry.attempts - 1,
                        pause: pause,
                        isOutage: false
                    )
                )
            )
            guard (try? await sleep(pause, after: error, number)) != nil else {
                // All that ends a pause early is the task's end.
                throw error.cancelled(context)
            }
        case .correctClock(let serverTime):
            guard let reading = context.reading else { throw error }
            switch clock.correct(by: serverTime, after: reading) {
            case .refused: throw error
            case .alreadyCorrected: break
            case .corrected(let offset):
                environment.observe(.clockCorrected(offsetSeconds: offset))
            }
        case .refreshCredentials:
            if configuration.signing != nil {
                // The next attempt is signed anew.
                context.isRefused = true
            } else {
                try await refreshOnceReached(after: error, &context)
            }
        case .changeRegion(let region):
            guard let used = context.endpoint, used.region != region else { throw error }
            place.withLock { $0 = used.moved(to: region) }
        }
    }

    /// A server that ends an idle connection is met again at once: only what happens twice, or took
    /// long, is a wait for a connection.
    private func sleep(
        _ pause: Duration,
        after error: StorageError,
        _ number: Int
    ) async throws {
        guard error.isLoss else { return try await environment.sleep(pause) }
        let isTold = number > 1 || error.isSilence
        try await ConnectionWatch.sleep(pause, after: error, isTold: isTold, environment)
    }

    /// A signed address that is refused has most likely expired; only whoever signed it can tell.
    private func retryClass(of error: StorageError) -> RetryClass {
        let isRefused =
            configuration.urls != nil && error.isAccessDenied
            || configuration.signing != nil && error.isAccessDenied && error.status != nil
        if !isRefused, let serverTime = skew(behind: error) {
            return .clockSkew(serverTime: serverTime)
        }
        return isRefused ? .refreshCredentials : error.retryClass
    }

    /// The server's time, if a refusal without a code, as of a HEAD, is most likely one of ours.
    private func skew(behind error: StorageError) -> Timestamp? {
        guard case .service(403, "") = error.kind, let serverTime = error.serverTime else {
            return nil
        }
        let (difference, overflows) = serverTime.seconds
            .subtractingReportingOverflow(clock.read().time.seconds)
        return overflows || difference.magnitude > Self.largestSkew ? serverTime : nil
    }

    /// What services take at most, in seconds.
    private static let largestSkew = 15 * 60

    /// Waits as a request does while whoever is asked can't be reached.
    private func refreshOnceReached(
        after error: StorageError,
        _ context: inout AttemptContext
    ) async throws(StorageError) {
        while true {
            do throws(StorageError) {
                return try await refreshCredentials(after: error, context)
            } catch {
                guard try await waitForConnection(after: error, &context) else { throw error }
            }
        }
    }

    private func refreshCredentials(
        after error: StorageError,
        _ context: AttemptContext
    ) async throws(StorageError) {
        if let urls = configuration.urls {
            let fresh: PresignedPair?
            do throws(CredentialsError) {
                if let rejected = context.urls {
                    fresh = try await urls.renew(rejected: rejected)
                } else {
                    fresh = nil
                }
            } catch {
                throw StorageError(error, operation: "renew the signed address")
            }
            guard fresh != nil else { throw error }
            return
        }
        guard let rejected = context.credentials else { throw error }
        let fresh: Credentials?
        do throws(CredentialsError) {
            fresh = try await credentials.refresh(rejected: rejected)
        } catch {
            throw StorageError(error, operation: "refresh credentials")
        }
        guard let fresh, fresh != rejected else { throw error }
    }
}

extension StorageError {
    /// Something answered, whatever it said.
    fileprivate var isAnswer: Bool {
        switch kind {
        case .service, .integrity, .protocolViolation: true
        case .transport(.bodyTooLong), .transport(.malformedResponse), .transport(.bodyTooShort):
            true
        case .transport, .credentials, .localIO, .cancelled, .invalidRequest, .unsupported: false
        }
    }

    /// Nothing came for a long time.
    fileprivate var isSilence: Bool {
        kind == .transport(.stalled) || kind == .transport(.timedOut)
    }

    /// The end of the task in the pause after this error.
    fileprivate func cancelled(_ context: AttemptContext) -> StorageError {
        var end = StorageError(kind: .cancelled, operation: operation, key: key)
        if !context.mayBeDone, !mayHaveReachedServer { end.reachedServer = false }
        return end
    }

    /// The connection was lost under the request.
    var isLoss: Bool {
        if case .transport(let failure) = kind { return failure.retryClass == .transient }
        return false
    }

    /// The request may have had its effect, and the service did not refuse it for being busy.
    fileprivate var mayHideSuccess: Bool {
        if case .throttled = retryClass { return false }
        return mayHaveReachedServer
    }

    /// The request has had no effect, or could not be made.
    fileprivate var isCertainlyUndone: Bool {
        switch retryClass {
        case .throttled, .clockSkew, .refreshCredentials, .otherRegion: true
        default: !mayHaveReachedServer
        }
    }
}
