#if SystemLibraries
internal import CCurl

extension TransportError {
    /// The same error of a connection to a proxy, while the proxy was asked for the connection to
    /// the server.
    var ofProxy: TransportError {
        switch self {
        case .malformedResponse(let reason):
            .proxyFailed(reason: "its answer to CONNECT is malformed: \(reason)")
        case .connectionLost, .bodyTooShort:
            .connectFailed(reason: "the proxy ended the connection")
        default: self
        }
    }
}

/// What the result of a transfer means to us.
///
/// `detail` is libcurl's text, escaped; `connectStatus` what a proxy answered to CONNECT, else 0.
func transportError(
    _ code: CURLcode,
    detail: String,
    connectStatus: Int
) -> TransportError {
    if connectStatus != 0, !(200..<300).contains(connectStatus) {
        let isLocked = connectStatus == 407
        return .proxyFailed(
            reason: isLocked
                ? "it asks for credentials" : "it answered \(connectStatus) to CONNECT"
        )
    }
    // "Unsupported proxy syntax in …" goes on with the whole address, password and all.
    if bytes(of: detail, after: "nsupported proxy") != nil {
        return .proxyFailed(reason: "its address can't be used; check the proxy variables")
    }
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST: return .dnsFailed
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: return .proxyFailed(reason: detail)
    case CURLE_COULDNT_CONNECT: return .connectFailed(reason: withoutSummary(detail))
    // The only limit of time that libcurl was given is that for connecting.
    case CURLE_OPERATION_TIMEDOUT: return .connectFailed(reason: detail)
    case CURLE_SSL_CONNECT_ERROR:
        // A connection cut in the handshake says nothing about the server's certificate.
        let signs: [StaticString] = ["SSL_ERROR_SYSCALL", "Connection reset", "unexpected eof"]
        let wasCut = signs.contains { bytes(of: detail, after: $0) != nil }
        return wasCut ? .connectFailed(reason: detail) : .tlsFailed(reason: detail)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
        CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED, CURLE_SSL_CACERT_BADFILE,
        CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
        CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
        return .tlsFailed(reason: detail)
    case CURLE_PARTIAL_FILE: return .bodyTooShort(received: 0)
    case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING,
        CURLE_TOO_MANY_REDIRECTS, CURLE_HTTP2:
        return .malformedResponse(reason: detail)
    // What a line of 100 KB in a head ends with, before our own limit is asked; on Linux memory
    // itself is hardly ever short. Later versions say it of the whole head, as of a failed read.
    case CURLE_OUT_OF_MEMORY:
        return .malformedResponse(reason: "a line of its head is too long, or memory is short")
    case CURLE_RECV_ERROR where bytes(of: detail, after: "response headers") != nil:
        return .malformedResponse(reason: "its head is too long")
    case CURLE_URL_MALFORMAT: return .connectFailed(reason: detail)
    default: return .connectionLost
    }
}

/// libcurl says that it failed, where, after how long, and once more that it failed.
private func withoutSummary(_ detail: String) -> String {
    var detail = detail[...]
    for summary in [": Couldn't connect to server", ": Could not connect to server"]
    where detail.hasSuffix(summary) {
        detail = detail.dropLast(summary.count)
    }
    let words = detail.split(separator: " ", omittingEmptySubsequences: false)
    if words.count > 3, words.last == "ms", words[words.count - 3] == "after" {
        detail = words.dropLast(3).joined(separator: " ")[...]
    }
    let beginning = "Failed to connect to "
    return String(detail.hasPrefix(beginning) ? detail.dropFirst(beginning.count) : detail)
}
#endif
