internal import CLibrary
package import ObjectStorage
package import ObjectTransfer
package import SyncModel

/// How a bucket is reached, after every source was asked in its order.
package struct ResolvedConnection: Sendable {
    package let location: StoreLocation
    /// What the sources said of the place.
    package let used: LocationSettings
    package let credentials: any CredentialsProvider
    package let network: NetworkSettings
    private let onRetry: (@Sendable (RetryEvent) -> Void)?

    package var dialect: StorageDialect { location.dialect }
    package var endpoint: Endpoint { location.endpoint }
    package var signature: SignatureVersion { location.signature }

    package init(
        location: StoreLocation,
        used: LocationSettings,
        credentials: any CredentialsProvider,
        network: NetworkSettings,
        onRetry: (@Sendable (RetryEvent) -> Void)?
    ) throws(TransferError) {
        try Self.checkAuthorities(network.caFile)
        self.location = location
        self.used = used
        self.credentials = credentials
        self.network = network
        self.onRetry = onRetry
    }

    /// Uses an app's configuration; reads no files or environment variables.
    package init(
        _ bucket: String,
        _ dialect: StoreDialect,
        _ configuration: StoreConfiguration
    ) throws(TransferError) {
        try configuration.connection.check()
        location = try StoreLocation(
            bucket,
            dialect,
            address: configuration.endpoint,
            region: configuration.region,
            addressing: configuration.addressing.choice,
            provider: dialect == .s3
                ? configuration.provider.flatMap { StoreProvider(rawValue: $0.rawValue) } : nil,
            signature: configuration.signature == .v1 ? .v1 : .v4,
            allowsInsecureHTTP: configuration.connection.allowsInsecureHTTP
        )
        used = LocationSettings(
            endpoint: configuration.endpoint,
            region: configuration.region,
            addressing: nil
        )
        credentials = configuration.credentials.provider
        network = configuration.connection.network
        try Self.checkAuthorities(network.caFile)
        onRetry = nil
    }

    /// Says that a request failed which no run made.
    package func notify(_ notice: RetryNotice, prefix: ObjectKey) {
        onRetry?(RetryEvent(notice, prefix: prefix))
    }

    /// Without this check, an unreadable file would appear as an untrusted server at the first
    /// request.
    package static func checkAuthorities(_ file: String?) throws(TransferError) {
        if let file, unsafe access(file, R_OK) != 0 {
            throw TransferError(
                code: .configuration,
                message: "the certificate authorities '\(displayText(file))' can't be read"
            )
        }
    }
}
