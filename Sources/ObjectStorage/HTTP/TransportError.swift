/// Why an exchange with the server did not end with a whole response.
package enum TransportError: Error, Sendable, Hashable {
    /// The host's name has no address, or no name server answered.
    case dnsFailed
    case connectFailed(reason: String)
    /// The transport cannot make such a request, or not with such settings; nothing was sent.
    case unsendable(reason: String)
    /// The transport would decode the body, so that what is stored cannot be had.
    case encoded(String)
    /// The certificate or the handshake failed; never repeated, never weakened.
    case tlsFailed(reason: String)
    case proxyFailed(reason: String)
    /// The server did not answer within the limit of the whole exchange.
    case timedOut
    /// Fewer bytes than the least acceptable number moved in the watched time.
    case stalled
    /// The connection ended before the response did.
    case connectionLost
    /// The body ended before its announced length.
    case bodyTooShort(received: Int64)
    /// More came than was announced or asked for; nothing of the excess was stored.
    case bodyTooLong
    /// Not HTTP, contradictory lengths, or a head above the limits.
    case malformedResponse(reason: String)
    case cancelled
    /// Reading or writing the local file failed.
    case localIO(errno: Int32, call: String)
    /// The file that was being sent ended before its range did, or is not what it was.
    case sourceChanged

    /// False only if it is certain that no byte of the request reached the server.
    package var mayHaveReachedServer: Bool {
        switch self {
        case .dnsFailed, .connectFailed, .unsendable, .tlsFailed, .proxyFailed: false
        case .encoded, .timedOut, .stalled, .connectionLost, .bodyTooShort, .bodyTooLong,
            .malformedResponse, .cancelled, .localIO, .sourceChanged:
            true
        }
    }

    /// A clause that follows "…: " in a message; holds no secret.
    package var message: String {
        switch self {
        case .dnsFailed: "the host's name could not be resolved"
        case .connectFailed(let reason): "the connection could not be made (\(reason))"
        case .unsendable(let reason): reason
        case .encoded(let name):
            "the object is stored with Content-Encoding '\(name)', which URLSession decodes"
        case .tlsFailed(let reason): "the server's TLS certificate or handshake failed (\(reason))"
        case .proxyFailed(let reason): "the proxy failed (\(reason))"
        case .timedOut: "the server did not answer in time"
        case .stalled: "the connection stalled"
        case .connectionLost: "the connection was lost"
        case .bodyTooShort(let received): "the response ended early, after \(received) bytes"
        case .bodyTooLong: "the server sent more than was asked for"
        case .malformedResponse(let reason): "the response is malformed (\(reason))"
        case .cancelled: "cancelled"
        case .localIO(let errno, let call): "\(call) of the local file failed with error \(errno)"
        case .sourceChanged: "the file changed while it was sent"
        }
    }
}
