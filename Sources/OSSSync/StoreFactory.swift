internal import ObjectStorage
internal import SyncEngine

/// Makes the client of a resolved connection.
enum StoreFactory {
    private static let connectTimeout = Duration.seconds(10)
    private static let stallTimeout = Duration.seconds(30)
    private static let retry = RetryPolicy(
        attempts: 8,
        base: .milliseconds(200),
        throttleBase: .seconds(1),
        cap: .seconds(20),
        retryAfterCap: .seconds(120),
        runBudget: 1_000
    )

    static func store(
        _ connection: ResolvedConnection,
        bucket: String,
        connectionLimit: Int,
        observe: @escaping @Sendable (StorageObservation) -> Void
    ) throws(SyncError) -> StorageClient {
        let configuration = StorageConfiguration(
            dialect: connection.dialect,
            endpoint: connection.endpoint,
            bucket: bucket,
            signatureVersion: connection.signature,
            credentials: connection.credentials,
            connectTimeout: connectTimeout,
            stallTimeout: stallTimeout,
            connectionLimit: connectionLimit,
            caFile: connection.caFile,
            proxy: connection.proxy,
            userAgent: "osssync/\(Version.text)",
            retry: retry
        )
        do throws(StorageError) {
            return try StorageClient(
                configuration: configuration,
                environment: SystemClocks.storage(observe: observe)
            )
        } catch {
            throw SyncError(error)
        }
    }
}
