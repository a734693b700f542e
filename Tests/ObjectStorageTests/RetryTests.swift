import SyncModel
import Testing

@testable import ObjectStorage

private func serviceFailure(
    _ status: Int,
    _ code: String,
    ec: String? = nil,
    message: String? = nil
) -> StorageError {
    StorageError(
        kind: .service(status: status, code: code),
        operation: "Test",
        ec: ec,
        serviceMessage: message,
        retryAfter: .seconds(7),
        serverTime: Timestamp(seconds: 5)
    )
}

@Suite("Retry rules")
struct RetryTests {
    private let policy = RetryPolicy(
        attempts: 4,
        base: .milliseconds(200),
        throttleBase: .seconds(1),
        cap: .seconds(2),
        retryAfterCap: .seconds(120),
        runBudget: 10
    )

    @Test(arguments: [
        (400, "BadRequest", RetryClass.transient), (400, "RequestTimeout", .transient),
        (400, "InvalidArgument", .never), (400, "InvalidDigest", .limited(retries: 1)),
        (400, "EntityTooSmall", .restartUpload), (400, "InvalidPart", .restartUpload),
        (400, "PublicEndpointForbidden", .never), (403, "AccessDenied", .never),
        (403, "SignatureDoesNotMatch", .never), (403, "SecurityTokenExpired", .refreshCredentials),
        (403, "InvalidAccessKeyId", .refreshCredentials), (403, "InvalidObjectState", .never),
        (403, "RequestTimeTooSkewed", .clockSkew(serverTime: Timestamp(seconds: 5))),
        (404, "NoSuchKey", .never), (404, "NoSuchUpload", .restartUpload), (404, "", .never),
        (408, "", .transient), (409, "FileAlreadyExists", .never), (409, "StaleFile", .transient),
        (412, "PreconditionFailed", .objectChanged), (412, "", .objectChanged),
        (416, "InvalidRange", .objectChanged), (301, "PermanentRedirect", .never),
        (429, "", .throttled(retryAfter: .seconds(7))), (500, "InternalError", .transient),
        (502, "", .transient), (504, "", .transient),
        (503, "TotalQpsLimitExceeded", .throttled(retryAfter: .seconds(7))),
        (503, "SlowDown", .throttled(retryAfter: .seconds(7))), (304, "NotModified", .never),
        (200, "InternalError", .transient),
    ])
    func `each code has its class`(status: Int, code: String, expected: RetryClass) {
        #expect(serviceFailure(status, code).retryClass == expected)
    }

