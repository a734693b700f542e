internal import SyncModel

/// What lies outside of the paths of a limited run, when it begins.
struct Outside {
    var entries: [ObjectKey: DiskEntry] = [:]
    /// All contents in the trash, of whatever path.
    var trash: Set<ContentID> = []
    /// The manifest's rows; nil if it cannot be read.
    var rows: [ObjectKey: ManifestEntry]?
}
