package import ObjectStorage
package import ObjectTransfer

/// Makes the client of a resolved connection.
package enum StoreFactory {
    package static func store(
        _ connection: ResolvedConnection,
        bucket: String,
        connectionLimit: Int,
        monitor: TransferMonitor? = nil,
        observe: @escaping @Sendable (StorageObservation) -> Void
    ) throws(SyncError) -> StorageClient {
        let configuration = StorageConfiguration(
            dialect: connection.dialect,
            endpoint: connection.endpoint,
            bucket: bucket,
            signatureVersion: connection.signature,
            credentials: connection.credentials,
            connectTimeout: connection.retryAndTimeout.connectTimeout,
            stallTimeout: connection.retryAndTimeout.timeout,
            connectionLimit: connectionLimit,
            caFile: connection.caFile,
            proxy: connection.proxy,
            bandwidth: connection.bandwidth,
            userAgent: "osssync/\(OSSSyncVersion.text)",
            retry: connection.retryAndTimeout.retry
        )
        do throws(StorageError) {
            return try StorageClient(
                configuration: configuration,
                environment: SystemClocks.storage(monitor, observe: observe)
            )
        } catch {
            throw SyncError(error)
        }
    }
}
