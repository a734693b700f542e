package import ObjectStorage
package import SyncModel

/// The parts in which an object is copied, and whether they have its content by what the store says
/// of them.
///
/// 1. A store that computes CRC-64s lists those of the parts, which together are the source's.
/// 2. Elsewhere the parts are those that the source was made of, as far as they are known: then
///    their MD5s give the tag that the source has.
///
/// Not guaranteed: a proof for what the store has encrypted, or for parts that are not known.
package struct PartProof: Sendable {
    package let layout: PartLayout
    private let source: ObjectMetadata
    private let isByChecksum: Bool

    /// Nil for an object that is too large for a copy.
    ///
    /// `size` is what the store has of it, which not every HEAD says, `own` the size of our own
    /// parts, and `preferred` that of a part if those of the source do not matter or are not known.
    package init?(
        of source: ObjectMetadata,
        size: Int64,
        own: Int64,
        preferred: Int64,
        _ dialect: StorageDialect
    ) {
        var stored = source.stored
        stored.size = size
        let known =
            dialect.computesChecksum ? nil : ContentDigest.partSizes(of: stored, own: own).first
        let layout =
            known.flatMap { PartLayout(objectSize: size, recordedPartSize: $0) }
            ?? PartLayout(objectSize: size, preferredPartSize: preferred)
        guard let layout else { return nil }
        (self.layout, self.source, isByChecksum) = (layout, stored, dialect.computesChecksum)
    }

    /// Nil if nothing that is known tells.
    ///
    /// `known` is the checksum of the content: an old object has none.
    package func holds(
        for parts: [UploadedPart],
        of upload: UploadID,
        _ key: ObjectKey,
        in store: LimitedStore,
        known: CRC64?
    ) async -> Bool? {
        guard isByChecksum else { return hasTag(parts) ? true : nil }
        var found = CRC64()
        var count = 0
        // Not every key may list parts.
        try? await store.forEachPart(of: upload, key) { part in
            guard let checksum = part.crc64 else { return false }
            found = found.combined(with: checksum, length: part.size)
            count += 1
            return true
        }
        guard count == parts.count else { return nil }
        return (source.crc64 ?? known).map { $0 == found }
    }

    private func hasTag(_ parts: [UploadedPart]) -> Bool {
        guard let etag = source.etag, !source.isEncrypted else { return false }
        if etag.md5Digest != nil { return parts.count == 1 && parts[0].etag == etag }
        return MultipartETag.tag(ofParts: parts.map(\.etag)) == ETag(wire: etag.text.lowercased())
    }
}
