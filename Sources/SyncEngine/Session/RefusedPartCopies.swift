internal import ManifestStore
internal import SyncModel

/// Stores that do not copy parts of an object, or make something else of them, as SeaweedFS does.
///
/// Found out by meeting one, as ``ShortenedMarkers``: each upload would ask for some copies before
/// it sends all. After a month it is asked again, because a store gets newer.
enum RefusedPartCopies {
    private static let setting = "remote.refuses-part-copies"
    private static let secondsOfTrust: Int64 = 30 * 86_400
    /// What another store does is not known.
    static let forgotten: (name: String, value: String?) = (setting, nil)

    static func areKnown(to manifest: ManifestStore, _ now: Timestamp) async -> Bool {
        // Without it the store is asked.
        guard let value = try? await manifest.setting(setting), let time = Int64(value) else {
            return false
        }
        return (0..<secondsOfTrust).contains(now.seconds - time)
    }

    static func record(in manifest: ManifestStore, _ now: Timestamp) async {
        // Without it the next run finds out again.
        try? await manifest.setSetting(setting, String(now.seconds))
    }
}
