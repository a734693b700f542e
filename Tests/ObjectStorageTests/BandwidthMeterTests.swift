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
        #expect(limiter.mayMove(hasTurn: false) && !limiter.holdsBack)
    }

    @Test func `a pause is never longer than the time to the next reading of the limit`() {
        let limiter = BandwidthLimiter(BandwidthLimit(1))
        limiter.moved(1 << 40)
        #expect(!limiter.mayMove(hasTurn: false) && limiter.holdsBack)
        #expect(limiter.pause > .zero && limiter.pause <= .seconds(1))
    }

    /// Bodies of these sizes on a line, each a piece whenever it has its turn, as the transport
    /// moves them; returns the longest time that one of them was silent.
    private func longestSilence(
        bytesPerSecond: Int64,
        largestPiece: Int,
        _ sizes: [Int]
    ) -> Duration {
        var meter = TokenBucket(bytesPerSecond: bytesPerSecond, now: .zero)
        let piece = BandwidthTurns.piece(at: bytesPerSecond, largest: largestPiece)
        var (now, longest) = (Duration.zero, Duration.zero)
        var unsent = sizes[...]
        var open: [Int: (left: Int, lastMoved: Duration)] = [:]
        var number = 0
        while !open.isEmpty || !unsent.isEmpty {
            while open.count < BandwidthTurns.bodies(at: bytesPerSecond),
                let size = unsent.popFirst()
            {
                open[number] = (size, now)
                number += 1
            }
            let pause = meter.pause(now: now)
            now += pause
            guard pause == .zero else { continue }
            let waiting = open.map { (body: $0.key, lastMoved: $0.value.lastMoved) }
            for body in BandwidthTurns.next(waiting, room: meter.room, piece: piece) {
                guard meter.pause(now: now) == .zero, var state = open[body] else { break }
                longest = max(longest, now - state.lastMoved)
                meter.moved(min(piece, state.left))
                state = (state.left - piece, now)
                open[body] = state.left > 0 ? state : nil
            }
        }
        return longest
    }

    /// Many small bodies behind a large one.
    private struct Load: Sendable {
        let kilobytesPerSecond: Int64
        let large: Int
        let largeCount: Int
        let small: Int
        let smallCount: Int
    }

    private static let loads = [
        Load(kilobytesPerSecond: 4, large: 64, largeCount: 2, small: 8, smallCount: 2),
        Load(kilobytesPerSecond: 128, large: 3_072, largeCount: 3, small: 0, smallCount: 0),
        Load(kilobytesPerSecond: 384, large: 5_120, largeCount: 1, small: 70, smallCount: 150),
        Load(kilobytesPerSecond: 1_024, large: 6_144, largeCount: 1, small: 100, smallCount: 900),
    ]

    @Test(arguments: loads.indices)
    func `each body that was begun moves at least every two seconds`(index: Int) {
        let load = Self.loads[index]
        var sizes = Array(repeating: load.large << 10, count: load.largeCount)
        sizes += Array(repeating: load.small << 10, count: load.smallCount)
        let rate = load.kilobytesPerSecond << 10
        // What is sent goes in small pieces, and a download gives what its buffer holds.
        for piece in [16 << 10, 256 << 10] {
            let silence = longestSilence(bytesPerSecond: rate, largestPiece: piece, sizes)
            #expect(silence <= .seconds(2), "pieces of up to \(piece) bytes")
        }
    }

    @Test func `no more bodies begin than the limited line has room for`() async {
        let gate = BandwidthLimit(64 << 10).bodies
        var passes: [SendingGate.Pass] = []
        for _ in 0..<4 { passes.append(await gate.enter()) }
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                gate.leave(await gate.enter(), .other)
                return true
            }
            group.addTask {
                await Task.yield()
                return false
            }
            #expect(await group.next() == false)
            gate.leave(passes[0], .other)
            #expect(await group.next() == true)
        }
    }

    @Test func `a transfer without a turn does not pass those that wait`() {
        let limiter = BandwidthLimiter(BandwidthLimit(1 << 30))
        limiter.letGo(someWait: true)
        #expect(!limiter.mayMove(hasTurn: false) && limiter.mayMove(hasTurn: true))
    }
}
