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

extension StorageClient {
    package func listMultipartUploads(
        _ request: ListUploadsRequest
    ) async throws(StorageError) -> ListUploadsPage {
        var wire = StorageRequest("ListMultipartUploads", .get, nil)
        wire.query = [("uploads", "")]
        if !request.prefix.isEmpty { wire.query.append(("prefix", request.prefix.queryText)) }
        if let marker = request.marker {
            wire.query.append(("key-marker", marker.key.queryText))
            if let upload = marker.upload {
                wire.query.append(("upload-id-marker", upload.text))
            }
        }
        wire.query.append(("max-uploads", String(request.maximumUploads)))
        wire.query.append(("encoding-type", "url"))
        let listing = wire
        return try await repeating { (context) throws(StorageError) in
            let response = try await self.send(listing, &context)
            let page = try listing.decoding(response, self) { (body) throws(XMLFailure) in
                try decodeListUploads(body, style: self.keyEncoding(of: body))
            }
            if page.next != nil, page.next == request.marker {
                throw listing.failure(
                    .protocolViolation("the listing of uploads does not advance")
                )
            }
            return page
        }
    }
}
