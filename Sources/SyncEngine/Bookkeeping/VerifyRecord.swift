internal import ManifestStore
internal import SyncModel

/// Where `verify` stopped, and when it last came to the end, in the manifest; what it found damaged
/// is marked in the rows.
enum VerifyRecord {
    private static let position = "verify.position"
    private static let completed = "verify.completed"

    /// Notes that the last of all recorded files was read at `time`.
    static func setCompleted(
        _ time: Timestamp,
        in manifest: ManifestStore
    ) async throws(ManifestError) {
        try await manifest.setSetting(completed, String(time.seconds))
    }

    /// When the last of all recorded files was last read; nil if it never was.
    static func completed(_ manifest: ManifestStore) async throws(ManifestError) -> StoreTime? {
        try await manifest.setting(completed).flatMap { Int64($0) }
            .map { StoreTime(secondsSince1970: $0) }
    }

    /// The key of the last file that was verified with a budget; nil to begin with the first.
    static func position(_ manifest: ManifestStore) async throws(ManifestError) -> ObjectKey? {
        guard let text = try await manifest.setting(position) else { return nil }
        return ObjectKey(text.utf8.split(separator: UInt8(ascii: " ")).compactMap(byte))
    }

    static func setPosition(
        _ key: ObjectKey?,
        in manifest: ManifestStore
    ) async throws(ManifestError) {
        let text = key?.bytes.map { String($0, radix: 16) }.joined(separator: " ")
        try await manifest.setSetting(position, text)
    }

    private static func byte(_ digits: Substring.UTF8View) -> UInt8? {
        UInt8(String(Substring(digits)), radix: 16)
    }
}
