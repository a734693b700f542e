internal import OSSTransfer
internal import ObjectTransfer

extension BucketClient {
    /// Makes a client from configuration; no request is made.
    ///
    /// - Parameters:
    ///   - bucket: The bucket's name.
    ///   - dialect: The protocol: OSS unless specified otherwise.
    ///   - sources: Where the connection is configured.
    ///   - connectionLimit: The largest number of requests in flight.
    /// - Throws: `SyncError` of code `configuration`.
    public init(
        _ bucket: String,
        dialect: StoreDialect = .oss,
        sources: ConfigurationSources,
        connectionLimit: Int = 4
    ) throws(SyncError) {
        try self.init(
            bucket,
            dialect: dialect,
            connection: try ResolvedConnection(
                BucketLocation(dialect: dialect, bucket: bucket, prefix: ""),
                link: nil,
                sources: sources
            ),
            connectionLimit: connectionLimit
        )
    }
}
