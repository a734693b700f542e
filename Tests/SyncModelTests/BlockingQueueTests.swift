import Dispatch
import SyncModel
import Synchronization
import Testing

@Suite("Blocking queue")
struct BlockingQueueTests {
    private struct Refusal: Error, Equatable {}

    private final class Counter: Sendable {
        let running = Atomic(0)
        let most = Atomic(0)
        let done = Atomic(0)

        func work() {
            let now = running.add(1, ordering: .sequentiallyConsistent).newValue
            most.max(now, ordering: .sequentiallyConsistent)
            for _ in 0..<1000 { done.add(1, ordering: .relaxed) }
            running.subtract(1, ordering: .sequentiallyConsistent)
        }
    }

    @Test func `work gives back its value or its error`() async throws {
        let queue = BlockingQueue(label: "test", width: 1, threads: .system)
        #expect(await queue.run { 7 } == 7)
        await #expect(throws: Refusal()) {
            try await queue.run { () throws(Refusal) -> Int in throw Refusal() }
        }
    }

    @Test(arguments: [1, 3], [0, 4])
    func `no more runs at a time than the width, and all of it runs`(
        width: Int,
        backlog: Int
    ) async {
        let queue = BlockingQueue(label: "test", width: width, backlog: backlog, threads: .system)
        let counter = Counter()
        await withTaskGroup { group in
            for _ in 0..<600 { group.addTask { await queue.run { counter.work() } } }
        }
        #expect(counter.done.load(ordering: .relaxed) == 600_000)
        #expect(counter.most.load(ordering: .relaxed) <= width)
        #expect(counter.running.load(ordering: .relaxed) == 0)
    }

    private final class Token: Sendable {}

    /// Knows whether a token is held by anyone.
    private final class Watched: Sendable {
        private struct State {
            weak var token: Token?
        }

        private let state = Mutex(State())

        func makeToken() -> Token {
            let token = Token()
            state.withLock { $0.token = token }
            return token
        }

        var isReleased: Bool { state.withLock { $0.token == nil } }
    }

    /// Work that holds a token; the second piece of it does `second`.
    private static func work(
        _ token: Token,
        _ counter: Counter,
        second: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        {
            withExtendedLifetime(token) {
                let number = counter.done.add(1, ordering: .relaxed).newValue
                if number == 2 { second() }
            }
        }
    }

    /// Else a queue that is never empty keeps what 256 pieces of work held.
    @Test func `what a piece of work holds is released when it has ended, though others wait`()
        async
    {
        let queue = BlockingQueue(label: "test", width: 1, threads: .system)
        let (first, last) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (blocked, block) = AsyncStream.makeStream(of: Void.self)
        let (secondBegan, start) = AsyncStream.makeStream(of: Void.self)
        let counter = Counter()
        await withTaskGroup(of: Bool?.self) { group in
            group.addTask {
                await queue.run {
                    block.finish()
                    first.wait()
                }
                return nil
            }
            for await _ in blocked {}
            for _ in 0..<2 {
                group.addTask {
                    let watched = Watched()
                    await queue.run(
                        Self.work(watched.makeToken(), counter) {
                            start.finish()
                            last.wait()
                        }
                    )
                    for await _ in secondBegan {}
                    return watched.isReleased
                }
            }
            while queue.waitingCount < 2 { await Task.yield() }
            first.signal()
            var results: [Bool] = []
            for await case let result? in group {
                results.append(result)
                last.signal()
            }
            #expect(results.first == true)
        }
    }

    /// Else a lock that a run has given up is still held for the next one, on a busy machine.
    @Test func `what work returned is its caller's alone, before its thread goes on`() async {
        let queue = BlockingQueue(label: "test", width: 1, threads: .system)
        let isReleased = await withTaskExecutorPreference(Immediate()) {
            let watched = Watched()
            _ = await queue.run { watched.makeToken() }
            return watched.isReleased
        }
        #expect(isReleased)
    }

    /// Work that holds a token, says that it has begun, and waits.
    private static func work(
        _ token: Token,
        _ began: AsyncStream<Void>.Continuation,
        _ end: DispatchSemaphore
    ) -> @Sendable () -> Void {
        {
            withExtendedLifetime(token) {
                began.finish()
                end.wait()
            }
        }
    }

    /// Its thread continues with others, and may never be without work.
    @Test func `what the first piece of work holds is released while the next one runs`() async {
        let queue = BlockingQueue(label: "test", width: 1, threads: .system)
        let (first, last) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (firstBegan, beginFirst) = AsyncStream.makeStream(of: Void.self)
        let (secondBegan, beginSecond) = AsyncStream.makeStream(of: Void.self)
        let watching = Task {
            let watched = Watched()
            await queue.run(Self.work(watched.makeToken(), beginFirst, first))
            return watched
        }
        for await _ in firstBegan {}
        async let second: Void = queue.run(Self.work(Token(), beginSecond, last))
        while queue.waitingCount < 1 { await Task.yield() }
        first.signal()
        let watched = await watching.value
        for await _ in secondBegan {}
        #expect(watched.isReleased)
        last.signal()
        await second
    }
}
