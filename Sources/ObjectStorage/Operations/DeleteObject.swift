package import SyncModel

extension StorageClient {
    package func delete(
        _ key: ObjectKey,
        versionID: VersionID?
    ) async throws(StorageError) {
        var wire = StorageRequest("DeleteObject", .delete, key)
        if let versionID { wire.query.append(("versionId", versionID.text)) }
        let request = wire
        try await repeating { (context) throws(StorageError) in
            do throws(StorageError) {
                _ = try await self.send(request, &context)
            } catch {
                guard error.isNotFound else { throw error }
            }
        }
    }
}
