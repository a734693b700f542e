/// What is known of one unfinished multipart upload.
package struct UploadCheckpoint: Sendable, Hashable {
    package static let tokenLength = 26

    /// Relative to the remote's prefix.
    package var key: ObjectKey
    /// Nil until the service has answered: the row is older than the upload it stands for.
    package var uploadID: UploadID?
    package let partSize: Int64
    /// The file as it was when the upload began.
    package let source: FileIdentity
    /// The token in the object's metadata that identifies this upload after a lost response.
    package let token: String
    package let started: Timestamp
    /// By ascending number.
    package var parts: [UploadedPart]

    package init(
        key: ObjectKey,
        uploadID: UploadID?,
        partSize: Int64,
        source: FileIdentity,
        token: String,
        started: Timestamp,
        parts: [UploadedPart]
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
