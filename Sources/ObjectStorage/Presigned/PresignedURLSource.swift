package import SyncModel
internal import Synchronization

/// Signed addresses of one object: what is needed to read it without any key.
package struct PresignedPair: Sendable, Hashable {
    /// Allows GET.
    package let get: PresignedURL
    /// Allows HEAD; nil if only the other one is there.
    package let head: PresignedURL?

    package init(get: PresignedURL, head: PresignedURL?) {
        self.get = get
        self.head = head
    }
}

/// A whole URL that is sent unchanged.
///
/// Shown as a text, it hides its query.
package struct PresignedURL: Sendable, Hashable, CustomStringConvertible {
    let url: String
    /// Scheme, host and port; the one place to which requests go.
    package let endpoint: Endpoint
    private let pathBytes: [UInt8]
    /// The names of the query's parameters, in lower case.
    private let parameters: Set<String>

    /// - Throws: ``EndpointError`` for what is no http address of a host, or holds what no address
    ///   does.
    package init(parsing text: String) throws(EndpointError) {
        let bytes = Array(text.utf8)
        // Blanks and controls would end the request's line, a fragment is never sent.
        guard bytes.count <= 16 << 10,
            bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        else { throw .unencodedURL(Self.redacted(bytes)) }
        let prefix = bytes.prefix(8)
        let start: Int
        if prefix.starts(with: "https://".utf8) {
            start = 8
        } else if prefix.starts(with: "http://".utf8) {
            start = 7
        } else {
            throw .notAWebURL(Self.redacted(bytes))
        }
        let end =
            bytes[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
            ?? bytes.endIndex
        endpoint = try Endpoint(
            parsing: String(decoding: bytes[..<end], as: UTF8.self),
            region: nil,
            addressing: .cname
        )
        let rest = bytes[end...]
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        pathBytes = [UInt8](rest[..<mark])
        parameters = Set(
            rest[mark...].dropFirst().split(separator: UInt8(ascii: "&")).map { item in
                String(decoding: item.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
                    .lowercased()
            }
        )
        url = text
    }

    /// The address without its query, which may be a permission.
    package var description: String {
        endpoint.origin(bucket: nil) + String(decoding: pathBytes, as: UTF8.self)
    }

    /// The values in the query that grant access to the object, decoded.
    var permissions: [[UInt8]] {
        let query = url.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        return query.split(separator: UInt8(ascii: "&")).compactMap { item in
            let name = String(decoding: item.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
                .lowercased()
            guard name.hasSuffix("signature") || name.hasSuffix("token") else { return nil }
            let value = Array(item.dropFirst(name.utf8.count + 1))
            return percentDecode(value) ?? value
        }
    }

    private static func redacted(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix { $0 != UInt8(ascii: "?") }.prefix(200), as: UTF8.self)
    }

    /// What messages call the object: the path, percent-decoded.
    package var key: ObjectKey {
        let path = pathBytes.drop { $0 == UInt8(ascii: "/") }
        let decoded = percentDecode([UInt8](path)) ?? [UInt8](path)
        return ObjectKey(decoded.isEmpty || !isValidUTF8(decoded) ? [UInt8(ascii: "?")] : decoded)
    }

    /// The service that signed it; OSS if it is not signed at all.
    package var dialect: StorageDialect {
        let isS3 = parameters.contains("x-amz-signature") || parameters.contains("awsaccesskeyid")
        return isS3 ? .s3 : .oss
    }
}

/// The addresses of one download, of which new ones are asked for when they have expired.
package actor PresignedURLSource {
    package typealias Renewal = @Sendable () async throws(CredentialsError) -> PresignedPair

    private var current: PresignedPair
    private let renewal: Renewal?
    private let flight = SingleFlight()

    /// - Parameters:
    ///   - first: The addresses to begin with.
    ///   - name: What messages call the source of others.
    ///   - renewal: Asked for others; nil if there are none.
    package init(_ first: PresignedPair, name: String, renewal: Renewal?) {
        current = first
        self.name = name
        self.renewal = renewal
    }

    var pair: PresignedPair { current }

    /// Renews once for all requests that failed with `rejected`; nil if there is no renewal
    /// closure.
    ///
    /// - Throws: Why there are no others, safe to print.
    func renew(rejected: PresignedPair) async throws(CredentialsError) -> PresignedPair? {
        guard let renewal else { return nil }
        while true {
            if current != rejected { return current }
            if flight.begin() { break }
            await flight.ended()
        }
        defer { flight.end() }
        let fresh = try await renewal()
        // What was begun at one host is not continued at another.
        let isSamePlace =
            fresh.get.endpoint == current.get.endpoint
            && (fresh.head.map { $0.endpoint == current.get.endpoint } ?? true)
        guard isSamePlace else {
            throw .invalid(source: name, reason: "the new address has a different host")
        }
        current = fresh
        return fresh
    }

    private let name: String
}
