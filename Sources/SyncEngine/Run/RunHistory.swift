internal import LocalStorage
internal import ManifestStore
package import ObjectTransfer
package import SyncModel

/// What the manifest recorded of earlier runs; takes no lock and changes nothing.
package struct RunHistory: Sendable {
    let settings: MirrorSettings

    private static let itemsAtOnce = 256

    /// The latest runs, the last one first; at most 1,000 are kept.
    package func runs(limit: Int) async throws(TransferError) -> [PastRun] {
        try await reading { session in
            let runs = try await session.manifest.rows(.runs, limit: limit)
            let running = try await PastRun.running(session)
            return runs.map { PastRun($0, running) }
        }
    }

    /// When the last complete run of each direction ended, in seconds since 1970 UTC, the run that
    /// goes on now, if there is one, and the last one.
    package func latest() async throws(TransferError) -> (
        lastSuccess: [SyncDirection: StoreTime], running: PastRun?, last: PastRun?
    ) {
        try await reading { session in
            let running = try await PastRun.running(session)
            let last = try await session.manifest.rows(.runs, limit: 1).first
            let times = try await LastSuccess.read(session.manifest)
            return (times, running, last.map { PastRun($0, running) })
        }
    }

    /// The first ones of `runs` of which items are kept.
    package func withItems(
        _ runs: [PastRun],
        limit: Int
    ) async throws(TransferError) -> [PastRun] {
        try await reading { session in
            var found: [PastRun] = []
            for run in runs where found.count < limit {
                let items = RowSelection.items(run: RunID(run.number))
                let isEmpty = try await session.manifest.rows(items, limit: 1).isEmpty
                if !isEmpty { found.append(run) }
            }
            return found
        }
    }

    /// Hands what a run recorded to `onItem`, in order, until `onItem` returns false.
    ///
    /// Items of the last 20 runs that have any are kept, at most 5,000 of each.
    ///
    /// - Returns: The run; nil if there is no record of it.
    /// - Throws: `TransferError`.
    package func items(
        ofRun number: Int64,
        onItem: (PastItem) -> Bool
    ) async throws(TransferError) -> PastRun? {
        try await reading { session in
            let manifest = session.manifest
            let runs = try await manifest.rows(.runs, limit: RunTraces.runLimit)
            guard let stored = runs.first(where: { $0.id.value == number }) else { return nil }
            let run = PastRun(stored, try await PastRun.running(session))
            let pages = manifest.pages(.items(run: stored.id), limit: Self.itemsAtOnce)
            for try await items in pages {
                for item in items where !onItem(PastItem(item.item)) { return run }
            }
            return run
        }
    }

    private func reading<Value>(
        _ work: (MirrorSession) async throws -> Value
    ) async throws(TransferError) -> Value {
        let session = try await MirrorSession.open(settings, locks: false, allowsRebinding: false)
        do {
            return try await work(session)
        } catch {
            throw TransferError(any: error)
        }
    }
}

extension MirrorEngine {
    package var history: RunHistory { RunHistory(settings: settings) }
}

extension LocalMirror {
    private static let (mostRuns, itemsAtOnce) = (1_000, 256)

    /// What is known of the mirror, and of what its last run did; takes no lock and changes
    /// nothing.
    ///
    /// - Returns: Nil if there was no run yet.
    package func overview(
        _ depth: MirrorOverview.Depth
    ) async throws(TransferError) -> MirrorOverview? {
        do {
            guard let manifest = try await readableManifest() else { return nil }
            let stored = try await manifest.rows(.runs, limit: Self.mostRuns)
            let running = try await PastRun.running(manifest, in: open())
            var overview = MirrorOverview()
            overview.runs = stored.map { PastRun($0, running) }
            guard depth != .runs else { return overview }
            if depth == .items, let last = stored.first(where: { $0.record != nil }) {
                let pages = manifest.pages(.items(run: last.id), limit: Self.itemsAtOnce)
                for try await items in pages {
                    for item in items.map(\.item) {
                        let past = PastItem(item)
                        let entry = past.isTransfer ? try await manifest.entry(item.key) : nil
                        overview.add(past, size: entry?.size)
                    }
                }
                overview.sort()
            }
            let directory = try open()
            overview.freed = try FreedPaths.read(in: directory).keys.count
            for copy in try await manifest.conflictCopies(limit: Self.itemsAtOnce)
            where copy.isConflictCopy && RunEnding.file(of: copy, in: directory) != nil {
                overview.conflictCopies.append(copy.display)
            }
            overview.damagedFiles = try await manifest.damagedFileCount()
            overview.lastVerification = try await VerifyRecord.completed(manifest)
            if let position = try await VerifyRecord.position(manifest) {
                let read = KeyRange(after: nil, through: position)
                let count = try await manifest.entryCount(in: read)
                let recorded = try await manifest.entryCount()
                overview.verifiedShare = Double(count) / Double(max(1, recorded))
            }
            return overview
        } catch {
            throw TransferError(any: error)
        }
    }
}

extension PastRun {
    /// The run that is active in another process: the last one, if the directory is locked.
    static func running(_ session: MirrorSession) async throws -> PastRun? {
        try await running(session.manifest, in: session.directory)
    }

    fileprivate static func running(
        _ manifest: ManifestStore,
        in directory: MirrorDirectory
    ) async throws -> PastRun? {
        guard let last = try await manifest.first(.runs), last.record == nil,
            try directory.isLocked
        else { return nil }
        var run = PastRun(last)
        run.isRunning = true
        return run
    }

    fileprivate init(_ run: StoredRun, _ running: PastRun?) {
        self = run.id.value == running?.number ? running ?? PastRun(run) : PastRun(run)
    }

    private init(_ run: StoredRun) {
        self.init(
            number: run.id.value,
            direction: run.direction,
            started: StoreTime(run.started),
            remote: displayText(run.remote.utf8),
            // Escaped when it was made, so that a line is one path.
            paths: run.paths?.split(separator: "\n").map {
                String(decoding: displayedBytes(String($0)), as: UTF8.self)
            } ?? [],
            end: run.record.map { record in
                func number(_ count: RunCount) -> Int64 { record.counts[count] ?? 0 }
                return End(
                    outcome: record.outcome.rawValue,
                    seconds: record.seconds,
                    transferred: number(.transferred),
                    bytes: number(.bytes),
                    deleted: number(.deleted),
                    renamed: number(.renamed),
                    conflicts: number(.conflicts),
                    failed: number(.failed),
                    skipped: number(.skipped),
                    // Escaped when it was made.
                    message: record.message,
                    itemsInBoth: number(.unchanged) + number(.transferred) + number(.renamed)
                        + number(.adopted),
                    bytesInBoth: number(.bytesInBoth)
                )
            }
        )
    }
}

extension PastItem {
    /// True for a file whose content was moved over the network.
    var isTransfer: Bool {
        state == ItemState.done.rawValue
            && [ItemAction.download.rawValue, ItemAction.upload.rawValue].contains(action)
    }
}

extension PastItem {
    fileprivate init(_ item: RunItem) {
        self.init(
            key: item.key.text,
            displayKey: item.key.display,
            action: item.action,
            state: item.state,
            message: item.sentence
        )
    }
}
