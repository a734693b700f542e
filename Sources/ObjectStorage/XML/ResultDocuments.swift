package import SyncModel

/// The answer to InitiateMultipartUpload.
package struct InitiateUploadDocument: Sendable, Hashable {
    package let key: ObjectKey?
    package let uploadID: UploadID
}

package func decodeInitiateUpload(
    _ bytes: [UInt8],
    style: PercentEncodingStyle
) throws(XMLFailure) -> InitiateUploadDocument {
    let fields: XMLFields
    do throws(XMLFailure) {
        fields = try decodeFields(bytes, .initiateMultipartUploadResult, style: style)
    } catch .wrongRoot(let found, _)
        where found == XMLElement.initiateMultipartUpload.rawValue
    {
        fields = try decodeFields(bytes, .initiateMultipartUpload, style: style)
    } catch {
        throw error
    }
    return InitiateUploadDocument(
        key: try fields.optionalKey(),
        uploadID: try fields.uploadID()
    )
}

/// The answer to CompleteMultipartUpload.
package struct CompleteUploadDocument: Sendable, Hashable {
    package let key: ObjectKey?
    package let etag: ETag
}

/// Decodes the answer to CompleteMultipartUpload, which may be an error in spite of status 200.
package func decodeCompleteUpload(
    _ bytes: [UInt8],
    style: PercentEncodingStyle
) throws(XMLFailure) -> CompleteUploadDocument {
    let fields = try decodeFields(bytes, .completeMultipartUploadResult, style: style)
    return CompleteUploadDocument(
        key: try fields.optionalKey(),
        etag: try fields.etag()
    )
}

/// The answer to CopyObject or UploadPartCopy.
package struct CopyDocument: Sendable, Hashable {
    package let etag: ETag
    package let lastModified: Timestamp?
}

package func decodeCopyObject(_ bytes: [UInt8]) throws(XMLFailure) -> CopyDocument {
    try decodeCopy(bytes, .copyObjectResult)
}

package func decodeCopyPart(_ bytes: [UInt8]) throws(XMLFailure) -> CopyDocument {
    try decodeCopy(bytes, .copyPartResult)
}

private func decodeCopy(_ bytes: [UInt8], _ root: XMLElement) throws(XMLFailure) -> CopyDocument {
    let fields = try decodeFields(bytes, root, style: .strict)
    return CopyDocument(
        etag: try fields.etag(),
        lastModified: fields.time(.lastModified)
    )
}