    @Test func `precise causes decide where codes don't`() {
        let skew = RetryClass.clockSkew(serverTime: Timestamp(seconds: 5))
        #expect(serviceFailure(400, "InvalidArgument", ec: "0002-00000212").retryClass == skew)
        let message = "Invalid signing date in Authorization header."
        #expect(
            serviceFailure(400, "InvalidArgument", message: message).retryClass == skew
        )
        #expect(
            serviceFailure(403, "Unknown", ec: "0002-00000007").retryClass == .refreshCredentials
        )
    }

    @Test func `what can't be mended is not repeated`() {
        for error in [
            TransportError.tlsFailed(reason: "x"), .proxyFailed(reason: "x"), .cancelled,
            .localIO(errno: 28, call: "pwrite"),
        ] {
            #expect(error.retryClass == .never)
        }
    }

    @Test func `pauses grow with jitter up to the cap`() {
        var state = RetryState(policy)
        #expect(state.next(.transient, random: 0.5) == .wait(.milliseconds(100)))
        #expect(state.next(.transient, random: 0) == .wait(.zero))
        #expect(state.next(.transient, random: 0.5) == .wait(.milliseconds(400)))
        #expect(state.next(.transient, random: 0.5) == .giveUp)
    }

    @Test func `bytes that arrive start the count over`() {
        var state = RetryState(policy)
        for _ in 0..<50 {
            #expect(state.next(.transient, random: 0.5) == .wait(.milliseconds(100)))
            state.madeProgress()
        }
    }

    @Test func `bytes do not excuse wrong answers`() {
        var state = RetryState(policy)
        #expect(state.next(.limited(retries: 1), random: 0) == .wait(.zero))
        state.madeProgress()
        #expect(state.next(.limited(retries: 1), random: 0) == .giveUp)
    }

    @Test func `the pauses without a connection come to about two minutes`() {
        let policy = RetryPolicy(
            attempts: 8,
            base: .milliseconds(200),
            throttleBase: .seconds(1),
            cap: .seconds(30),
            retryAfterCap: .seconds(120),
            runBudget: 512
        )
        let pauses = (1..<policy.attempts).map {
            policy.outagePause(beforeTry: $0, isHasty: false, random: 1)
        }
        #expect(pauses == [2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        #expect(policy.outagePause(beforeTry: 1, isHasty: true, random: 1) == .milliseconds(500))
        #expect(policy.outagePause(beforeTry: 3, isHasty: false, random: 0) == .seconds(6))
    }

    @Test(arguments: [
        (Duration?.none, Duration.milliseconds(100)), (.seconds(3), .milliseconds(3_100)),
        (.seconds(1_000_000_000), .milliseconds(120_100)), (.seconds(-5), .milliseconds(100)),
    ])
    func `a service may ask for a pause within limits`(asked: Duration?, pause: Duration) {
        var state = RetryState(policy)
        #expect(state.next(.throttled(retryAfter: asked), random: 0.5) == .wait(pause))
    }

    @Test func `a second refusal of one request is waited for longer`() {
        var state = RetryState(policy)
        let pauses = (1...3).map { _ in state.next(.throttled(retryAfter: nil), random: 0.5) }
        #expect(pauses == [100, 1_000, 1_000].map { .wait(.milliseconds($0)) })
    }

    @Test(arguments: [
        ("7", Duration?.some(.seconds(7))), ("0", .seconds(0)), ("-1", nil), ("1e3", nil),
        ("99999999999999999999", nil), ("1000000000", .seconds(86_400)), ("soon", nil),
        ("Thu, 01 Jan 1970 00:02:00 GMT", .seconds(20)), ("Thu, 01 Jan 1970 00:00:00 GMT", nil),
    ])
    func `Retry-After is seconds or a date`(text: String, expected: Duration?) {
        let date = Timestamp(seconds: 100)
        #expect(retryAfterDuration(text, serverDate: date) == expected)
    }

    @Test func `credentials and the clock are mended once`() {
        var state = RetryState(policy)
        let time = Timestamp(seconds: 5)
        #expect(state.next(.refreshCredentials, random: 0) == .refreshCredentials)
        #expect(state.next(.refreshCredentials, random: 0) == .giveUp)
        #expect(state.next(.clockSkew(serverTime: time), random: 0) == .correctClock(time))
        #expect(state.next(.clockSkew(serverTime: time), random: 0) == .giveUp)
        #expect(state.next(.clockSkew(serverTime: nil), random: 0) == .giveUp)
    }

    @Test func `a run's repetitions are bounded`() {
        let budget = RetryBudget(2)
        #expect((0..<3).map { _ in budget.spend() } == [true, true, false])
        budget.refund()
        #expect((0..<2).map { _ in budget.spend() } == [true, false])
    }

    @Test func `the clock is corrected once and only by a trusted server`() {
        let clock = ServerClock(trustsServer: true) { Timestamp(seconds: 1_000) }
        let reading = clock.read()
        let server = Timestamp(seconds: 5_000)
        #expect(clock.correct(by: server, after: reading) == .corrected(offsetSeconds: 4_000))
        #expect(clock.correct(by: server, after: reading) == .alreadyCorrected)
        #expect(clock.read().time == server)
        #expect(clock.correct(by: reading.time, after: clock.read()) == .refused)
        clock.distrust()
        #expect(clock.read().time == reading.time)
        let plain = ServerClock(trustsServer: false) { Timestamp(seconds: 1_000) }
        #expect(plain.correct(by: server, after: plain.read()) == .refused)
        #expect(plain.read().time == reading.time)
    }
}

@Suite("Stalls")
struct StallWatchTests {
    private let stallLimits = StallLimits(idleLimit: .seconds(30), minimumBytes: 30_720)

    /// What a watch says at each of some times in seconds, with the bytes moved until then.
    private func verdicts(
        _ stallLimits: StallLimits,
        restart: Int? = nil,
        _ observations: [(second: Int, moved: Int64)]
    ) -> [Bool] {
        var watch = StallDetector(stallLimits: stallLimits, moved: 0, now: .zero)
        if let restart { watch.restart(moved: 0, now: .seconds(restart)) }
        return observations.map { watch.isStalled(moved: $0.moved, now: .seconds($0.second)) }
    }

    @Test func `silence for the whole limit is a stall`() {
        let seen = verdicts(stallLimits, [(29, 100_000), (58, 100_000), (59, 100_000)])
        #expect(seen == [false, false, true])
    }

    @Test func `a drip is a stall at the end of a window`() {
        let seen = verdicts(stallLimits, (1...30).map { ($0, Int64($0)) })
        #expect(seen.firstIndex(of: true) == 29)
    }

    @Test func `time that did not count is forgotten`() {
        let seen = verdicts(stallLimits, restart: 3_600, [(3_629, 0), (3_630, 0)])
        #expect(seen == [false, true])
    }

    @Test func `a slow answer needs only a byte`() {
        let slow = StallLimits(idleLimit: .seconds(300), minimumBytes: 0)
        #expect(verdicts(slow, [(299, 1), (598, 2)]) == [false, false])
    }

    @Test func `a slow answer does not take for ever`() {
        let slow = StallLimits(
            idleLimit: .seconds(300),
            minimumBytes: 0,
            totalLimit: .seconds(600)
        )
        let seen = verdicts(slow, (1...60).map { ($0 * 20, Int64($0)) })
        #expect(seen.firstIndex(of: true) == 29)
    }
}
