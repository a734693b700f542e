internal import SyncModel

extension StorageClient {
    /// A client of signed addresses: it signs nothing, and sends nothing but GET and HEAD of the
    /// one object that they are of.
    ///
    /// - Parameters:
    ///   - urls: The URLs, which are sent unchanged.
    ///   - first: The first of them; requests are sent only to its host.
    ///   - network: How the host is reached.
    ///   - environment: Clock and random numbers.
    /// - Throws: If the transport could not be started.
    package convenience init(
        urls: PresignedURLSource,
        first: PresignedURL,
        network: NetworkSettings,
        environment: StorageEnvironment
    ) throws(StorageError) {
        var configuration = StorageConfiguration(
            withoutKeys: first.dialect,
            endpoint: first.endpoint,
            network: network
        )
        configuration.urls = urls
        try self.init(configuration: configuration, environment: environment)
    }
}

extension StorageConfiguration {
    /// Of a client that has no keys.
    init(withoutKeys dialect: StorageDialect, endpoint: Endpoint, network: NetworkSettings) {
        self.init(
            dialect: dialect,
            endpoint: endpoint,
            bucket: "",
            credentials: NoCredentials(),
            network: network
        )
    }
}

/// What signs nothing has no keys.
private struct NoCredentials: CredentialsProvider {
    let name = "signed addresses"

    func credentials() async throws(CredentialsError) -> Credentials {
        throw .absent(source: name)
    }
}

// MARK: - Headers by GET

extension StorageClient {
    /// The headers of an object for which only an address for GET is there: those of its first
    /// byte.
    ///
    /// An address for GET does not allow HEAD, because the method is part of the signature.
    func headByReading(_ key: ObjectKey) async throws(StorageError) -> ObjectMetadata {
        do throws(StorageError) {
            return try await headByReading(key, range: ByteRange(offset: 0, length: 1))
        } catch {
            // An empty object has no first byte.
            guard error.isRangeNotSatisfiable else { throw error }
            return try await headByReading(key, range: nil)
        }
    }

    private func headByReading(
        _ key: ObjectKey,
        range: ByteRange?
    ) async throws(StorageError) -> ObjectMetadata {
        var wire = StorageRequest("GetObject", .get, key)
        if let range { wire.headers.append(("range", range.headerValue)) }
        let request = wire
        return try await repeating { (context) throws(StorageError) in
            let response = try await self.send(request, &context) { head in
                // A server that does not know ranges would send all of it.
                head.contentLength.map { $0 <= 1 } == true
                    ? .memory(limit: 1, truncates: false) : .reject
            }
            let part = response.head["content-range"].flatMap(ContentRange.init(headerValue:))
            let whole = response.head.status == 206 ? nil : response.head.contentLength
            guard let size = part?.totalSize ?? whole else {
                throw request.failure(
                    .protocolViolation("the answer does not contain the object's size"),
                    head: response.head
                )
            }
            return ObjectMetadata(response.head, size: size, dialect: self.dialect)
        }
    }
}
