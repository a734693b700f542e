package import SyncModel

/// A part whose content is a range of an object of the same bucket.
///
/// OSS copies the whole source if the range exceeds it, so the range must lie within.
package struct PartCopyRequest: Sendable {
    package var source: ObjectKey
    package var sourceETag: ETag?
    /// The version that is copied; nil for the current one.
    package var sourceVersion: VersionID?
    package var sourceRange: ByteRange
    package var destination: ObjectKey
    package var upload: UploadID
    package var number: PartNumber
    /// The part can be sent as well: a copy that does not succeed is not asked for again.
    package var isOptional = false

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

extension StorageClient {
    package func uploadPartCopy(
        _ request: PartCopyRequest
    ) async throws(StorageError) -> UploadedPart {
        var wire = StorageRequest("UploadPartCopy", .put, request.destination)
        wire.query = [
            ("partNumber", String(request.number.value)), ("uploadId", request.upload.text),
        ]
        guard !request.sourceRange.isEmpty else {
            throw wire.failure(.invalidRequest("a part has at least a byte"))
        }
        wire.headers = sourceHeaders(request.source, request.sourceETag, request.sourceVersion)
        wire.headers.append((dialect.header("copy-source-range"), request.sourceRange.headerValue))
        wire.isSlow = !request.isOptional || request.sourceRange.length > 64 << 20
        let copying = wire
        return try await repeating(isRepeatable: !request.isOptional) {
            (context) throws(StorageError) in
            let response = try await self.send(copying, &context)
            let document = try copying.decoding(response, self) { (body) throws(XMLFailure) in
                try decodeCopyPart(body)
            }
            return UploadedPart(
                number: request.number,
                size: request.sourceRange.length,
                etag: document.etag,
                crc64: self.dialect.checksum(response.head)
            )
        }
    }
}
