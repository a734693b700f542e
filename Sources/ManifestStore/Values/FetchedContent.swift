package import SyncModel

/// What an object contains, as a run found by fetching it, where the store does not tell.
///
/// Kept so that a conflict that stays costs one fetch and not one in each run.
package struct FetchedContent: Sendable, Hashable {
    package let key: ObjectKey
    package let size: Int64
    package let etag: ETag
    package let crc64: CRC64

    package init(key: ObjectKey, size: Int64, etag: ETag, crc64: CRC64) {
        self.key = key
        self.size = size
        self.etag = etag
        self.crc64 = crc64
    }
}
