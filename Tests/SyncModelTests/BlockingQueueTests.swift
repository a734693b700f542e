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
}
