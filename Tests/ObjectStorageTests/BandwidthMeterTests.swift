import Testing

@testable import ObjectStorage

@Suite("Bandwidth")
struct BandwidthMeterTests {
    @Test func `is kept on the average, debts included`() {
        var meter = TokenBucket(bytesPerSecond: 1_000, now: .zero)
        var now = Duration.zero
        var moved = 0
        for turn in 0..<100 {
            let bytes = turn % 3 == 0 ? 5_000 : 10
            moved += bytes
            meter.moved(bytes)
            now += meter.pause(now: now)
        }
        let seconds = Double(now.components.seconds) + Double(now.components.attoseconds) * 1e-18
        #expect(abs(seconds - Double(moved - 250) / 1_000) < 0.01)
    }

    @Test func `saves up a quarter of a second at most`() {
        var meter = TokenBucket(bytesPerSecond: 1_000, now: .zero)
        #expect(meter.pause(now: .seconds(3_600)) == .zero)
        meter.moved(250)
        #expect(meter.pause(now: .seconds(3_600)) == .zero)
        meter.moved(250)
        #expect(meter.pause(now: .seconds(3_600)) > .milliseconds(249))
    }

    @Test func `a limiter without a limit holds nothing back`() {
        let limiter = BandwidthLimiter(BandwidthLimit { nil })
        limiter.moved(1 << 40)
        #expect(limiter.mayMove() && !limiter.holdsBack)
    }

    @Test func `a pause is never longer than the time to the next reading of the limit`() {
        let limiter = BandwidthLimiter(BandwidthLimit(1))
        limiter.moved(1 << 40)
        #expect(!limiter.mayMove() && limiter.holdsBack)
        #expect(limiter.pause > .zero && limiter.pause <= .seconds(1))
    }
}
