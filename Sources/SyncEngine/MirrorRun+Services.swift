internal import ManifestStore
internal import SyncModel

/// What goes on beside the transfers.
extension MirrorRun {
    private static let progressInterval = Duration.milliseconds(200)
    private static let journalInterval = Duration.seconds(1)

    /// Writes the journal from time to time, so that a kill takes little of it.
    private func keepJournal(_ parts: Parts) async {
        let (context, ledger) = (parts.context, parts.ledger)
        while !Task.isCancelled {
            do {
                try await settings.environment.sleep(Self.journalInterval)
                try await context.journal.flush(to: session.manifest, run: context.run)
            } catch let error as ManifestError {
                return ledger.stop(SyncError(error))
            } catch {
                return
            }
        }
    }

    /// Runs `body` beside the regular publication and the progress reports.
    func withServices(
        _ parts: Parts,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let (tracker, publications) = (parts.context.tracker, parts.publications)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await publications.publishRegularly() }
            group.addTask { await keepJournal(parts) }
            group.addTask { await Housekeeping(context: parts.context).sweepTrash() }
            group.addTask {
                while !Task.isCancelled {
                    do {
                        try await settings.environment.sleep(Self.progressInterval)
                    } catch {
                        return
                    }
                    onEvent(.progress(tracker.snapshot()))
                }
            }
            defer { group.cancelAll() }
            try await body()
        }
        onEvent(.progress(tracker.snapshot()))
    }
}
