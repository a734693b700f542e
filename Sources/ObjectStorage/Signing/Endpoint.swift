package import SyncModel

/// Where a store answers, and how a bucket is named there.
package struct Endpoint: Sendable, Hashable {
    package enum Scheme: String, Sendable, Hashable {
        case http
        case https

        var defaultPort: Int { self == .http ? 80 : 443 }
    }

    /// How a request names its bucket.
    package enum Addressing: String, Sendable, Hashable {
        /// In front of the host: `bucket.host`.
        case virtual
        /// As the first segment of the path.
        case path
        /// Nowhere: the host is a domain of the bucket's own.
        case cname
    }

    package let scheme: Scheme
    /// A host name in lower case, an IPv4 address, or an IPv6 address without brackets.
    package let host: String
    /// Nil for the scheme's own port.
    package let port: Int?
    /// The region that requests are signed for; nil if it was neither given nor part of the host.
    package let region: String?
    package let addressing: Addressing

    /// The value of the `Host` header; a nil bucket addresses the service itself.
    package func hostHeader(bucket: String?) -> String {
        var name = HostName.isIPv6(host) ? "[" + host + "]" : host
        if addressing == .virtual, let bucket { name = bucket + "." + name }
        if let port { name += ":" + String(port) }
        return name
    }

    /// The path of a request, percent-encoded.
    package func path(bucket: String?, key: ObjectKey?) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bucket?.utf8.count ?? 0) + (key?.bytes.count ?? 0) + 16)
        text.append(UInt8(ascii: "/"))
        if addressing == .path, let bucket {
            appendPercentEncoded(bucket.utf8, keepsSlash: true, to: &text)
            text.append(UInt8(ascii: "/"))
        }
        if let key { appendPercentEncoded(key.bytes, keepsSlash: true, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// `https://host:port` of a bucket, without a path.
    package func origin(bucket: String?) -> String {
        scheme.rawValue + "://" + hostHeader(bucket: bucket)
    }

    /// True if the host can only be this machine.
    package var isLoopback: Bool { HostName.isLoopback(host) }
}

/// What the user asked for; `auto` is virtual, but path for addresses and `localhost`.
package enum AddressingChoice: String, Sendable, Hashable {
    case virtual
    case path
    case cname
    case auto
}

/// Why a text is not an endpoint.
package enum EndpointError: Error, Sendable, Hashable {
    /// Neither an endpoint nor a region was given.
    case missing
    /// A store that is the user's own has no address unless one is given.
    case missingOf(provider: String)
    case unknownScheme(String)
    /// Something after the host: a path, a query, or a user before it.
    case notAHost(String)
    /// A URL, of which the part before `?` is shown, is none of a web server.
    case notAWebURL(String)
    /// A URL contains what has to be percent-encoded in it.
    case unencodedURL(String)
    case invalidHost(String)
    case invalidPort(String)
    case invalidRegion(String)
    /// The host begins with a bucket's name.
    case namesBucket(host: String, endpoint: String)

    package var message: String {
        switch self {
        case .missing:
            "no endpoint and no region is configured; specify "
                + Wording.of(library: "one of them", program: "--endpoint or --region")
        case .missingOf(let provider):
            "the provider '\(provider)' has no default endpoint; specify "
                + Wording.of(library: "one", program: "--endpoint or set AWS_ENDPOINT_URL")
        case .unknownScheme(let scheme):
            "an endpoint begins with https:// or http://, not with '\(displayText(scheme.utf8))://'"
        case .notAHost(let text):
            "the endpoint '\(Self.withoutSecrets(text))' must be a host and nothing after it, as "
                + "in https://oss-cn-hangzhou.aliyuncs.com"
        case .notAWebURL(let text):
            "'\(Self.withoutSecrets(text))' does not begin with https:// or http://"
        case .unencodedURL(let text):
            "'\(Self.withoutSecrets(text))' is longer than 16 KiB, or contains a blank, '#' or "
                + "another character that has to be percent-encoded"
        case .invalidHost(""): "there is no host in it"
        case .invalidHost(let host):
            "'\(displayText(host.utf8))' is neither a host name nor an IP address"
        case .invalidPort(let port):
            "'\(displayText(port.utf8))' is not a port: it must be a number from 1 to 65535"
        case .invalidRegion(let region):
            "'\(displayText(region.utf8))' is not a region; one looks like cn-hangzhou"
        case .namesBucket(let host, let endpoint):
            "the endpoint '\(displayText(host.utf8))' already contains a bucket; specify "
                + "'\(displayText(endpoint.utf8))'"
        }
    }

    /// An address as it may be shown: without a user before its host, and with nothing after it.
    private static func withoutSecrets(_ text: String) -> String {
        var bytes = Array(text.utf8)[...]
        var shown: [UInt8] = []
        let mark = "://".utf8
        if let place = bytes.firstIndex(ofBytes: mark) {
            let beginning = bytes.index(place, offsetBy: mark.count)
            shown += bytes[..<beginning]
            bytes = bytes[beginning...]
        }
        if let sign = bytes.lastIndex(of: UInt8(ascii: "@")) {
            shown += "…@".utf8
            bytes = bytes[(sign + 1)...]
        }
        let host = bytes.prefix { byte in !"/?#".utf8.contains(byte) }
        shown += host
        if host.endIndex < bytes.endIndex { shown += "/…".utf8 }
        return displayText(shown)
    }
}

extension Endpoint {
    /// A name that no resolver knows, for what no network carries.
    package static let memory = Endpoint(
        scheme: .https,
        host: "memory.invalid",
        port: nil,
        region: "memory",
        addressing: .path
    )
}
