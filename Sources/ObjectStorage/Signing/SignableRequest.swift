package import SyncModel

/// The parts of a request that a signature covers.
package struct SignableRequest: Sendable {
    package let method: HTTPMethod
    private let endpoint: Endpoint
    package let bucket: String?
    package let key: ObjectKey?
    /// The path of the request, percent-encoded; its form depends on the endpoint's addressing.
    package let path: String
    /// Names and values before any encoding.
    package var query: [(String, String)]
    package var headers: [(String, String)]
    /// The lower-case SHA-256 of the body, for the dialects that sign it; nil for an unsigned body.
    package var payloadDigest: String?

    package init(
        method: HTTPMethod,
        endpoint: Endpoint,
        bucket: String?,
        key: ObjectKey?,
        query: [(String, String)],
        headers: [(String, String)],
        payloadDigest: String? = nil
    ) {
        self.method = method
        self.endpoint = endpoint
        self.bucket = bucket
        self.key = key
        self.query = query
        self.headers = headers
        self.payloadDigest = payloadDigest
        path = endpoint.path(bucket: bucket, key: key)
    }

    /// The value of the `Host` header, which not every signature covers.
    package var host: String { endpoint.hostHeader(bucket: bucket) }

    /// The path with the query, as the request line has it.
    ///
    /// An empty value is sent as the bare name, or as `name=` where `keepsEmptyValues` says so.
    package func target(keepsEmptyValues: Bool) -> String {
        guard !query.isEmpty else { return path }
        var text: [UInt8] = []
        text.reserveCapacity(path.utf8.count + query.count * 32)
        text += path.utf8
        var separator = UInt8(ascii: "?")
        for (name, value) in query {
            text.append(separator)
            separator = UInt8(ascii: "&")
            appendPercentEncoded(name.utf8, keepsSlash: false, to: &text)
            guard keepsEmptyValues || !value.isEmpty else { continue }
            text.append(UInt8(ascii: "="))
            appendPercentEncoded(value.utf8, keepsSlash: false, to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// `/bucket/key`, `/bucket/` or `/`, percent-encoded: OSS signs this for any addressing.
    func appendResource(to text: inout [UInt8]) {
        text.append(UInt8(ascii: "/"))
        guard let bucket else { return }
        appendPercentEncoded(bucket.utf8, keepsSlash: true, to: &text)
        text.append(UInt8(ascii: "/"))
        if let key { appendPercentEncoded(key.bytes, keepsSlash: true, to: &text) }
    }
}

/// Which scheme of signatures is used with OSS.
package enum SignatureVersion: String, Sendable, Hashable {
    case v4
    case v1
}
