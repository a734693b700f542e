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
        key: try fields.key(),
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
        key: try fields.key(),
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
        lastModified: fields.values[.lastModified].flatMap { Timestamp(extendedText: $0) }
    )
}

/// Decodes the answer to GetBucketVersioning.
package func decodeVersioning(_ bytes: [UInt8]) throws(XMLFailure) -> VersioningStatus {
    let fields = try decodeFields(bytes, .versioningConfiguration, style: .strict)
    let text = fields.values[.status] ?? ""
    guard let status = VersioningStatus(rawValue: text) else {
        throw .invalid(element: "Status", value: text)
    }
    return status
}

/// Decodes the answer to GetBucketLocation: a region such as `cn-hangzhou`, without the `oss-` that
/// OSS puts before it; nil for S3's oldest region, which has no name here.
package func decodeLocation(_ bytes: [UInt8]) throws(XMLFailure) -> String? {
    let fields = try decodeFields(bytes, .locationConstraint, style: .strict)
    guard let text = fields.rootText, !text.isEmpty else { return nil }
    return text.hasPrefix("oss-") ? String(text.dropFirst(4)) : text
}

/// Decodes the answer to GetBucketInfo.
package func decodeBucketInfo(_ bytes: [UInt8]) throws(XMLFailure) -> BucketInfo {
    let values = try decodeXML(bytes, BucketInfoDecoder())
    let versioning = values[.versioning] ?? ""
    guard let status = VersioningStatus(rawValue: versioning) else {
        throw .invalid(element: "Versioning", value: versioning)
    }
    return BucketInfo(
        name: try require(values[.name], .name),
        location: try require(values[.location], .location),
        created: values[.creationDate].flatMap { Timestamp(extendedText: $0) },
        extranetEndpoint: values[.extranetEndpoint],
        intranetEndpoint: values[.intranetEndpoint],
        storageClass: values[.storageClass].map(StorageClass.init(name:)),
        versioning: status
    )
}

private struct BucketInfoDecoder: XMLDecoder {
    let root = XMLElement.bucketInfo
    private var values: [XMLElement: String] = [:]

    mutating func close(_ field: XMLField) throws(XMLFailure) {
        guard field.isLeaf, !field.bytes.isEmpty else { return }
        if field.parent == .bucket, field.element != .unknown {
            try setOnce(&values[field.element], field.text, field.element)
        }
    }

    func value() throws(XMLFailure) -> [XMLElement: String] { values }
}
