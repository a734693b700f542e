internal import CLibrary
internal import SyncModel

/// Hosts as `no_proxy` names them: `*`, names with all that is beneath them, addresses, ranges of
/// addresses (`10.0.0.0/8`), and names or addresses with a star at an end.
package struct HostPatterns: Sendable {
    private enum Pattern: Sendable {
        case everything
        /// The name, and what ends with a dot and it.
        case name(String)
        /// What ends so.
        case suffix(String)
        /// What begins so.
        case prefix(String)
        /// Addresses whose first bits are these.
        case range([UInt8], bits: Int)
    }

    private var patterns: [Pattern] = []
    /// Entries that name nothing.
    package private(set) var unusable: [String] = []

    /// Entries are separated by commas or blanks.
    package init(_ text: String) {
        for word in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: ",") || $0 <= 0x20 }) {
            let entry = String(decoding: word, as: UTF8.self)
            if let pattern = Self.pattern(entry.lowercased()) {
                patterns.append(pattern)
            } else if entry.contains(where: { $0 != "." }) {
                unusable.append(entry)
            }
        }
    }

    /// `host` is a name in lower case, or an address without brackets.
    package func contains(_ host: String) -> Bool {
        let host = Self.withoutRoot(host)
        let address = Self.address(host)
        return patterns.contains { pattern in
            switch pattern {
            case .everything: true
            case .name(let name): host == name || host.hasSuffix("." + name)
            case .suffix(let suffix): host.hasSuffix(suffix)
            case .prefix(let prefix): host.hasPrefix(prefix)
            case .range(let start, let bits):
                address.map { Self.isEqual($0, start, bits: bits) } ?? false
            }
        }
    }

    private static func pattern(_ entry: String) -> Pattern? {
        if entry == "*" { return .everything }
        var text = entry
        if let slash = text.lastIndex(of: "/") {
            guard let start = address(unbracketed(String(text[..<slash]))),
                let bits = Int(text[slash...].dropFirst()), (0...start.count * 8).contains(bits)
            else { return nil }
            return .range(start, bits: bits)
        }
        text = unbracketed(text)
        if let address = address(text) { return .range(address, bits: address.count * 8) }
        // Ports are not told apart.
        if let colon = text.firstIndex(of: ":"), text[colon...].dropFirst().allSatisfy(\.isNumber) {
            text = String(text[..<colon])
            if let address = address(text) { return .range(address, bits: address.count * 8) }
        }
        text = withoutRoot(text)
        if text.hasPrefix("*.") { text.removeFirst() }
        if text.hasSuffix(".*"), text.first != "*" {
            let start = String(text.dropLast())
            return isPlain(start) ? .prefix(start) : nil
        }
        if text.hasPrefix("*") {
            let end = String(text.dropFirst())
            return isPlain(end) ? .suffix(end) : nil
        }
        let name = String(text.drop { $0 == "." })
        return isPlain(name) ? .name(name) : nil
    }

    /// Without the dot that ends a complete name.
    private static func withoutRoot(_ name: String) -> String {
        name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// True for letters, digits, dots, hyphens and underscores.
    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                byte.isSmallLetter || byte.isDigit || ".-_".utf8.contains(byte)
            }
    }

    private static func unbracketed(_ text: String) -> String {
        guard text.hasPrefix("["), let end = text.firstIndex(of: "]") else { return text }
        return String(text[..<end].dropFirst())
    }

    /// The bytes of an address: 4 or 16.
    private static func address(_ text: String) -> [UInt8]? {
        var four = in_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            return unsafe withUnsafeBytes(of: &four) { unsafe [UInt8]($0) }
        }
        var sixteen = in6_addr()
        guard unsafe inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
        return unsafe withUnsafeBytes(of: &sixteen) { unsafe [UInt8]($0) }
    }

    private static func isEqual(_ left: [UInt8], _ right: [UInt8], bits: Int) -> Bool {
        guard left.count == right.count else { return false }
        let whole = bits / 8
        guard left.prefix(whole) == right.prefix(whole) else { return false }
        guard bits % 8 > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF << (8 - bits % 8))
        return left[whole] & mask == right[whole] & mask
    }
}
