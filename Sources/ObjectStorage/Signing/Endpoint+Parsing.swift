internal import SyncModel

extension Endpoint {
    /// Reads `[scheme://]host[:port]`, or makes the public endpoint of `region` if `text` is nil.
    ///
    /// Without a scheme it is https. A region that is not given is taken from the host. A host that
    /// is an IP address always gets path addressing, as the official clients do it.
    package init(
        parsing text: String?,
        region: String?,
        addressing: AddressingChoice
    ) throws(EndpointError) {
        let region = try region.map(Self.normalizedRegion(_:))
        guard let text, !text.isEmpty else {
            guard let region else { throw .missing }
            scheme = .https
            host = "oss-" + region + HostName.publicSuffix
            port = nil
            self.region = region
            self.addressing = addressing == .path ? .path : addressing == .cname ? .cname : .virtual
            return
        }
        let (scheme, authority) = try Self.splitScheme(text)
        let (hostText, portText) = try Self.splitPort(authority, whole: text)
        guard let host = HostName.normalized(hostText) else { throw .invalidHost(hostText) }
        self.scheme = scheme
        self.host = host
        port = try Self.parsePort(portText, scheme: scheme)
        switch addressing {
        case _ where HostName.isAddress(host): self.addressing = .path
        case .auto: self.addressing = HostName.isLocalName(host) ? .path : .virtual
        case .virtual: self.addressing = .virtual
        case .path: self.addressing = .path
        case .cname: self.addressing = .cname
        }
        if self.addressing != .cname, let endpoint = HostName.withoutBucket(host) {
            throw .namesBucket(host: host, endpoint: endpoint)
        }
        self.region = region ?? HostName.region(in: host)
    }

    /// `cn-hangzhou`, also from the location form `oss-cn-hangzhou`.
    private static func normalizedRegion(_ text: String) throws(EndpointError) -> String {
        let region = text.hasPrefix("oss-") ? String(text.dropFirst(4)) : text
        guard isRegion(region) else { throw .invalidRegion(text) }
        return region
    }

    /// True for 1 to 63 letters, digits, hyphens and underscores.
    static func isRegion(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { $0.isLetterOrDigit(or: "-_") }
        return isPlain && !text.isEmpty && text.utf8.count <= 63
    }

    static func splitScheme(
        _ text: String
    ) throws(EndpointError) -> (Scheme, Substring.UTF8View) {
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8)
        else { return (.https, text[...].utf8) }
        let name = text[..<colon].lowercased()
        guard let scheme = Scheme(rawValue: name) else { throw .unknownScheme(name) }
        return (scheme, text[bytes.index(colon, offsetBy: 3)...].utf8)
    }

    static func splitPort(
        _ authority: Substring.UTF8View,
        whole: String
    ) throws(EndpointError) -> (host: String, port: String?) {
        var authority = Substring(authority)
        if authority.utf8.last == UInt8(ascii: "/") { authority.removeLast() }
        let forbidden = Array("/?#@\\ ".utf8)
        guard !authority.utf8.contains(where: { forbidden.contains($0) }) else {
            throw .notAHost(whole)
        }
        if authority.utf8.first == UInt8(ascii: "[") {
            guard let close = authority.utf8.firstIndex(of: UInt8(ascii: "]")) else {
                throw .invalidHost(String(authority))
            }
            let host = String(authority[authority.utf8.index(after: authority.startIndex)..<close])
            guard HostName.isIPv6(host) else { throw .invalidHost(host) }
            let rest = authority[authority.utf8.index(after: close)...]
            if rest.isEmpty { return (host, nil) }
            guard rest.utf8.first == UInt8(ascii: ":") else { throw .notAHost(whole) }
            return (host, String(rest.dropFirst()))
        }
        let colons = authority.utf8.count { $0 == UInt8(ascii: ":") }
        guard colons == 1, let colon = authority.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            return (String(authority), nil)
        }
        return (String(authority[..<colon]), String(authority[colon...].dropFirst()))
    }

    static func parsePort(_ text: String?, scheme: Scheme) throws(EndpointError) -> Int? {
        guard let text else { return nil }
        guard let port = parseDecimal(text.utf8), port >= 1, port <= 65_535 else {
            throw .invalidPort(text)
        }
        return port == scheme.defaultPort ? nil : Int(port)
    }
}
