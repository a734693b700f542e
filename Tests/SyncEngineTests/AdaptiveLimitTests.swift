import Testing

@testable import ObjectTransfer

@Suite("Limits that adapt")
struct AdaptiveLimitTests {
    /// A line on which a request takes `latency`, and that never answers more than `capacity` a
    /// second; time is a number.
    private struct Line {
        let latency: Double
        let capacity: Double
        var now = 0.0

        /// Answers requests for so many seconds, always as many at once as the limiter's level.
        mutating func run(_ growth: inout ConnectionGrowth, seconds: Double, isWanted: Bool = true)
        {
            let end = now + seconds
            while now < end {
                now += 1 / min(capacity, Double(growth.level) / latency)
                growth.answered(bytes: 4_096, isWanted: isWanted, now: .seconds(now))
            }
        }
    }

    @Test func `a slow line gets as many requests as may be`() {
        var growth = ConnectionGrowth(maximum: 128, now: .zero)
        #expect(growth.level == 16)
        var line = Line(latency: 0.02, capacity: 100_000)
        line.run(&growth, seconds: 1)
        #expect(growth.level == 128)
    }

    @Test func `requests that move nothing more are not made, but tried from time to time`() {
        var growth = ConnectionGrowth(maximum: 128, now: .zero)
        var line = Line(latency: 0.001, capacity: 8_000)
        line.run(&growth, seconds: 5)
        #expect(growth.level == 16)
        line = Line(latency: 0.02, capacity: 100_000, now: line.now)
        line.run(&growth, seconds: 12)
        #expect(growth.level == 128)
    }

    @Test func `a moment without a gain does not hold a run back for long`() {
        var growth = ConnectionGrowth(maximum: 128, now: .zero)
        var line = Line(latency: 0.02, capacity: 100_000)
        line.run(&growth, seconds: 0.3)
        #expect(growth.level == 32)
        // The processor is busy with something else while more requests are tried.
        line = Line(latency: 0.04, capacity: 100_000, now: line.now)
        line.run(&growth, seconds: 0.5)
        #expect(growth.level == 16)
        line = Line(latency: 0.02, capacity: 100_000, now: line.now)
        line.run(&growth, seconds: 2.5)
        #expect(growth.level == 128)
    }

    @Test func `attempts that gain nothing become rare`() {
        var growth = ConnectionGrowth(maximum: 128, now: .zero)
        var line = Line(latency: 0.001, capacity: 8_000)
        var attempts = 0
        for _ in 0..<600 {
            let before = growth.level
            line.run(&growth, seconds: 0.1)
            if growth.level > before { attempts += 1 }
        }
        #expect(attempts <= 10)
    }

    @Test func `what the service takes is found between the ends`() {
        var growth = ConnectionGrowth(maximum: 128, now: .zero)
        var line = Line(latency: 0.1, capacity: 400)
        line.run(&growth, seconds: 9)
        #expect(growth.level == 64)
    }

    @Test func `without others that wait there is nothing to learn`() {
        var growth = ConnectionGrowth(maximum: 128, now: .zero)
        var line = Line(latency: 0.02, capacity: 100_000)
        line.run(&growth, seconds: 5, isWanted: false)
        #expect(growth.level == 16)
    }

    @Test(arguments: [1, 4, 16])
    func `the limit that was asked for is kept`(maximum: Int) {
        var growth = ConnectionGrowth(maximum: maximum, now: .zero)
        var line = Line(latency: 0.02, capacity: 100_000)
        line.run(&growth, seconds: 5)
        #expect(growth.level == maximum)
    }

    @Test func `after a refusal nothing is tried for a while`() {
        var growth = ConnectionGrowth(maximum: 128, now: .zero)
        growth.refused(now: .zero)
        var line = Line(latency: 0.02, capacity: 100_000)
        line.run(&growth, seconds: 9)
        #expect(growth.level == 16)
        line.run(&growth, seconds: 3)
        #expect(growth.level == 128)
    }

    /// A service that ``RequestPace`` asks, sixteen requests at a time; time is a number.
    private struct Service {
        /// Requests a second, with a burst of a twentieth; infinite for no limit.
        var allowed = Double.infinity
        /// Every so many-th request is refused at any pace; nil for none.
        var refusesEvery: Int?
        var now = 0.0
        private(set) var answered = 0
        private(set) var sent = 0
        private var tokens = 0.0
        private var credited = 0.0
        private var lastHalving = -1.0

        /// 3,500 a second without a pace.
        private static let latency = 1.0 / 3_500

        init(allowed: Double = .infinity, refusesEvery: Int? = nil) {
            (self.allowed, self.refusesEvery) = (allowed, refusesEvery)
            tokens = allowed / 20
        }

        private mutating func takes() -> Bool {
            sent += 1
            if let refusesEvery, sent % refusesEvery == 0 { return false }
            guard allowed < .infinity else { return true }
            tokens = min(allowed / 20, tokens + (now - credited) * allowed)
            credited = now
            guard tokens >= 1 else { return false }
            tokens -= 1
            return true
        }

        mutating func ask(_ pace: inout RequestPace) {
            now += max(Self.latency, pace.wait(now: .seconds(now)) / .seconds(1))
            guard !takes() else {
                answered += 1
                return pace.succeeded(now: .seconds(now))
            }
            // One of sixteen waits up to 0.2 seconds before it asks again.
            now += 0.1 / 16
            guard pace.refused(), now - lastHalving >= 1 else { return }
            lastHalving = now
            pace.throttle(now: .seconds(now))
        }
    }

    @Test(arguments: [50.0, 200, 2_000])
    func `a service that allows so many requests a second refuses few`(allowed: Double) {
        var pace = RequestPace(now: .zero)
        var service = Service(allowed: allowed)
        while service.now < 60 { service.ask(&pace) }
        #expect((service.sent - service.answered) * 12 <= service.sent)
        #expect(Double(service.answered) >= 60 * allowed * 0.9)
    }

    @Test(arguments: [(1_000, 1.5), (200, 1.5), (20, 3.0)])
    func `refusals now and then cost what they are worth`(every: Int, factor: Double) {
        var pace = RequestPace(now: .zero)
        var service = Service(refusesEvery: every)
        while service.answered < 6_000 { service.ask(&pace) }
        #expect(service.now <= 6_000.0 / 3_500 * factor)
        #expect(pace.rate == nil)
    }

    @Test func `a service that refused once is soon asked as fast as before`() {
        var pace = RequestPace(now: .zero)
        pace.throttle(now: .zero)
        #expect(pace.rate != nil)
        for second in 1...60 { _ = pace.wait(now: .seconds(second)) }
        #expect(pace.rate == nil)
        #expect(pace.wait(now: .seconds(61)) == .zero)
    }
}
