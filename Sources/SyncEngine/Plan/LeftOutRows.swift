internal import ManifestStore
internal import SyncModel
internal import SyncPlanner

/// Marks the rows that a run leaves out: if one side loses them meanwhile, nobody deleted them.
///
/// Each is written once, however many runs leave it out, and a run that sees the key on both sides
/// takes the mark away. A limited run neither looks at nor marks what lies elsewhere: the next run
/// of the whole mirror marks it, where one side has lost it.
struct LeftOutRows {
    private static let batch = 1_000

    private let manifest: ManifestStore
    /// False where nothing is written.
    let records: Bool
    /// What earlier limited runs looked at; nil if there were none.
    private let seen: KeyRanges?
    private var changes: [ManifestChange] = []
    /// What only limited runs make unknown.
    private var unseen = (count: 0, first: ObjectKey?.none)

    /// With `records` false nothing is written.
    init(_ manifest: ManifestStore, after limited: LimitedRuns, records: Bool) {
        self.manifest = manifest
        self.records = records
        seen = limited.seen
    }

    /// The same entry, marked if one side lost it where limited runs did not look.
    mutating func marking(_ entry: JoinedEntry) async throws(ManifestError) -> JoinedEntry {
        guard let seen, let base = entry.base, !base.isLeftOut,
            (entry.local == nil) != (entry.remote == nil), !seen.contains(entry.key)
        else { return entry }
        unseen = (unseen.count + 1, unseen.first ?? entry.key)
        let row = base.leftOut(true)
        // Before anything is done with it: the run may end in between.
        if records { try await manifest.record([.upsert(row)]) }
        return JoinedEntry(key: entry.key, base: row, local: entry.local, remote: entry.remote)
    }

    /// With `isFreed`, the row also says that its file was freed, perhaps by another state.
    mutating func add(_ entry: JoinedEntry, isFreed: Bool = false) async throws(ManifestError) {
        guard records, let base = entry.base, !base.isLeftOut || isFreed && !base.isFreed else {
            return
        }
        changes.append(.upsert(isFreed ? base.freed : base.leftOut(true)))
        if changes.count >= Self.batch { try await flush() }
    }

    /// What is not deleted because limited runs did not look there; nil if nothing is.
    var warning: String? {
        guard let first = unseen.first else { return nil }
        let more = unseen.count == 1 ? "" : " and \(unseen.count - 1) more"
        return "'\(first.display)'\(more) went missing on one side after a run that was limited to "
            + "other paths, which does not tell when; what the other side has is kept, and may be "
            + "deleted there by hand"
    }

    mutating func flush() async throws(ManifestError) {
        guard !changes.isEmpty else { return }
        try await manifest.record(changes)
        changes = []
    }
}
