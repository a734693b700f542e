package import SyncModel

/// A part that the server has.
package struct UploadedPart: Sendable, Hashable {
    package let number: PartNumber
    package let size: Int64
    package let etag: ETag
    /// Nil if it is not known.
    package let crc64: CRC64?

    package init(number: PartNumber, size: Int64, etag: ETag, crc64: CRC64?) {
        self.number = number
        self.size = size
        self.etag = etag
        self.crc64 = crc64
    }
}

extension StorageClient {
    package func uploadPart(
        _ key: ObjectKey,
        _ upload: UploadID,
        _ number: PartNumber,
        body: RequestBody,
        onProgress: @escaping @Sendable (Int) -> Void
    ) async throws(StorageError) -> UploadedPart {
        var wire = StorageRequest("UploadPart", .put, key)
        wire.query = [("partNumber", String(number.value)), ("uploadId", upload.text)]
        wire.body = body
        let request = wire
        return try await self.upload(request, tagIsDigest: true, onProgress: onProgress) {
            (sent, response) throws(StorageError) in
            UploadedPart(
                number: number,
                size: sent.length,
                etag: try request.etag(response.head),
                crc64: sent.checksum
            )
        }
    }
}
