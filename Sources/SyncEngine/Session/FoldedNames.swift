internal import ManifestStore

/// What the manifest knows of keys that are one name on this disk.
///
/// Known from having met one: asking a disk at each start costs files to be made and removed, and
/// Linux has disks that fold names in some directories only.
enum FoldedNames {
    private static let setting = "directory.folds-names"

    static func areKnown(to manifest: ManifestStore) async throws(ManifestError) -> Bool {
        try await manifest.setting(setting) != nil
    }

    /// Lets later runs look for such names before they fetch anything.
    static func record(in manifest: ManifestStore) async {
        // Without it they fetch the content once more, and nothing else.
        try? await manifest.setSetting(setting, "1")
    }
}
