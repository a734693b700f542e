import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

/// A limiter for which no time passes.
func makeLimiter(_ maximum: Int, byteBudget: Int64) -> ConnectionLimiter {
    ConnectionLimiter(
        maximum: maximum,
        byteBudget: byteBudget,
        monotonic: { .zero },
        sleep: { _ in }
    )
}

@Suite("Waiting and limits")
struct ConcurrencyTests {
    @Test func `never more requests at once than the limit`() async throws {
        let limiter = makeLimiter(3, byteBudget: 100)
        let gauge = Gauge()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await limiter.acquire(bytes: 0)
                    gauge.enter()
                    await Task.yield()
                    gauge.leave()
                    limiter.release(bytes: 0, isSuccess: true)
                }
            }
            try await group.waitForAll()
        }
        #expect((1...3).contains(gauge.peak))
    }

    @Test func `throttling halves the limit once a second and success raises it slowly`() {
        let time = Box(Duration.zero)
        let limiter = ConnectionLimiter(
            maximum: 16,
            byteBudget: 100,
            monotonic: { time.value.withLock { $0 } },
            sleep: { _ in }
        )
        // A few refusals say nothing yet.
        for _ in 0..<10 { limiter.throttled() }
        #expect(limiter.limit == 16)
        for _ in 0..<40 { limiter.throttled() }
        #expect(limiter.limit == 8)
        time.value.withLock { $0 = .seconds(2) }
        for _ in 0..<40 { limiter.throttled() }
        #expect(limiter.limit == 4)
        for _ in 0..<32 { limiter.succeeded() }
        #expect(limiter.limit == 5)
        for _ in 0..<10_000 { limiter.succeeded() }
        #expect(limiter.limit == 16)
    }

    @Test func `requests in flight move no more bytes than the budget, but for one alone`()
        async throws
    {
        let limiter = makeLimiter(8, byteBudget: 100)
        try await limiter.acquire(bytes: 60)
        try await limiter.acquire(bytes: 40)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let order = Box<[Int64]>([])
            for bytes in [Int64(500), 41] {
                group.addTask {
                    try await limiter.acquire(bytes: bytes)
                    order.value.withLock { $0.append(bytes) }
                    limiter.release(bytes: bytes, isSuccess: true)
                }
                while limiter.waitingCount < (bytes == 500 ? 1 : 2) {
                    await Task.yield()
                }
            }
            // The small one waits behind the large one, which goes alone.
            limiter.release(bytes: 60, isSuccess: true)
            #expect(order.value.withLock { $0.isEmpty })
            limiter.release(bytes: 40, isSuccess: true)
            try await group.waitForAll()
            #expect(Set(order.value.withLock { $0 }) == [500, 41])
        }
    }

    @Test func `what moves few bytes passes a request that lacks only bytes`() async throws {
        let limiter = makeLimiter(4, byteBudget: 100)
        try await limiter.acquire(bytes: 60)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await limiter.acquire(bytes: 60) }
            while limiter.waitingCount < 1 { await Task.yield() }
            // As many as there are where they leave the large one its room.
            for _ in 0..<1_000 {
                try await limiter.acquire(bytes: 10)
                limiter.release(bytes: 10, isSuccess: true)
            }
            // Sixty-four where they do not.
            for _ in 0..<64 {
                try await limiter.acquire(bytes: 11)
                limiter.release(bytes: 11, isSuccess: true)
            }
            group.addTask { try await limiter.acquire(bytes: 11) }
            while limiter.waitingCount < 2 { await Task.yield() }
            try await limiter.acquire(bytes: 0)
            limiter.release(bytes: 0, isSuccess: true)
            // From behind the head, too, when a place becomes free.
            try await limiter.acquire(bytes: 0)
            try await limiter.acquire(bytes: 0)
            try await limiter.acquire(bytes: 0)
            group.addTask { try await limiter.acquire(bytes: 0) }
            while limiter.waitingCount < 3 { await Task.yield() }
            limiter.release(bytes: 0, isSuccess: true)
            try await group.next()
            #expect(limiter.waitingCount == 2)
            for _ in 0..<3 { limiter.release(bytes: 0, isSuccess: true) }
            limiter.release(bytes: 60, isSuccess: true)
            try await group.waitForAll()
            #expect(limiter.waitingCount == 0)
        }
    }

    @Test func `a cancelled wait takes no place`() async throws {
        let limiter = makeLimiter(1, byteBudget: 100)
        try await limiter.acquire(bytes: 0)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await limiter.acquire(bytes: 0) }
            group.cancelAll()
            await #expect(throws: CancellationError.self) { try await group.next() }
        }
        limiter.release(bytes: 0, isSuccess: true)
        try await limiter.acquire(bytes: 0)
        limiter.release(bytes: 0, isSuccess: true)
    }

    @Test func `a channel passes everything in order and holds few`() async throws {
        let channel = Channel<Int>(capacity: 2)
        let received = try await withThrowingTaskGroup(of: [Int].self) { group in
            group.addTask {
                for number in 0..<1_000 { try await channel.send(number) }
                channel.finish()
                return []
            }
            group.addTask {
                var numbers: [Int] = []
                while let number = try await channel.next() { numbers.append(number) }
                return numbers
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(received == Array(0..<1_000))
    }

    @Test func `a channel's failure comes after its elements`() async throws {
        struct Broken: Error {}
        let channel = Channel<Int>(capacity: 2)
        try await channel.send(1)
        channel.finish(throwing: Broken())
        #expect(try await channel.next() == 1)
        await #expect(throws: Broken.self) { try await channel.next() }
    }

    @Test func `large items never take every worker`() async throws {
        let queue = WorkQueue<Int>(laneCapacity: 8, largeLimit: 1)
        try await queue.push(1, .large)
        try await queue.push(2, .large)
        try await queue.push(3, .small)
        #expect(await queue.next()?.0 == 1)
        #expect(await queue.next()?.0 == 3)
        queue.finished(.small)
        queue.finished(.large)
        #expect(await queue.next()?.0 == 2)
        queue.finished(.large)
        queue.close()
        #expect(await queue.next() == nil)
    }

    @Test func `every pushed item is delivered once`() async throws {
        let queue = WorkQueue<Int>(laneCapacity: 4, largeLimit: 2)
        let delivered = Box<[Int]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    while let (item, lane) = await queue.next() {
                        delivered.value.withLock { $0.append(item) }
                        await Task.yield()
                        queue.finished(lane)
                    }
                }
            }
            for item in 0..<2_000 { try await queue.push(item, item % 7 == 0 ? .large : .small) }
            queue.close()
            try await group.waitForAll()
        }
        #expect(delivered.value.withLock { $0.sorted() } == Array(0..<2_000))
    }

    @Test func `bounded tasks never exceed their number`() async throws {
        let gauge = Gauge()
        var remaining = 100
        try await forEachBounded(limit: 4) { () -> Int? in
            remaining -= 1
            return remaining >= 0 ? remaining : nil
        } body: { _ in
            gauge.enter()
            await Task.yield()
            gauge.leave()
        }
        #expect((1...4).contains(gauge.peak))
    }
}

final class Box<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ value: Value) {
        self.value = Mutex(value)
    }
}

/// Counts how many are inside and how many there were at most.
final class Gauge: Sendable {
    private let state = Mutex((now: 0, peak: 0))

    var peak: Int { state.withLock { $0.peak } }

    func enter() {
        state.withLock { state in
            state.now += 1
            state.peak = max(state.peak, state.now)
        }
    }

    func leave() {
        state.withLock { $0.now -= 1 }
    }
}
