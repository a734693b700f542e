package import SyncModel

package typealias ListUploadsRequest = MarkedListRequest<UploadID>
/// Uploads by key, and of one key by their start.
package typealias ListUploadsPage = MarkedPage<MultipartUpload, UploadID>

/// An upload that was neither completed nor aborted.
package struct MultipartUpload: Sendable, Hashable {
    package let key: ObjectKey
    package let upload: UploadID
    package let initiated: Timestamp?
}

extension StorageClient {
    package func listMultipartUploads(
        _ request: ListUploadsRequest
    ) async throws(StorageError) -> ListUploadsPage {
        try await list(
            "ListMultipartUploads",
            "uploads",
            request,
            markedBy: "upload-id-marker",
            limit: "max-uploads",
            decodeListUploads
        )
    }
}

/// Decodes a page of ListMultipartUploads; `style` is the dialect's.
package func decodeListUploads(
    _ bytes: [UInt8],
    style: PercentEncodingStyle
) throws(XMLFailure) -> ListUploadsPage {
    let page = try decodeFields(bytes, .listMultipartUploadsResult, [.upload], style: style)
    return try MarkedPage(
        page,
        // rclone's server leaves it out; what is missing from this listing is only not cleaned up.
        isTruncated: page.boolean(.isTruncated) ?? false,
        nextID: .nextUploadIDMarker
    ) { (fields) throws(XMLFailure) in
        MultipartUpload(
            key: try fields.key(),
            upload: try fields.uploadID(),
            initiated: fields.time(.initiated)
        )
    }
}
