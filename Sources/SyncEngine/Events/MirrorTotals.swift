public import SyncModel

/// What a mirror has in all, by its manifest.
public struct MirrorTotals: Sendable, Hashable {
    /// Recorded files, without directories.
    public var files: Int64
    /// Bytes of those.
    public var bytes: Int64
    /// Those that were found damaged and are not repaired.
    public var damagedFiles: Int64
    /// When `verify` last read the last of all files, with a budget in several parts; nil if it
    /// never did.
    public var lastVerification: StoreTime?
}
