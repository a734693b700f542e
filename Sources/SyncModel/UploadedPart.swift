/// A part of a multipart upload that the service has.
package struct UploadedPart: Sendable, Hashable {
    package let number: PartNumber
    /// Bytes.
    package let size: Int64
    package let etag: ETag
    /// Nil if it is not known.
    package var crc64: CRC64?
    /// What the store was told of it, or tells; nil for an upload without these checksums.
    package var crc32c: UInt32?

    package init(number: PartNumber, size: Int64, etag: ETag, crc64: CRC64?) {
        self.number = number
        self.size = size
        self.etag = etag
        self.crc64 = crc64
    }
}
