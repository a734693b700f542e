package import SyncModel

package struct ListUploadsRequest: Sendable {
    package var prefix: ObjectKey
    /// Where the page begins: what `next` of the page before said.
    package var marker: UploadMarker?
    package var maximumUploads: Int

    package init(prefix: ObjectKey, marker: UploadMarker? = nil, maximumUploads: Int = 1_000) {
        self.prefix = prefix
        self.marker = marker
        self.maximumUploads = maximumUploads
    }
}

/// A position in a listing of uploads.
package struct UploadMarker: Sendable, Hashable {
    package let key: ObjectKey
    package let upload: UploadID?

    package init(key: ObjectKey, upload: UploadID?) {
        self.key = key
        self.upload = upload
    }
}

/// An upload that was neither completed nor aborted.
package struct MultipartUpload: Sendable, Hashable {
    package let key: ObjectKey
    package let upload: UploadID
    package let initiated: Timestamp?

    package init(key: ObjectKey, upload: UploadID, initiated: Timestamp?) {
        self.key = key
        self.upload = upload
        self.initiated = initiated
    }
}

/// Uploads by key, and of one key by their start.
package struct ListUploadsPage: Sendable {
    package var uploads: [MultipartUpload]
    /// Nil on the last page.
    package var next: UploadMarker?

    package init(uploads: [MultipartUpload], next: UploadMarker?) {
        self.uploads = uploads
        self.next = next
    }
}
