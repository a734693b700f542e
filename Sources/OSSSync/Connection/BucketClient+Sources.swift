internal import OSSTransfer
internal import ObjectTransfer

extension BucketClient {
    /// Makes a client from configuration; no request is made.
    ///
    /// - Parameters:
    ///   - remote: The bucket, and the prefix that listings begin with.
    ///   - sources: Where the connection is configured.
    ///   - connectionLimit: The largest number of requests in flight.
    /// - Throws: `SyncError` of code `configuration`.
    public init(
        remote: Remote,
        sources: ConfigurationSources,
        connectionLimit: Int = 4
    ) throws(SyncError) {
        try self.init(
            remote: remote,
            connection: try ResolvedConnection(remote, link: nil, sources: sources),
            connectionLimit: connectionLimit
        )
    }
}
