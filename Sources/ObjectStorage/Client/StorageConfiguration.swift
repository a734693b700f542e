/// Which bucket a client talks to, and how.
package struct StorageConfiguration: Sendable {
    package var dialect: StorageDialect
    package var endpoint: Endpoint
    package var bucket: String
    package var signatureVersion: SignatureVersion
    package var credentials: any CredentialsProvider
    package var network: NetworkSettings
    /// Signed addresses of one object, which are sent as they are: nothing is signed then.
    package var urls: PresignedURLSource?
    /// Signs each request elsewhere: nothing is signed here then, either.
    package var signing: RequestSigning?

    package init(
        dialect: StorageDialect,
        endpoint: Endpoint,
        bucket: String,
        signatureVersion: SignatureVersion = .v4,
        credentials: any CredentialsProvider,
        network: NetworkSettings
    ) {
        self.dialect = dialect
        self.endpoint = endpoint
        self.bucket = bucket
        self.signatureVersion = signatureVersion
        self.credentials = credentials
        self.network = network
    }
}
