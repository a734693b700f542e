/// What is known of one unfinished download.
///
/// Nothing in it is trusted before it is verified: the bytes of a partial file stand that nobody
/// has touched since it was sealed, in the same boot of the machine, because the page cache
/// survived; others are read back and compared.
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
    package let ranges: [RangeCheckpoint]
    /// The partial file as it was left when the transfer ended in an orderly way; nil after a kill.
    package let seal: FileIdentity?

    package init(
        key: ObjectKey,
        size: Int64,
        etag: ETag,
        crc64: CRC64?,
        partialName: String,
        rangeSize: Int64,
        ranges: [RangeCheckpoint],
        seal: FileIdentity? = nil
    ) {
        self.key = key
        self.size = size
        self.etag = etag
        self.crc64 = crc64
        self.partialName = partialName
        self.rangeSize = rangeSize
        self.ranges = ranges
        self.seal = seal
    }

    /// The same download, this far and not sealed.
    package func replacingRanges(with ranges: [RangeCheckpoint]) -> DownloadCheckpoint {
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

/// How far one range of a download is.
package struct RangeCheckpoint: Sendable, Hashable {
    /// From 0.
    package let index: Int
    /// Where it begins in the object.
    package let offset: Int64
    package let length: Int64
    /// How many of its bytes, from its beginning, are in the partial file.
    package let received: Int64
    /// The checksum of those bytes.
    package let checksum: CRC64
    /// The boot of the machine in which they were written or last read back; each range has its
    /// own, because after a power cut they are verified one after the other.
    package let bootID: String

    package init(
        index: Int,
        offset: Int64,
        length: Int64,
        received: Int64,
        checksum: CRC64,
        bootID: String
    ) {
        self.index = index
        self.offset = offset
        self.length = length
        self.received = received
        self.checksum = checksum
        self.bootID = bootID
    }

    /// The same range, whose bytes were read back in the boot `bootID`.
    package func seen(in bootID: String) -> RangeCheckpoint {
        RangeCheckpoint(
            index: index,
            offset: offset,
            length: length,
            received: received,
            checksum: checksum,
            bootID: bootID
        )
    }
}
