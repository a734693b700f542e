internal import OSSSync

extension ObjectProperties {
    /// Reads `aes256`, `kms` or `kms:KEY`; nil for anything else.
    static func encryption(_ text: String) -> Encryption? {
        if text == "aes256" { return .aes256 }
        if text == "kms" { return .kms(keyID: nil) }
        let key = text.hasPrefix("kms:") ? String(text.dropFirst(4)) : ""
        return isSendable(key) ? .kms(keyID: key) : nil
    }

    private static let contentNames = [
        "cache-control", "content-disposition", "content-encoding", "content-language", "expires",
    ]
    private static let metadataPrefixes = ["x-oss-meta-", "x-amz-meta-"]
    private static let expected =
        "expected 'NAME: VALUE' with printable ASCII and one of Cache-Control, "
        + "Content-Disposition, Content-Encoding, Content-Language, Content-Type, Expires, "
        + "x-oss-meta-* or x-amz-meta-*"

    /// Adds one of `--header`; returns what is expected instead, nil if it can be sent.
    mutating func add(header: String) -> String? {
        let colon = header.utf8.firstIndex(of: UInt8(ascii: ":")) ?? header.utf8.endIndex
        let name = String(header[..<colon]).lowercased()
        var value = header[colon...].dropFirst()
        value = value.drop { $0 == " " }
        while value.last == " " { value.removeLast() }
        guard Self.isSendable(String(value)) else { return Self.expected }
        if name == "content-type" {
            contentType = String(value)
        } else if Self.contentNames.contains(name) {
            contentHeaders[name] = String(value)
        } else if let prefix = Self.metadataPrefixes.first(where: name.hasPrefix) {
            let own = String(name.dropFirst(prefix.utf8.count))
            guard Self.isMetadataName(own) else {
                return "a name of metadata has letters, digits and hyphens"
            }
            guard !Self.reservedMetadata.contains(own) else {
                return "osssync itself writes this metadata"
            }
            metadata[own] = String(value)
        } else {
            return Self.expected
        }
        return nil
    }

    private static func isMetadataName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
    }

    /// Stores take no longer header, and no other characters.
    private static func isSendable(_ value: String) -> Bool {
        (1...4_096).contains(value.utf8.count)
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    }
}
