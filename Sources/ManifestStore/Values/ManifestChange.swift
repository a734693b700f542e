package import SyncModel

/// One change of what the manifest believes; those of one call happen together or not at all.
package enum ManifestChange: Sendable, Hashable {
    case upsert(ManifestEntry)
    case forget(ObjectKey)
    /// Drops the key's download checkpoint, if there is one.
    case finishDownload(ObjectKey)
    /// Drops the key's upload checkpoint, if there is one.
    case finishUpload(ObjectKey)
}
