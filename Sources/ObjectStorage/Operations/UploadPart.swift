package import SyncModel

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
        return try await self.upload(request, onProgress: onProgress) {
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
