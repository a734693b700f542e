package import SyncModel

extension StorageClient {
    package func restore(
        _ key: ObjectKey,
        days: Int,
        tier: String?
    ) async throws(StorageError) {
        var wire = StorageRequest("RestoreObject", .post, key)
        wire.query = [("restore", "")]
        wire.headers = [("content-type", "application/xml")]
        wire.body = .bytes(encodeRestore(days: days, tier: tier, style: dialect.restore))
        let request = wire
        try await repeating { (context) throws(StorageError) in
            do throws(StorageError) {
                _ = try await self.send(request, &context)
            } catch {
                guard error.serviceCode == "RestoreAlreadyInProgress" else { throw error }
            }
        }
    }
}
