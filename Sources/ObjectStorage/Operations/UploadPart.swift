package import SyncModel

extension StorageClient {
    package func uploadPart(
        _ key: ObjectKey,
        _ upload: UploadID,
        _ number: PartNumber,
        body: RequestBody,
        onProgress: @escaping @Sendable (Int) -> Void
    ) async throws(StorageError) -> UploadedPart {
        var wire = partRequest(key, upload, number)
        wire.body = body
        try await addChecksum(to: &wire, of: upload)
        let request = wire
        return try await self.upload(request, onProgress: onProgress) {
            (sent, response) throws(StorageError) in
            var part = UploadedPart(
                number: number,
                size: sent.length,
                etag: try request.etag(response.head),
                crc64: sent.checksum
            )
            part.crc32c = request.partChecksum
            return part
        }
    }

    /// The request for a part, without its body.
    func partRequest(
        _ key: ObjectKey,
        _ upload: UploadID,
        _ number: PartNumber
    ) -> StorageRequest {
        var wire = StorageRequest("UploadPart", .put, key)
        wire.query = [("partNumber", String(number.value)), ("uploadId", upload.text)]
        return wire
    }
}
