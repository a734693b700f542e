internal import ManifestStore
internal import SyncModel
internal import SyncPlanner

/// Marks the rows that a run leaves out: if one side loses them meanwhile, nobody deleted them.
///
/// Each is written once, however many runs leave it out, and a run that sees the key on both sides
/// takes the mark away. What is outside the paths of a limited run is not looked at and not marked.
struct LeftOutRows {
    private static let batch = 1_000

    private let manifest: ManifestStore
    private let records: Bool
    private var changes: [ManifestChange] = []

    /// With `records` false nothing is written.
    init(_ manifest: ManifestStore, records: Bool) {
        self.manifest = manifest
        self.records = records
    }

    mutating func add(_ entry: JoinedEntry) async throws(ManifestError) {
        guard records, let base = entry.base, !base.isLeftOut else { return }
        changes.append(.upsert(base.leftOut(true)))
        if changes.count >= Self.batch { try await flush() }
    }

    mutating func flush() async throws(ManifestError) {
        guard !changes.isEmpty else { return }
        try await manifest.record(changes)
        changes = []
    }
}

extension ManifestEntry {
    func leftOut(_ isLeftOut: Bool) -> ManifestEntry {
        var row = self
        row.isLeftOut = isLeftOut
        return row
    }
}
