import SyncModel

@testable import ObjectStorage

extension StorageClient {
    /// Makes a link object, as another tool would.
    func putSymlink(_ key: ObjectKey, target: ObjectKey) async throws(StorageError) {
        var wire = StorageRequest("PutSymlink", .put, key)
        wire.query = [("symlink", "")]
        let text = percentEncode(target.bytes, keepsSlash: false)
        wire.headers = [(dialect.header("symlink-target"), text)]
        let request = wire
        try await repeating { (context) throws(StorageError) in
            _ = try await self.send(request, &context)
        }
    }
}
