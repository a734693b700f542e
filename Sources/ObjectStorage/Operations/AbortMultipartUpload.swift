package import SyncModel

extension StorageClient {
    package func abortMultipartUpload(
        _ key: ObjectKey,
        _ upload: UploadID
    ) async throws(StorageError) {
        var wire = StorageRequest("AbortMultipartUpload", .delete, key)
        wire.query = [("uploadId", upload.text)]
        let request = wire
        try await repeating { (context) throws(StorageError) in
            do throws(StorageError) {
                _ = try await self.send(request, &context)
            } catch {
                guard error.isNoSuchUpload else { throw error }
            }
        }
        partChecksums.remove(upload)
    }
}
