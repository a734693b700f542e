package import SyncModel

extension StorageClient {
    package func presignedURL(
        method: HTTPMethod,
        key: ObjectKey,
        query: [(String, String)],
        headers: [(String, String)],
        expires: Duration
    ) async throws(StorageError) -> String {
        var request = StorageRequest("PresignURL", method, key)
        request.query = query
        request.headers = headers
        return try await presign(request, seconds: expires.components.seconds)
    }
}
