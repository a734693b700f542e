#if !SystemLibraries
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension URLRequest {
    /// - Throws: `TransportError` for an address that URLSession would not ask for as it is.
    init(_ request: HTTPRequest) throws(TransportError) {
        // A segment of dots would be resolved, and then another object be meant.
        let path = request.url.prefix { $0 != "?" }
        let hasDots = path.utf8.split(separator: UInt8(ascii: "/")).contains { segment in
            segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8)
        }
        guard !hasDots else {
            throw .unsendable(
                reason: "URLSession cannot ask for a key with a segment '.' or '..': rename the "
                    + "object"
            )
        }
        guard let url = URL(string: request.url), url.absoluteString == request.url else {
            throw .unsendable(reason: "URLSession cannot ask for this address as it is")
        }
        self.init(url: url)
        httpMethod = request.method.rawValue
        for (name, value) in request.headers { setValue(value, forHTTPHeaderField: name) }
        // What is decoded on the way has another length and another checksum. Only an object that
        // is sent as it is stored to those who accept its encoding is asked for with another word.
        if value(forHTTPHeaderField: "Accept-Encoding") == nil {
            setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        httpShouldHandleCookies = false
        cachePolicy = .reloadIgnoringLocalCacheData
    }
}

extension ResponseHead {
    init(_ response: HTTPURLResponse) {
        let headers = response.allHeaderFields.compactMap {
            name,
            value -> (name: String, value: String)? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return (name: name.lowercased(), value: value)
        }
        self.init(status: response.statusCode, headers: headers)
        // A refusal is read as it was decoded, which has another length.
        guard !isSuccess, decodedCoding != nil else { return }
        let others = headers.filter { $0.name != "content-length" }
        self.init(status: response.statusCode, headers: others)
    }

    /// The codings that URLSession decodes, here or on Apple's systems, asked for or not.
    ///
    /// Others, such as `utf-8`, it hands over as they are stored.
    private static let decodedCodings: Set = [
        "br", "compress", "deflate", "gzip", "x-compress", "x-gzip", "zstd",
    ]

    /// The response's `Content-Encoding`, if URLSession decodes it.
    var decodedCoding: String? {
        guard let codings = self["content-encoding"] else { return nil }
        let names = codings.lowercased().split { $0 == "," || $0 == " " }
        return names.contains { Self.decodedCodings.contains(String($0)) } ? codings : nil
    }
}

extension TransportError {
    /// What URLSession says; a message of it could hold the address, and with it a signature.
    init(_ error: any Error) {
        guard let error = error as? URLError else {
            self = .connectionLost
            return
        }
        self =
            switch error.code {
            case .cannotFindHost, .dnsLookupFailed: .dnsFailed
            case .cannotConnectToHost, .notConnectedToInternet:
                .connectFailed(reason: "URLSession error \(error.code.rawValue)")
            case .secureConnectionFailed, .serverCertificateHasBadDate,
                .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
                .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
                .tlsFailed(reason: "URLSession error \(error.code.rawValue)")
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            case .badServerResponse, .cannotParseResponse:
                .malformedResponse(reason: "URLSession error \(error.code.rawValue)")
            default: .connectionLost
            }
    }
}
#endif
