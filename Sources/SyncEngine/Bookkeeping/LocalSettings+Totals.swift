internal import LocalStorage
internal import ManifestStore
package import ObjectTransfer

extension LocalSettings {
    /// What the mirror has in all; nil if there was no run yet, and for a mirror in shards.
    ///
    /// Takes no lock and changes nothing.
    package func totals() async throws(SyncError) -> MirrorTotals? {
        do {
            guard let manifest = try await readableManifest() else { return nil }
            let totals = try await manifest.totals()
            return MirrorTotals(
                files: totals.files,
                bytes: totals.bytes,
                damagedFiles: totals.damagedFiles,
                lastVerification: try await VerifyRecord.completed(manifest)
            )
        } catch {
            throw SyncError(any: error)
        }
    }
}
