/// The address of something on the web, taken apart as far as its safety depends on it.
///
/// What is after the host may be a secret.
package struct WebAddress: Sendable, Hashable {
    /// As it was given.
    package let text: String
    package let isHTTPS: Bool
    /// In lower case, an IPv6 address without brackets.
    package let host: String
    /// The number of characters before the path.
    package let authorityEnd: Int

    package var isLoopback: Bool { HostName.isLoopback(host) }

    /// Nil unless it is an http or https URL in ASCII with a host and without a user.
    package init?(_ text: String) {
        // What a backslash means, parsers do not agree about.
        let backslash = UInt8(ascii: "\\")
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != backslash }) else {
            return nil
        }
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = text.dropFirst(scheme.count)
        guard rest.hasPrefix("://") else { return nil }
        let authority = rest.dropFirst(3).prefix { !["/", "?", "#"].contains($0) }
        guard !authority.contains("@") else { return nil }
        var host = authority.lowercased()
        if host.hasPrefix("[") {
            host = String(host.dropFirst().prefix { $0 != "]" })
        } else if let colon = host.firstIndex(of: ":") {
            host = String(host[..<colon])
        }
        guard !host.isEmpty else { return nil }
        (self.text, self.host, isHTTPS) = (text, host, scheme == "https")
        authorityEnd = scheme.count + 3 + authority.count
    }
}
