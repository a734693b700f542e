/// Whether a bucket keeps the versions of its objects.
package enum VersioningStatus: String, Sendable, Hashable {
    case enabled = "Enabled"
    case suspended = "Suspended"
    /// Versions were never kept.
    case never = ""
}

extension StorageClient {
    package func versioningStatus() async throws(StorageError) -> VersioningStatus {
        var wire = StorageRequest("GetBucketVersioning", .get, nil)
        wire.query = [("versioning", "")]
        let request = wire
        return try await repeating { (context) throws(StorageError) in
            let response = try await self.send(request, &context)
            return try request.decoding(response, self) { (body) throws(XMLFailure) in
                try decodeVersioning(body)
            }
        }
    }
}
