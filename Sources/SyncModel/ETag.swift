/// The store's opaque tag of one version of one object, without the quotes that surround it on the
/// wire.
///
/// Two objects with equal tags and keys are the same version. It is an MD5 only under the
/// conditions of ``md5Digest``, and never assumed to be.
package struct ETag: Sendable, Hashable {
    /// The longest tag that is taken, in bytes; those of all known stores are far shorter.
    package static let maximumLength = 1_024

    package let text: String

    /// False for what no store would send, and no manifest can keep.
    package var isUsable: Bool { text.utf8.count <= Self.maximumLength }

    /// True for a tag that versions with different bytes may share; no request names a version by
    /// such a one (RFC 9110, "Weak versus Strong").
    package var isWeak: Bool { text.utf8.starts(with: "W/\"".utf8) }

    /// Removes one pair of surrounding quotes, and nothing else: a weak prefix `W/` stays part of
    /// the text.
    package init(wire text: String) {
        var content = text
        let (quote, length) = (UInt8(ascii: "\""), text.utf8.count)
        let unquoted: String? = content.withUTF8 { bytes in
            guard length >= 2, unsafe bytes[0] == quote, unsafe bytes[length - 1] == quote else {
                return nil
            }
            let inner = unsafe UnsafeBufferPointer(rebasing: bytes[1..<(length - 1)])
            return unsafe String(decoding: inner, as: UTF8.self)
        }
        self.text = unquoted ?? text
    }

    /// The tag as conditional headers want it.
    package var quoted: String { isWeak ? text : "\"" + text + "\"" }

    /// The lower-case MD5 of the content, if the text has exactly the form of one.
    ///
    /// It *is* the content's MD5 only for an object written in one piece and not encrypted with a
    /// KMS key; a mismatch therefore means "unknown", never "corrupt".
    package var md5Digest: String? {
        let bytes = text.utf8
        return bytes.count == 32 && bytes.allSatisfy(\.isHexadecimal) ? text.lowercased() : nil
    }

    /// Digests are equal in either letter case, any other tags byte by byte.
    ///
    /// Some stores list tags in another letter case than they answer with.
    package static func == (left: Self, right: Self) -> Bool {
        let (left, right) = (left.text.utf8, right.text.utf8)
        guard left.count == right.count else { return false }
        // Once for each object of a listing: the bytes themselves, if both texts have them at hand.
        let result = unsafe left.withContiguousStorageIfAvailable { left in
            unsafe right.withContiguousStorageIfAvailable { right in
                unsafe bytesAreEqual(left.span.bytes, right.span.bytes)
            }
        }
        return (result ?? nil) ?? left.elementsEqual(right) || areOneDigest(left, right)
    }

    private static func areOneDigest(_ left: String.UTF8View, _ right: String.UTF8View) -> Bool {
        func isOfDigest(_ byte: UInt8) -> Bool { byte.isHexadecimal || byte == UInt8(ascii: "-") }
        return left.count >= 32
            && zip(left, right).allSatisfy { left, right in
                left | 0x20 == right | 0x20 && isOfDigest(left) && isOfDigest(right)
            }
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte | 0x20) }
    }
}

extension ETag: CustomStringConvertible {
    package var description: String { displayText(text.utf8) }
}
