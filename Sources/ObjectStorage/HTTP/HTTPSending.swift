/// Sends requests and receives responses: over the network, by libcurl or by URLSession, or in a
/// simulation of it.
package protocol HTTPSending: Sendable {
    /// Returns when the response is whole, or when nothing of the request is used any more.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse
}

#if SystemLibraries
typealias HTTPTransport = CurlTransport
#else
typealias HTTPTransport = URLSessionTransport
#endif

/// What all requests of a transport have in common.
package struct TransportSettings: Sendable {
    package var connectTimeout: Duration
    /// Idle connections that are kept.
    package var connectionLimit: Int
    /// A file of certificate authorities in PEM form; nil: the system's.
    package var caFile: String?
    /// Nil for none; the environment is not asked.
    package var proxy: String?
    /// What all requests together may move, both ways; nil for no limit.
    package var bandwidth: BandwidthLimit?

    package init(
        connectTimeout: Duration,
        connectionLimit: Int,
        caFile: String?,
        proxy: String?,
        bandwidth: BandwidthLimit? = nil
    ) {
        self.connectTimeout = connectTimeout
        self.connectionLimit = connectionLimit
        self.caFile = caFile
        self.proxy = proxy
        self.bandwidth = bandwidth
    }
}

extension Duration {
    var milliseconds: Int {
        Int(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
