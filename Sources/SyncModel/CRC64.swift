#if SystemLibraries
internal import CISAL
#endif

/// CRC-64/XZ, which OSS calls ECMA and sends as `x-oss-hash-crc64ecma`: reflected polynomial
/// `0xC96C5795D7870F42`, all ones at the start and the end.
///
/// The value is that of the bytes so far at every moment, so a prefix's checksum can be kept and
/// continued.
package struct CRC64: Sendable, Hashable {
    package private(set) var value: UInt64

    /// The checksum of no bytes.
    package init() {
        value = 0
    }

    /// A checksum that was stored.
    package init(value: UInt64) {
        self.value = value
    }

    /// The checksum of `bytes`.
    package init(of bytes: [UInt8]) {
        self.init()
        unsafe update(bytes.span.bytes)
    }

    /// Continues with `bytes`.
    package mutating func update(_ bytes: RawSpan) {
        var copy = self
        unsafe bytes.withUnsafeBytes { unsafe copy.update($0) }
        self = copy
    }

    /// Continues with `buffer`, for callbacks of C that have nothing better.
    package mutating func update(_ buffer: UnsafeRawBufferPointer) {
        #if SystemLibraries
        guard let base = buffer.baseAddress, unsafe !buffer.isEmpty else { return }
        value = unsafe crc64_ecma_refl(
            value,
            base.assumingMemoryBound(to: UInt8.self),
            UInt64(buffer.count)
        )
        #else
        value = unsafe ~SlicedCRC.ecma.register(~value, after: buffer)
        #endif
    }

    /// The checksum of the concatenation of what `self` covers and `length` bytes whose checksum is
    /// `next`.
    ///
    /// Advances `self` through `length` zero bytes by squaring the operator, as zlib's
    /// `crc32_combine` does; start and final inversion cancel. Costs O(log length).
    package func combined(with next: CRC64, length: Int64) -> CRC64 {
        precondition(length >= 0, "a length is not negative")
        guard length > 0 else { return self }
        // Of zeros it stays 0: what a single range and no bytes before it give.
        guard value != 0 else { return next }
        // x^(8·length) modulo the polynomial, in the reflected representation, times this value.
        var power = Self.onePolynomial
        var square = Self.xToThe8
        var remaining = UInt64(length)
        while remaining > 0 {
            if remaining & 1 == 1 { power = Self.multiply(power, square) }
            square = Self.multiply(square, square)
            remaining >>= 1
        }
        return CRC64(value: Self.multiply(power, value) ^ next.value)
    }

    /// The polynomial 1: in the reflected representation the highest bit is the coefficient of x^0.
    private static let onePolynomial: UInt64 = 1 << 63
    /// The polynomial x^8, that is: one zero byte.
    private static let xToThe8: UInt64 = 1 << 55
    private static let reflectedPolynomial: UInt64 = 0xC96C_5795_D787_0F42

    /// The product of two polynomials over GF(2), reduced.
    private static func multiply(_ left: UInt64, _ right: UInt64) -> UInt64 {
        var product: UInt64 = 0
        var shifted = right
        var mask = onePolynomial
        while mask != 0 {
            if left & mask != 0 { product ^= shifted }
            shifted = shifted & 1 == 1 ? shifted >> 1 ^ reflectedPolynomial : shifted >> 1
            mask >>= 1
        }
        return product
    }
}
