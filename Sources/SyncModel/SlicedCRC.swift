/// Reflected cyclic checksums of up to 64 bits: eight bytes a step from tables.
///
/// What a platform's library does faster or knows a polynomial for is used instead where the
/// package links it.
package struct SlicedCRC: Sendable {
    /// CRC-64/XZ, which OSS calls ECMA.
    package static let ecma = SlicedCRC(reflectedPolynomial: 0xC96C_5795_D787_0F42)
    /// CRC-64/NVME, which no library of the platforms has.
    package static let nvme = SlicedCRC(reflectedPolynomial: 0x9A6C_9329_AC4B_C9B5)
    /// That of gzip and Ethernet.
    package static let ieee = SlicedCRC(reflectedPolynomial: 0xEDB8_8320)
    /// That of iSCSI.
    package static let castagnoli = SlicedCRC(reflectedPolynomial: 0x82F6_3B78)

    /// Entry `n << 8 | b` is byte `b` followed by `n` zero bytes.
    private let tables: [UInt64]

    private init(reflectedPolynomial: UInt64) {
        var tables = [UInt64](repeating: 0, count: 8 << 8)
        for byte in 0..<256 {
            var value = UInt64(byte)
            for _ in 0..<8 {
                value = value & 1 == 1 ? value >> 1 ^ reflectedPolynomial : value >> 1
            }
            tables[byte] = value
        }
        for index in 256..<tables.count {
            let previous = tables[index - 256]
            tables[index] = previous >> 8 ^ tables[Int(previous & 0xFF)]
        }
        self.tables = tables
    }

    /// The register after `bytes`, without any inversion at the ends.
    package func register(_ register: UInt64, after bytes: UnsafeRawBufferPointer) -> UInt64 {
        unsafe tables.withUnsafeBufferPointer { tables in
            var register = register
            var offset = 0
            while bytes.count - offset >= 8 {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                register ^= UInt64(littleEndian: word)
                let low =
                    unsafe tables[7 << 8 | Int(register & 0xFF)]
                    ^ tables[6 << 8 | Int(register >> 8 & 0xFF)]
                    ^ tables[5 << 8 | Int(register >> 16 & 0xFF)]
                    ^ tables[4 << 8 | Int(register >> 24 & 0xFF)]
                let high =
                    unsafe tables[3 << 8 | Int(register >> 32 & 0xFF)]
                    ^ tables[2 << 8 | Int(register >> 40 & 0xFF)]
                    ^ tables[1 << 8 | Int(register >> 48 & 0xFF)]
                    ^ tables[Int(register >> 56)]
                register = low ^ high
                offset += 8
            }
            while offset < bytes.count {
                let byte = unsafe bytes[offset]
                register = unsafe register >> 8 ^ tables[Int(register & 0xFF) ^ Int(byte)]
                offset += 1
            }
            return register
        }
    }
}
