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
