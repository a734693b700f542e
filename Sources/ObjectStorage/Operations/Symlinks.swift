package import SyncModel

extension StorageClient {
    package func symlinkTarget(_ key: ObjectKey) async throws(StorageError) -> ObjectKey {
        var wire = StorageRequest("GetSymlink", .get, key)
        wire.query = [("symlink", "")]
        let request = wire
        return try await repeating { (context) throws(StorageError) in
            let head = try await self.send(request, &context).head
            guard let text = head[self.dialect.headerPrefix, "symlink-target"],
                let target = percentDecode([UInt8](text.utf8), style: .strict), !target.isEmpty
            else {
                throw request.failure(
                    .protocolViolation("the answer names no target"),
                    head: head
                )
            }
            return ObjectKey(target)
        }
    }
}
