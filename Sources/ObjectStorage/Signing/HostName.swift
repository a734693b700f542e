internal import CLibrary
internal import SyncModel

/// What the text of a host says about it.
enum HostName {
    static let publicSuffix = ".aliyuncs.com"
    static let cloudBoxSuffix = ".oss-cloudbox.aliyuncs.com"

    /// The host in lower case; nil if it is neither a name nor an address.
    ///
    /// A name whose last label is a number is refused: libcurl, like browsers, reads `127.1` and
    /// `0x7f.0.0.1` as addresses.
    static func normalized(_ text: String) -> String? {
        if isIPv6(text) || isIPv4(text) { return text.lowercased() }
        guard !text.isEmpty, text.utf8.count <= 253 else { return nil }
        let labels = text.utf8.split(
            separator: UInt8(ascii: "."),
            omittingEmptySubsequences: false
        )
        guard labels.allSatisfy({ isLabel($0) }), let last = labels.last else { return nil }
        let isNumber = last.allSatisfy(\.isDigit)
        let isHexadecimal = last.starts(with: "0x".utf8) || last.starts(with: "0X".utf8)
        guard !isNumber, !isHexadecimal else { return nil }
        return text.lowercased()
    }

    static func isAddress(_ host: String) -> Bool { isIPv4(host) || isIPv6(host) }

    static func isIPv4(_ host: String) -> Bool {
        var address = in_addr()
        return unsafe inet_pton(AF_INET, host, &address) == 1
    }

    static func isIPv6(_ host: String) -> Bool {
        guard host.utf8.contains(UInt8(ascii: ":")) else { return false }
        var address = in6_addr()
        return unsafe inet_pton(AF_INET6, host, &address) == 1
    }

    /// True for `localhost` and the names below it.
    static func isLocalName(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost")
    }

    static func isLoopback(_ host: String) -> Bool {
        if isLocalName(host) { return true }
        if isIPv4(host) { return host.hasPrefix("127.") }
        guard isIPv6(host) else { return false }
        var address = in6_addr()
        guard unsafe inet_pton(AF_INET6, host, &address) == 1 else { return false }
        return unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        }
    }

    /// The region that an Alibaba Cloud host names (oss-protocol, "Endpoint forms").
    static func region(in host: String) -> String? {
        if host.hasSuffix(cloudBoxSuffix) {
            return host.split(separator: ".").first.map(String.init)
        }
        guard host.hasSuffix(publicSuffix) else { return nil }
        let labels = host.dropLast(publicSuffix.count).split(separator: ".")
        guard let last = labels.last else { return nil }
        if last == "oss" { return labels.count == 2 ? String(labels[0]) : nil }
        guard last.hasPrefix("oss-"), !last.hasPrefix("oss-accelerate") else { return nil }
        let name = last.dropFirst(4)
        let suffix = "-internal"
        return String(name.hasSuffix(suffix) ? name.dropLast(suffix.count) : name)
    }

    /// The endpoint in a bucket's own default host, as the console shows it; nil for any other.
    static func withoutBucket(_ host: String) -> String? {
        guard host.hasSuffix(publicSuffix), !host.hasSuffix(cloudBoxSuffix) else { return nil }
        let labels = host.dropLast(publicSuffix.count).split(separator: ".")
        guard let last = labels.last else { return nil }
        let isRegional = last.hasPrefix("oss-") && labels.count == 2 && labels[0] != "s3"
        let isDualStack = last == "oss" && labels.count == 3
        guard isRegional || isDualStack else { return nil }
        return labels.dropFirst().joined(separator: ".") + publicSuffix
    }

    /// 1 to 63 letters, digits, hyphens or underscores, without a hyphen at an end.
    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        guard !label.isEmpty, label.count <= 63, label.first != UInt8(ascii: "-"),
            label.last != UInt8(ascii: "-")
        else { return false }
        return label.allSatisfy { $0.isLetterOrDigit(or: "-_") }
    }
}
