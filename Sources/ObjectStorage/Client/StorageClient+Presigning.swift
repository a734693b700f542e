extension StorageClient {
    /// The query parameters that make an address of `request`.
    func presign(
        _ request: StorageRequest,
        seconds: Int64
    ) async throws(StorageError) -> String {
        try request.validate(dialect)
        let credentials = try await credentials(for: request)
        let longest =
            credentials.securityToken == nil
            ? V4Signer.maximumLifetime : V4Signer.maximumTemporaryLifetime
        guard (1...longest).contains(seconds) else {
            throw request.failure(
                .invalidRequest("an address is valid for 1 to \(longest) seconds")
            )
        }
        let endpoint = endpoint
        var signed = signable(request, at: endpoint)
        let time = clock.read().time
        switch configuration.signatureVersion {
        case .v1:
            signed.query += V1Signer().presign(
                signed,
                credentials: credentials,
                time: time,
                expiresInSeconds: seconds
            )
        case .v4:
            signed.query += signer.presign(
                signed,
                credentials: credentials,
                region: try known(endpoint.region, for: request),
                time: time,
                expiresInSeconds: seconds
            )
        }
        return endpoint.origin(bucket: configuration.bucket)
            + signed.target(keepsEmptyValues: dialect.signature.keepsEmptyValues)
    }
}
