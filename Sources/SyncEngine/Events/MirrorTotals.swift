package import SyncModel

/// What a mirror has in all, by its manifest.
package struct MirrorTotals: Sendable, Hashable {
    /// Recorded files, without directories.
    package var files: Int64
    /// Bytes of those.
    package var bytes: Int64
    /// Those that were found damaged and are not repaired.
    package var damagedFiles: Int64
    /// When `verify` last read the last of all files, with a budget in several parts; nil if it
    /// never did.
    package var lastVerification: StoreTime?
}
