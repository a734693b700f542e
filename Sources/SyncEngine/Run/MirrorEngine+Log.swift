internal import ManifestStore
package import ObjectTransfer
internal import SyncModel

extension MirrorEngine {
    private static let itemsAtOnce = 256
    /// More than are kept.
    private static let runLimit = 10_000

    /// The latest runs, the last one first; takes no lock and changes nothing.
    package func pastRuns(limit: Int) async throws(SyncError) -> [PastRun] {
        try await reading { manifest in
            try await manifest.runs(limit: limit).map { PastRun($0) }
        }
    }

    /// Hands what a run recorded to `onItem`, in order, until `onItem` returns false.
    ///
    /// - Returns: The run; nil if there is no record of it.
    /// - Throws: `SyncError`.
    package func pastItems(
        ofRun number: Int64,
        onItem: (PastItem) -> Bool
    ) async throws(SyncError) -> PastRun? {
        try await reading { manifest in
            let runs = try await manifest.runs(limit: Self.runLimit)
            guard let run = runs.first(where: { $0.id.value == number }) else { return nil }
            var last: Int64?
            while true {
                let items = try await manifest.items(
                    run: run.id,
                    after: last,
                    limit: Self.itemsAtOnce
                )
                for item in items where !onItem(PastItem(item.item)) { return PastRun(run) }
                guard let end = items.last else { return PastRun(run) }
                last = end.number
            }
        }
    }

    private func reading<Value>(
        _ work: (ManifestStore) async throws -> Value
    ) async throws(SyncError) -> Value {
        let session = try await MirrorSession.open(settings, locks: false, allowsRebinding: false)
        do {
            return try await work(session.manifest)
        } catch {
            throw SyncError(any: error)
        }
    }
}

extension PastRun {
    fileprivate init(_ run: StoredRun) {
        self.init(
            number: run.id.value,
            direction: run.direction,
            started: run.started.seconds,
            remote: displayText(run.remote.utf8),
            // Escaped when it was made.
            paths: run.paths?.split(separator: "\n").map(String.init) ?? [],
            end: run.record.map { record in
                End(
                    outcome: record.outcome.rawValue,
                    seconds: record.seconds,
                    transferred: record.counts.transferred,
                    bytes: record.counts.transferredBytes,
                    deleted: record.counts.deleted,
                    renamed: record.counts.renamed,
                    conflicts: record.counts.conflicts,
                    failed: record.counts.failed,
                    skipped: record.counts.skipped,
                    // Escaped when it was made.
                    message: record.message
                )
            }
        )
    }
}

extension PastItem {
    fileprivate init(_ item: RunItem) {
        self.init(
            key: item.key.display,
            action: item.action,
            state: item.state,
            message: item.message
        )
    }
}
