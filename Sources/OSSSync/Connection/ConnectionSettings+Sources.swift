internal import ObjectStorage

extension ConnectionSettings {
    /// How the host of a signed URL is reached: as the options say, over the environment's proxy.
    ///
    /// Configuration files and credentials are ignored: the URL contains the address and the
    /// permission.
    ///
    /// - Parameters:
    ///   - url: A whole URL.
    ///   - sources: Where the connection is configured.
    ///   - connectionLimit: The largest number of requests in flight.
    /// - Throws: `TransferError` of code `configuration` for what is not the URL of a host.
    package init(
        to url: String,
        sources: ConfigurationSources,
        connectionLimit: Int
    ) throws(TransferError) {
        let endpoint: Endpoint
        do throws(EndpointError) {
            endpoint = try PresignedURL(parsing: url).endpoint
        } catch {
            throw TransferError(code: .configuration, message: "not a signed URL: \(error.message)")
        }
        self.init()
        self.connectionLimit = connectionLimit
        if let timeout = sources.options.timeout { stallTimeout = timeout }
        if let retries = sources.options.retries { self.retries = retries }
        if let pause = sources.options.retryWait { longestRetryPause = pause }
        monitor = sources.onRetry.map { TransferMonitor(onRetry: $0) }
        allowsInsecureHTTP = sources.options.allowsInsecureHTTP
        #if SystemLibraries
        caFile = sources.options.caFile
        proxy = ResolvedConnection.proxy(for: endpoint, bucket: nil, sources.environment)
        #endif
    }
}
