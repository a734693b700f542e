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
    ) throws(TransferError) -> StorageClient {
        var network = connection.network
        network.connectionLimit = connectionLimit
        let configuration = StorageConfiguration(
            dialect: connection.dialect,
            endpoint: connection.endpoint,
            bucket: bucket,
            signatureVersion: connection.signature,
            credentials: connection.credentials,
            network: network
        )
        do throws(StorageError) {
            return try StorageClient(
                configuration: configuration,
                environment: SystemClocks.storage(monitor, observe: observe)
            )
        } catch {
            throw TransferError(error)
        }
    }
}
