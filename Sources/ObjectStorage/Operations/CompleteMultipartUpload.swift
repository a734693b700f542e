package import SyncModel

package struct CompleteRequest: Sendable {
    package var key: ObjectKey
    package var upload: UploadID
    /// By ascending number.
    package var parts: [UploadedPart]
    package var forbidsOverwrite: Bool
    package var callback: UploadCallback?

    package init(
        key: ObjectKey,
        upload: UploadID,
        parts: [UploadedPart],
        forbidsOverwrite: Bool = false,
        callback: UploadCallback? = nil
    ) {
        self.key = key
        self.upload = upload
        self.parts = parts
        self.forbidsOverwrite = forbidsOverwrite
        self.callback = callback
    }
}
