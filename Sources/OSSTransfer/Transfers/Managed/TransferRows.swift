internal import ObjectTransfer
internal import SyncModel

extension TransferManager {
    /// All transfers, in the order in which they were added: as they are now, and again each time
    /// that something about one of them has changed, at most ten times a second.
    ///
    /// ```swift
    /// for await transfers in manager.rows { list.show(transfers) }
    /// ```
    ///
    /// What a slow reader misses is in the next element, because each has everything. The loop ends
    /// when the manager is released, or the task is cancelled; each loop is one of its own.
    public nonisolated var rows: some AsyncSequence<[ManagedTransfer], Never> & Sendable {
        TransferRows(manager: self, changes: changes, environment: environment)
    }
}

/// Snapshots of a manager's transfers.
struct TransferRows: AsyncSequence, Sendable {
    typealias Element = [ManagedTransfer]
    typealias Failure = Never

    /// The shortest time between two snapshots.
    private static let interval = Duration.milliseconds(100)
    /// What runs and does not move has another pace by then.
    private static let longestInterval = Duration.seconds(1)

    weak let manager: TransferManager?
    /// Raised at each change, and at the manager's end.
    let changes: Condition
    let environment: EngineEnvironment

    func makeAsyncIterator() -> Iterator { Iterator(rows: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let rows: TransferRows
        private var told: [ManagedTransfer]?
        private var lastLook: Duration?

        fileprivate init(rows: TransferRows) { self.rows = rows }

        mutating func next() async -> [ManagedTransfer]? { await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async -> [ManagedTransfer]? {
            while !Task.isCancelled {
                // Also after what changes no row: many transfers may be on their way to start.
                if let lastLook, await !rows.rest(since: lastLook) { return nil }
                let version = rows.changes.version
                guard let transfers = await rows.manager?.transfers else { return nil }
                lastLook = rows.environment.monotonic()
                if transfers != told {
                    told = transfers
                    return transfers
                }
                await rows.change(after: version, of: transfers)
            }
            return nil
        }
    }

    /// Lets the shortest time pass; false if the task was cancelled.
    private func rest(since time: Duration) async -> Bool {
        let rest = time + Self.interval - environment.monotonic()
        guard rest > .zero else { return true }
        return (try? await environment.sleep(rest)) != nil
    }

    private func change(after version: Int, of transfers: [ManagedTransfer]) async {
        guard transfers.contains(where: { $0.state == .running }) else {
            return await changes.wait(after: version)
        }
        // A wait that is cut short has done its work.
        try? await changes.wait(
            after: version,
            atMost: Self.longestInterval,
            environment.sleep
        )
    }
}
