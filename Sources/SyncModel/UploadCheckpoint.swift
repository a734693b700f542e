/// What is known of one unfinished multipart upload.
package struct UploadCheckpoint: Sendable, Hashable {
    /// Relative to the remote's prefix.
    package let key: ObjectKey
    /// Nil until the service has answered: the row is older than the upload it stands for.
    package let uploadID: UploadID?
    package let partSize: Int64
    /// The file as it was when the upload began.
    package let source: FileIdentity
    /// The mark in the object's metadata by which a lost answer is settled; it names this upload
    /// among those of the same key.
    package let token: String
    package let started: Timestamp
    /// By ascending number.
    package let parts: [UploadPartCheckpoint]

    package init(
        key: ObjectKey,
        uploadID: UploadID?,
        partSize: Int64,
        source: FileIdentity,
        token: String,
        started: Timestamp,
        parts: [UploadPartCheckpoint]
    ) {
        self.key = key
        self.uploadID = uploadID
        self.partSize = partSize
        self.source = source
        self.token = token
        self.started = started
        self.parts = parts
    }
}

/// One part that the service has confirmed.
package struct UploadPartCheckpoint: Sendable, Hashable {
    package let number: PartNumber
    package let size: Int64
    package let etag: ETag
    /// Of the bytes that were sent; nil if it was not computed.
    package let crc64: CRC64?

    package init(number: PartNumber, size: Int64, etag: ETag, crc64: CRC64?) {
        self.number = number
        self.size = size
        self.etag = etag
        self.crc64 = crc64
    }
}
