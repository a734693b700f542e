/// Consecutive bytes of an object or file, half-open as everywhere in Swift; inclusive only on the
/// wire.
package struct ByteRange: Sendable, Hashable {
    /// The position of the first byte, from 0.
    package let offset: Int64
    /// The number of bytes.
    package let length: Int64

    package init(offset: Int64, length: Int64) {
        precondition(offset >= 0 && length >= 0, "a range has no negative bounds")
        precondition(!offset.addingReportingOverflow(length).overflow, "a range ends below 2^63")
        self.offset = offset
        self.length = length
    }

    /// The position after the last byte.
    package var end: Int64 { offset + length }

    package var isEmpty: Bool { length == 0 }

    /// The value of a `Range` header, inclusive at both ends, of a range that is not empty.
    package var headerValue: String {
        precondition(!isEmpty, "HTTP has no empty range")
        return "bytes=\(offset)-\(end - 1)"
    }

    /// What is left after its first `count` bytes.
    package func dropping(_ count: Int64) -> ByteRange {
        precondition(count >= 0 && count <= length, "a range holds what is dropped from it")
        return ByteRange(offset: offset + count, length: length - count)
    }
}

/// The parsed value of a `Content-Range` header of one range.
package struct ContentRange: Sendable, Hashable {
    package let range: ByteRange
    /// The size of the whole object; nil if the server wrote `*`.
    package let totalSize: Int64?

    /// Accepts `bytes first-last/total` with plain decimal numbers; nil for anything else, also for
    /// several ranges.
    package init?(headerValue: String) {
        let prefix = "bytes "
        guard headerValue.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = headerValue.utf8.dropFirst(prefix.utf8.count)
        guard let dash = rest.firstIndex(of: UInt8(ascii: "-")),
            let slash = rest.firstIndex(of: UInt8(ascii: "/")), dash < slash,
            let first = parseDecimal(rest[..<dash]),
            let last = parseDecimal(rest[rest.index(after: dash)..<slash]),
            first <= last, last < Int64.max
        else { return nil }
        let total = rest[rest.index(after: slash)...]
        if total.elementsEqual([UInt8(ascii: "*")]) {
            totalSize = nil
        } else {
            guard let size = parseDecimal(total), last < size else { return nil }
            totalSize = size
        }
        range = ByteRange(offset: first, length: last - first + 1)
    }
}

/// A number of plain ASCII digits, from 0 to `Int64.max`; nil for signs, blanks, exponents, other
/// digits or overflow.
@inlinable
package func parseDecimal(_ bytes: some Sequence<UInt8>) -> Int64? { decimal(bytes) }

/// Like ``parseDecimal(_:)`` up to `UInt64.max`: the form of `x-oss-hash-crc64ecma`.
@inlinable
package func parseUnsignedDecimal(_ bytes: some Sequence<UInt8>) -> UInt64? {
    decimal(bytes)
}

@inlinable
package func decimal<Number: FixedWidthInteger>(_ bytes: some Sequence<UInt8>) -> Number? {
    var result: Number = 0
    var count = 0
    for byte in bytes {
        guard byte.isDigit else { return nil }
        let (product, overflow) = result.multipliedReportingOverflow(by: 10)
        let (sum, carry) = product.addingReportingOverflow(Number(byte - UInt8(ascii: "0")))
        guard !overflow, !carry else { return nil }
        result = sum
        count += 1
    }
    return count > 0 ? result : nil
}
