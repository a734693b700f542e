package import SyncModel

/// A part whose content is a range of an object of the same bucket.
///
/// OSS copies the whole source if the range exceeds it, so the range must lie within.
package struct PartCopyRequest: Sendable {
    package var source: ObjectKey
    package var sourceETag: ETag?
    package var sourceRange: ByteRange
    package var destination: ObjectKey
    package var upload: UploadID
    package var number: PartNumber

    package init(
        source: ObjectKey,
        sourceETag: ETag? = nil,
        sourceRange: ByteRange,
        destination: ObjectKey,
        upload: UploadID,
        number: PartNumber
    ) {
        self.source = source
        self.sourceETag = sourceETag
        self.sourceRange = sourceRange
        self.destination = destination
        self.upload = upload
        self.number = number
    }
}
