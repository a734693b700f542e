/// CRC-64/NVME, which Amazon S3 computes of every new object: reflected polynomial
/// `0x9A6C9329AC4BC9B5`, all ones at the start and the end.
///
/// Eight bytes a step from tables; no library of the platform has this polynomial.
package struct CRC64NVME: Sendable, Hashable {
    private var state: UInt64 = .max

    /// The checksum of no bytes.
    package init() {}

    /// The checksum of the bytes so far.
    package var value: UInt64 { ~state }

    /// Continues with `bytes`.
    package mutating func update(_ bytes: RawSpan) {
        let tables = Self.tables
        var state = state
        var offset = 0
        while bytes.byteCount - offset >= 8 {
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            state ^= UInt64(littleEndian: word)
            var next: UInt64 = 0
            for table in 0..<8 {
                next ^= tables[(7 - table) << 8 | Int(state >> UInt64(table * 8) & 0xFF)]
            }
            state = next
            offset += 8
        }
        while offset < bytes.byteCount {
            let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            state = state >> 8 ^ tables[Int(UInt8(truncatingIfNeeded: state) ^ byte)]
            offset += 1
        }
        self.state = state
    }

    /// Entry `n << 8 | b` is byte `b` followed by `n` zero bytes.
    private static let tables: [UInt64] = {
        var tables = [UInt64](repeating: 0, count: 8 << 8)
        for byte in 0..<256 {
            var value = UInt64(byte)
            for _ in 0..<8 {
                value = value & 1 == 1 ? value >> 1 ^ 0x9A6C_9329_AC4B_C9B5 : value >> 1
            }
            tables[byte] = value
        }
        for index in 256..<tables.count {
            let previous = tables[index - 256]
            tables[index] = previous >> 8 ^ tables[Int(previous & 0xFF)]
        }
        return tables
    }()
}
