internal import ObjectTransfer
internal import SyncModel

/// The plan, and the workers that carry it out.
extension MirrorRun {
    /// Streams of large files, which have large buffers, that are under way at once.
    private static let largeStreams = 32

    func transfer(_ executor: ItemExecutor, rows: RecordedRows) async throws -> PlanCoverage {
        let connections = options.connectionLimit
        let queue = WorkQueue<ItemExecutor.Work>(
            laneCapacity: settings.limits.laneCapacity,
            largeLimit: max(
                1,
                min(connections, Self.largeStreams) / settings.limits.transfer.streamsPerFile
            )
        )
        let ledger = executor.ledger
        defer { ledger.countUntried(queue.waitingCount) }
        let room = RoomMaking(executor: executor)
        let start = try await room.start()
        return try await withThrowingTaskGroup(of: PlanCoverage?.self) { group in
            group.addTask {
                var dispatcher = Dispatcher(executor: executor, queue: queue)
                let coverage = try await PlanSource(setup).plan(rows: rows, executor) { item in
                    try await dispatcher.dispatch(item)
                }
                try await dispatcher.finish()
                executor.context.tracker.planIsComplete()
                await room.warn(start)
                queue.close()
                return coverage
            }
            for _ in 0..<connections {
                group.addTask {
                    while ledger.stop == nil, let (work, lane) = await queue.next() {
                        if await setup.budget.admits() {
                            await executor.run(work)
                        } else {
                            ledger.countUntried(1)
                        }
                        queue.finished(lane)
                    }
                    // Ends the plan, too, which may be waiting for room in the queue.
                    if let stop = ledger.stop { throw stop }
                    return nil
                }
            }
            var coverage: PlanCoverage?
            while let end = try await group.next() { coverage = end ?? coverage }
            guard let coverage else { throw CancellationError() }
            setup.budget.endTransfers()
            return coverage
        }
    }
}
