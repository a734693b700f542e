internal import ManifestStore
internal import SyncModel

/// What every limited run looked at since the last plan of the whole mirror.
///
/// What one side lost elsewhere is as unknown as what a filter left out: nobody looked for it.
struct LimitedRuns {
    private enum Setting {
        static let name = "runs.limited"
        /// Of more paths, none is remembered: everything is unknown then.
        static let limit = 60_000
    }

    /// The keys that all of them looked at; nil if there was none.
    let seen: KeyRanges?

    /// Those that the manifest tells of.
    static func recorded(in manifest: ManifestStore) async throws(ManifestError) -> LimitedRuns {
        guard let text = try await manifest.setting(Setting.name) else {
            return LimitedRuns(seen: nil)
        }
        let paths = RunPaths(RecordedPaths(text: text).paths, links: .store)
        return LimitedRuns(seen: paths.isLimited ? paths.ranges : KeyRanges([]))
    }

    /// Notes that one begins.
    static func note(_ paths: RunPaths, in manifest: ManifestStore) async throws(ManifestError) {
        let before = try await manifest.setting(Setting.name)
        let common = before.map { paths.common(with: RecordedPaths(text: $0).paths) }
        let text = RecordedPaths(common ?? paths.paths.map(\.bytes)).text
        let kept = text.utf8.count > Setting.limit ? "" : text
        if kept != before { try await manifest.setSetting(Setting.name, kept) }
    }

    /// A plan of the whole mirror was made: what was missing is marked, row by row.
    static func forget(in manifest: ManifestStore) async throws(ManifestError) {
        guard try await manifest.setting(Setting.name) != nil else { return }
        try await manifest.setSetting(Setting.name, nil)
    }
}
