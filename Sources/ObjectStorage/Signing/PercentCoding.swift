internal import CLibrary
internal import SyncModel

/// Percent-encodes all bytes but `A–Z a–z 0–9 - . _ ~`, and `/` if it is kept, with upper-case
/// digits (oss-protocol, "URL encoding").
package func percentEncode(_ bytes: some Sequence<UInt8>, keepsSlash: Bool) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.underestimatedCount + 16)
    appendPercentEncoded(bytes, keepsSlash: keepsSlash, to: &text)
    return String(decoding: text, as: UTF8.self)
}

/// Appends what ``percentEncode(_:keepsSlash:)`` returns.
func appendPercentEncoded(
    _ bytes: some Sequence<UInt8>,
    keepsSlash: Bool,
    to text: inout [UInt8]
) {
    for byte in bytes {
        if byte.isLetterOrDigit(or: "-._~") || (keepsSlash && byte == UInt8(ascii: "/")) {
            text.append(byte)
        } else {
            text.append(escaping: byte)
        }
    }
}

/// What stands for a space in an encoded text.
package enum PercentEncodingStyle: Sendable, Hashable {
    /// `%20`; a plus is a plus. The OSS dialect.
    case strict
    /// `+`, as HTML forms have it. The S3 dialect's listings.
    case form
}

/// Decodes `%XX` exactly once; nil if a percent sign is not followed by two hexadecimal digits.
package func percentDecode(
    _ bytes: [UInt8],
    style: PercentEncodingStyle = .strict
) -> [UInt8]? {
    var result = bytes
    return percentDecodeInPlace(&result, style: style) ? result : nil
}

/// Like ``percentDecode(_:style:)`` without another array; false, with `bytes` spoilt, if an escape
/// is broken.
func percentDecodeInPlace(_ bytes: inout [UInt8], style: PercentEncodingStyle) -> Bool {
    guard
        let start = bytes.firstIndex(where: { byte in
            byte == UInt8(ascii: "%") || (style == .form && byte == UInt8(ascii: "+"))
        })
    else { return true }
    var source = start
    var target = start
    let count = bytes.count
    while source < count {
        let byte = bytes[source]
        if byte == UInt8(ascii: "%") {
            guard source + 2 < count, let high = hexadecimalValue(bytes[source + 1]),
                let low = hexadecimalValue(bytes[source + 2])
            else { return false }
            bytes[target] = high << 4 | low
            source += 3
        } else {
            bytes[target] = style == .form && byte == UInt8(ascii: "+") ? 0x20 : byte
            source += 1
        }
        target += 1
    }
    bytes.removeLast(count - target)
    return true
}

/// True if there is a `%20` somewhere.
func hasEncodedBlank(_ bytes: [UInt8]) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return false }
        var place = 0
        while place + 3 <= bytes.count,
            let found = unsafe memchr(start + place, Int32(UInt8(ascii: "%")), bytes.count - place)
        {
            place = unsafe UnsafeRawPointer(found) - start
            if place + 3 <= bytes.count, unsafe bytes[place + 1] == UInt8(ascii: "2"),
                unsafe bytes[place + 2] == UInt8(ascii: "0")
            {
                return true
            }
            place += 1
        }
        return false
    }
}
