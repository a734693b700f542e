/// A reflected CRC with all ones at the start and the end.
struct CRCParameters: Sendable, Hashable {
    /// Bits.
    let width: Int
    /// Reflected.
    let polynomial: UInt64

    /// A value as the wire has it: the highest byte first.
    func bytes(_ value: UInt64) -> [UInt8] {
        stride(from: width - 8, through: 0, by: -8).map { UInt8(value >> UInt64($0) & 255) }
    }

    /// The CRC of a concatenation: `first` is advanced through `length` zero bytes.
    func combine(_ first: UInt64, _ second: UInt64, length: Int64) -> UInt64 {
        var power: UInt64 = 1 << UInt64(width - 1)
        var square: UInt64 = 1 << UInt64(width - 9)
        var rest = length
        while rest > 0 {
            if rest & 1 == 1 { power = multiply(power, square) }
            square = multiply(square, square)
            rest >>= 1
        }
        return multiply(power, first) ^ second
    }

    private func multiply(_ left: UInt64, _ right: UInt64) -> UInt64 {
        var product: UInt64 = 0
        var shifted = right
        var mask: UInt64 = 1 << UInt64(width - 1)
        while mask != 0 {
            if left & mask != 0 { product ^= shifted }
            shifted = shifted & 1 == 1 ? shifted >> 1 ^ polynomial : shifted >> 1
            mask >>= 1
        }
        return product
    }

    /// Eight tables of 256 values: the n-th is for a byte that n others follow.
    fileprivate func makeTables() -> [UInt64] {
        var tables = [UInt64](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var value = UInt64(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
            tables[byte] = value
        }
        for index in 256..<tables.count {
            let previous = tables[index - 256]
            tables[index] = previous >> 8 ^ tables[Int(previous & 255)]
        }
        return tables
    }
}

/// A CRC that grows with bytes, eight at a time.
struct RunningCRC {
    let parameters: CRCParameters
    private let tables: [UInt64]
    private var register: UInt64

    init(_ parameters: CRCParameters) {
        self.parameters = parameters
        tables = parameters.makeTables()
        register = UInt64.max >> UInt64(64 - parameters.width)
    }

    var value: UInt64 { register ^ (UInt64.max >> UInt64(64 - parameters.width)) }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var register = register
        let whole = bytes.count & ~7
        unsafe tables.withUnsafeBufferPointer { tables in
            var index = 0
            while index < whole {
                let word = unsafe UInt64(
                    littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                )
                let mixed = word ^ register
                var next: UInt64 = 0
                for place in 0..<8 {
                    let byte = Int(mixed >> UInt64(place * 8) & 255)
                    unsafe next ^= tables[(7 - place) << 8 | byte]
                }
                register = next
                index += 8
            }
            while index < bytes.count {
                let byte = unsafe UInt64(bytes[index])
                unsafe register = register >> 8 ^ tables[Int((register ^ byte) & 255)]
                index += 1
            }
        }
        self.register = register
    }
}
