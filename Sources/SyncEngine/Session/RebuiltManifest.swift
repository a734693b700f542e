internal import ManifestStore
internal import SyncModel

/// A manifest that was lost and made anew does not know what only one side has: a new file of the
/// user's looks like one that is left over.
///
/// Such items are deleted as extra only after the user has confirmed it once, however many runs
/// later.
enum RebuiltManifest {
    private static let setting = "manifest.rebuilt"

    /// Notes that the manifest was rebuilt in this run.
    static func record(in manifest: ManifestStore) async throws(ManifestError) {
        let all: [SyncDirection] = [.pull, .push, .sync]
        let text = all.map(\.rawValue).joined(separator: " ")
        try await manifest.setSetting(setting, text)
    }

    /// True if runs of this direction with this filter must not treat what only one side has as
    /// extra.
    static func isUnconfirmed(
        _ direction: SyncDirection,
        _ filter: FileFilter,
        _ manifest: ManifestStore
    ) async throws(ManifestError) -> Bool {
        let confirmed = confirmed(direction, filter)
        return try await directions(manifest).contains { entry in
            entry != confirmed && isOf(direction, entry)
        }
    }

    /// Notes that a run of this direction deleted all that was extra, or found none; what the
    /// filter hid is not known.
    static func confirm(
        _ direction: SyncDirection,
        _ filter: FileFilter,
        _ manifest: ManifestStore
    ) async throws(ManifestError) {
        var left = try await directions(manifest).filter { !isOf(direction, $0) }
        if !filter.isEmpty { left.append(confirmed(direction, filter)) }
        try await manifest.setSetting(
            setting,
            left.isEmpty ? nil : left.joined(separator: " ")
        )
    }

    /// The setting that records that a direction is confirmed for what this filter includes.
    private static func confirmed(_ direction: SyncDirection, _ filter: FileFilter) -> String {
        "\(direction.rawValue)=" + String(CRC64(of: filter.text).value, radix: 16)
    }

    private static func isOf(_ direction: SyncDirection, _ entry: String) -> Bool {
        entry == direction.rawValue || entry.hasPrefix(direction.rawValue + "=")
    }

    private static func directions(
        _ manifest: ManifestStore
    ) async throws(ManifestError) -> [String] {
        let text = try await manifest.setting(setting) ?? ""
        return text.split(separator: " ").map { String($0) }
    }
}
