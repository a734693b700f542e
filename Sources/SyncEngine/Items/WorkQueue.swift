internal import Synchronization

/// Two bounded lanes of work, for large and for small items, between the plan and the workers.
///
/// The producer waits while a lane is full, so a slow network slows the listing instead of filling
/// memory. At most ``largeLimit`` large items are under way, so small ones always find a worker.
package final class WorkQueue<Item: Sendable>: Sendable {
    package enum Lane: Sendable { case small, large }

    private struct State {
        var small: [Item] = []
        var smallHead = 0
        var large: [Item] = []
        var largeHead = 0
        var activeLarge = 0
        var isClosed = false
        var idleWorkers: [UInt64: CheckedContinuation<(Item, Lane)?, Never>] = [:]
        var producer: CheckedContinuation<Void, Never>?
        var nextTicket: UInt64 = 0

        var smallCount: Int { small.count - smallHead }
        var largeCount: Int { large.count - largeHead }
    }

    /// A worker that waited and what it gets: an item, or nil because there will be none.
    private struct Wake {
        let worker: CheckedContinuation<(Item, Lane)?, Never>
        let delivery: (Item, Lane)?

        func resume() { worker.resume(returning: delivery) }
    }

    private let laneCapacity: Int
    private let largeLimit: Int
    private let state = Mutex(State())

    package init(laneCapacity: Int, largeLimit: Int) {
        self.laneCapacity = laneCapacity
        self.largeLimit = max(1, largeLimit)
    }

    /// Items that no worker has taken.
    package var waitingCount: Int { state.withLock { $0.smallCount + $0.largeCount } }

    /// Adds an item, waiting while its lane is full; only one task may push.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func push(_ item: Item, _ lane: Lane) async throws {
        while true {
            try Task.checkCancellation()
            let workers: [Wake]? = state.withLock { state in
                let count = lane == .small ? state.smallCount : state.largeCount
                guard count < laneCapacity else { return nil }
                if lane == .small { state.small.append(item) } else { state.large.append(item) }
                return wakeAll(&state)
            }
            if let workers {
                for worker in workers { worker.resume() }
                return
            }
            await waitForRoom(lane)
        }
    }

    /// No more items will come.
    package func close() {
        let workers = state.withLock { state in
            state.isClosed = true
            return wakeAll(&state)
        }
        for worker in workers { worker.resume() }
    }

    /// The next item, nil when the queue is closed and empty or the task is cancelled.
    ///
    /// Every item must be given back with ``finished(_:)``.
    package func next() async -> (Item, Lane)? {
        guard !Task.isCancelled else { return nil }
        let (ready, producer, ticket) = state.withLock { state in
            let ready = take(&state)
            state.nextTicket += 1
            defer { if ready != nil { state.producer = nil } }
            return (ready, ready == nil ? nil : state.producer, state.nextTicket)
        }
        producer?.resume()
        if let ready { return ready }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                var room: CheckedContinuation<Void, Never>?
                let answer: (Item, Lane)?? = state.withLock { state in
                    if Task.isCancelled { return .some(nil) }
                    if let next = take(&state) {
                        room = state.producer
                        state.producer = nil
                        return .some(next)
                    }
                    if state.isClosed, state.smallCount == 0, state.largeCount == 0 {
                        return .some(nil)
                    }
                    state.idleWorkers[ticket] = continuation
                    return nil
                }
                room?.resume()
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.idleWorkers.removeValue(forKey: ticket) }?.resume(returning: nil)
        }
    }

    /// A worker is done with an item of this lane.
    package func finished(_ lane: Lane) {
        guard lane == .large else { return }
        let (workers, producer) = state.withLock { state in
            state.activeLarge -= 1
            let workers = wakeAll(&state)
            defer { if !workers.isEmpty { state.producer = nil } }
            return (workers, workers.isEmpty ? nil : state.producer)
        }
        producer?.resume()
        for worker in workers { worker.resume() }
    }

    private func waitForRoom(_ lane: Lane) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    let count = lane == .small ? state.smallCount : state.largeCount
                    if Task.isCancelled || count < laneCapacity { return true }
                    state.producer = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let producer = state.withLock { state in
                defer { state.producer = nil }
                return state.producer
            }
            producer?.resume()
        }
    }

    /// Large items first while few of them are under way: they take longest.
    private func take(_ state: inout State) -> (Item, Lane)? {
        if state.largeCount > 0, state.activeLarge < largeLimit {
            state.activeLarge += 1
            return (Self.pop(&state.large, &state.largeHead), .large)
        }
        guard state.smallCount > 0 else { return nil }
        return (Self.pop(&state.small, &state.smallHead), .small)
    }

    private func wakeAll(_ state: inout State) -> [Wake] {
        var woken: [Wake] = []
        while let (ticket, worker) = state.idleWorkers.first {
            let next = take(&state)
            let isOver = state.isClosed && state.smallCount == 0 && state.largeCount == 0
            guard next != nil || isOver else { break }
            state.idleWorkers.removeValue(forKey: ticket)
            woken.append(Wake(worker: worker, delivery: next))
        }
        return woken
    }

    private static func pop(_ items: inout [Item], _ head: inout Int) -> Item {
        let item = items[head]
        head += 1
        if head > 256, head * 2 > items.count {
            items.removeFirst(head)
            head = 0
        }
        return item
    }
}
