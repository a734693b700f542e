/// The name of an object: UTF-8 bytes, compared, ordered and hashed as bytes.
///
/// `String` treats different encodings of one text as equal and orders by Unicode scalars after
/// normalization; stores do neither. Text is made from a key only to show it to a person
/// (``display``).
package struct ObjectKey: Sendable, Hashable, Comparable {
    /// The bytes as the store has them, without any encoding of the wire.
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package init(_ bytes: some Sequence<UInt8>) {
        self.bytes = [UInt8](bytes)
    }

    package init(_ text: String) {
        bytes = [UInt8](text.utf8)
    }

    /// True for a zero-length key, which no store accepts.
    package var isEmpty: Bool { bytes.isEmpty }

    /// True for `a/`: by convention of the stores' consoles, a directory.
    package var isDirectoryMarker: Bool { bytes.last == UInt8(ascii: "/") }

    /// What the key of a stored link has after the link's own path, as rclone writes it.
    package static let linkSuffix = ".rclonelink"

    /// True for `a.rclonelink`: by rclone's convention, the text of the symbolic link `a`.
    package var isOfLink: Bool {
        bytes.count >= Self.linkSuffix.utf8.count
            && bytes.suffix(Self.linkSuffix.utf8.count)
                .elementsEqual(Self.linkSuffix.utf8)
    }

    /// The key under which a link with this path is stored.
    package var ofLink: ObjectKey { ObjectKey(bytes + Self.linkSuffix.utf8) }

    /// The path of the link that has this key; any other key as it is.
    package var withoutLinkSuffix: ObjectKey {
        isOfLink ? ObjectKey(bytes.dropLast(Self.linkSuffix.utf8.count)) : self
    }

    /// The key as text; bytes that are not UTF-8 are replaced.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The key as text that is safe to print: see ``displayText(_:)``.
    package var display: String { displayText(bytes) }

    package static func < (left: Self, right: Self) -> Bool {
        bytesPrecede(left.bytes, right.bytes)
    }

    package func hasPrefix(_ prefix: ObjectKey) -> Bool {
        bytes.starts(with: prefix.bytes)
    }
}

extension ObjectKey: ExpressibleByStringLiteral, CustomStringConvertible {
    package init(stringLiteral value: String) {
        self.init(value)
    }

    package var description: String { display }
}

extension ObjectKey {
    /// The keys of the markers above it, the outermost first.
    package var directoriesAbove: [ObjectKey] {
        let bytes = [UInt8](self.bytes)
        return bytes.indices.dropLast().filter { bytes[$0] == UInt8(ascii: "/") }
            .map { ObjectKey(bytes[...$0]) }
    }
}

/// Byte order as `memcmp` and every listing have it: the shorter of two equal beginnings is first.
package func bytesPrecede(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    let index = unsafe firstDifference(left.span.bytes, right.span.bytes)
    guard index < min(left.count, right.count) else { return left.count < right.count }
    return left[index] < right[index]
}

func bytesAreEqual(_ left: RawSpan, _ right: RawSpan) -> Bool {
    left.byteCount == right.byteCount && firstDifference(left, right) == left.byteCount
}

/// Where the first byte is that differs; the length of the shorter if none does.
///
/// Eight bytes at once, because all names of a listing are compared.
private func firstDifference(_ left: RawSpan, _ right: RawSpan) -> Int {
    let shared = min(left.byteCount, right.byteCount)
    var index = 0
    while shared - index >= 8 {
        let a = unsafe left.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
        let b = unsafe right.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
        if a != b { return index + (a ^ b).littleEndian.trailingZeroBitCount / 8 }
        index += 8
    }
    while index < shared {
        let a = unsafe left.unsafeLoad(fromByteOffset: index, as: UInt8.self)
        let b = unsafe right.unsafeLoad(fromByteOffset: index, as: UInt8.self)
        if a != b { break }
        index += 1
    }
    return index
}
