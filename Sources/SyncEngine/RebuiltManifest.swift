internal import ManifestStore
internal import SyncModel

/// A manifest that was lost and made anew does not know what only one side has: a new file of the
/// user's looks like one that is left over.
///
/// Such items are deleted as extra only after the user has said so once, whatever number of runs
/// later.
enum RebuiltManifest {
    private static let setting = "manifest.rebuilt"

    /// Notes that the manifest was rebuilt in this run.
    static func record(in manifest: ManifestStore) async throws(ManifestError) {
        let all: [SyncDirection] = [.pull, .push, .sync]
        let text = all.map(\.rawValue).joined(separator: " ")
        try await manifest.setSetting(setting, text)
    }

    /// True if what only one side has may not be taken for extra by runs of this direction.
    static func isUnconfirmed(
        _ direction: SyncDirection,
        _ manifest: ManifestStore
    ) async throws(ManifestError) -> Bool {
        try await directions(manifest).contains(direction.rawValue)
    }

    /// Notes that a run of this direction deleted all that was extra, or found none.
    static func confirm(
        _ direction: SyncDirection,
        _ manifest: ManifestStore
    ) async throws(ManifestError) {
        let left = try await directions(manifest).filter { $0 != direction.rawValue }
        try await manifest.setSetting(
            setting,
            left.isEmpty ? nil : left.joined(separator: " ")
        )
    }

    private static func directions(
        _ manifest: ManifestStore
    ) async throws(ManifestError) -> [String] {
        let text = try await manifest.setting(setting) ?? ""
        return text.split(separator: " ").map { String($0) }
    }
}
