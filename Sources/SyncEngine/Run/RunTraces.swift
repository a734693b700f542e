internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

/// Tells what a run left under a name from what came there later, so that `undo` can replace it.
///
/// The manifest's row says what the last run recorded, and the times say that this was the run
/// that is undone: a file is changed for the last time when it gets its name, and an object is
/// written right after the copy of its older version. See
/// decision 68.
///
/// Not guaranteed: that everything is recognized. What is not, stays and is named.
struct RunTraces: Sendable {
    private struct Trace: Sendable {
        /// By this machine's clock; later than all that the run did.
        let end: Timestamp
        /// From the run's end to the next run that transferred anything; nil if none did.
        let gap: Double?
        let seconds: Double
        /// What runs wrote that came within the steps of the clocks; nil if that is not known.
        let rewritten: Set<ObjectKey>?

        /// True if the times alone tell nothing of this key.
        func isInDoubt(_ key: ObjectKey) -> Bool { rewritten?.contains(key) ?? true }
    }

    /// Clocks of files and of stores count in steps, and are set.
    private static let tolerance = 2.0
    /// How far the service's clock may be ahead of this machine's, in seconds.
    private static let clockTolerance: Int64 = 15 * 60
    /// More than are kept.
    static let runLimit = 10_000

    private let manifest: ManifestStore
    private var traces: [[UInt8]: Trace] = [:]

    /// The traces of the runs that left these trees of a trash, as far as the manifest has them.
    init(
        of trees: [TrashOfRun],
        in manifest: ManifestStore
    ) async throws(ManifestError) {
        self.manifest = manifest
        let runs = try await manifest.rows(.runs, limit: Self.runLimit)
        for tree in trees {
            guard let number = tree.number, let time = tree.time,
                let index = runs.firstIndex(where: { $0.id.value == number })
            else { continue }
            let run = runs[index]
            // A rebuilt manifest counts anew.
            guard let record = run.record, Self.isOf(run, time) else { continue }
            let end = run.started.seconds + Int64(record.seconds + Self.tolerance)
            let next = runs[..<index].last { later in
                guard let counts = later.record?.counts else { return true }
                return counts[.transferred] != 0 || counts[.renamed] != 0
            }
            traces[tree.name] = Trace(
                end: Timestamp(seconds: end),
                gap: next.map {
                    Double($0.started.seconds - run.started.seconds) - record.seconds
                },
                seconds: record.seconds,
                rewritten: try await Self.written(
                    by: runs[..<index].filter { later in
                        Double(later.started.seconds - run.started.seconds)
                            <= record.seconds + 2 * Self.tolerance
                    },
                    in: manifest
                )
            )
        }
    }

    /// What these runs put in any place; nil if their journals do not have all of it, as of one
    /// that was killed.
    private static func written(
        by runs: [StoredRun],
        in manifest: ManifestStore
    ) async throws(ManifestError) -> Set<ObjectKey>? {
        var keys: Set<ObjectKey> = []
        for run in runs {
            guard let counts = run.record?.counts else { return nil }
            let before = keys.count
            for row in try await manifest.rows(.items(run: run.id), limit: runLimit) {
                switch ItemAction(rawValue: row.item.action) {
                case .upload, .download, .copyLocal, .copyRemote, .mode: keys.insert(row.item.key)
                default: break
                }
            }
            let written = (counts[.transferred] ?? 0) + (counts[.renamed] ?? 0)
            guard Int64(keys.count - before) >= written else { return nil }
        }
        return keys
    }

    /// True if a tree of this time can be the run's.
    ///
    /// Its name is of the moment when the run first needed it, by the later clock. A run that did
    /// not end has no end; which one it can be, its number tells.
    static func isOf(_ run: StoredRun, _ time: Timestamp) -> Bool {
        guard let record = run.record else {
            return time.seconds >= run.started.seconds - Int64(tolerance)
        }
        let end = run.started.seconds + Int64(record.seconds + tolerance)
        return time.seconds >= run.started.seconds - Int64(tolerance)
            && time.seconds <= end + clockTolerance
    }

    /// True for a file that the run put where it is.
    func left(
        _ file: FileIdentity,
        at key: ObjectKey,
        in tree: TrashOfRun
    ) async throws(ManifestError) -> Bool {
        guard let trace = traces[tree.name], !trace.isInDoubt(key),
            file.changed <= trace.end, let row = try await manifest.entry(key)
        else { return false }
        return row.size == file.size && row.mayHaveTime(of: file)
            && (row.inode == 0 || row.inode == file.inode)
    }

    /// True for an object that the run wrote after it had made `copy` of the older version.
    func left(
        _ object: ObjectMetadata,
        at key: ObjectKey,
        after copy: RemoteObject,
        in tree: TrashOfRun
    ) async throws(ManifestError) -> Bool {
        guard let trace = traces[tree.name], !trace.isInDoubt(key),
            let etag = object.etag,
            let written = object.lastModified, let copied = copy.lastModified,
            let row = try await manifest.entry(key), row.etag == etag, row.size == object.size
        else { return false }
        // Both by the store's clock.
        let pause = Double(written.seconds - copied.seconds)
        let longest = min(trace.seconds, trace.gap ?? .infinity) + Self.tolerance
        return pause >= -Self.tolerance && pause <= longest
    }
}
