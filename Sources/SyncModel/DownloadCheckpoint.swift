/// What is known of one unfinished download.
///
/// Nothing in it is trusted before it is verified: the bytes of a partial file that has not been
/// touched since it was sealed, in the same boot, are kept because the page cache survived; others
/// are read back and compared.
package struct DownloadCheckpoint: Sendable, Hashable {
    /// Relative to the remote's prefix.
    package let key: ObjectKey
    /// Bytes of the object.
    package let size: Int64
    /// The version that is being fetched.
    package let etag: ETag
    /// The store's checksum of the whole object, nil if it gave none.
    package let crc64: CRC64?
    /// The name of the partial file; it names this download among those of the same key.
    package let partialName: String
    /// The size of every range but the last.
    package let rangeSize: Int64
    /// By ascending index; a range without a byte may be missing.
    package var ranges: [RangeProgress]
    /// The partial file as it was left when the transfer ended in an orderly way; nil after a kill.
    package var seal: FileIdentity?

    package init(
        key: ObjectKey,
        size: Int64,
        etag: ETag,
        crc64: CRC64?,
        partialName: String,
        rangeSize: Int64,
        ranges: [RangeProgress]
    ) {
        self.key = key
        self.size = size
        self.etag = etag
        self.crc64 = crc64
        self.partialName = partialName
        self.rangeSize = rangeSize
        self.ranges = ranges
    }

    /// The same download, this far and not sealed.
    package func replacingRanges(with ranges: [RangeProgress]) -> DownloadCheckpoint {
        DownloadCheckpoint(
            key: key,
            size: size,
            etag: etag,
            crc64: crc64,
            partialName: partialName,
            rangeSize: rangeSize,
            ranges: ranges
        )
    }
}
