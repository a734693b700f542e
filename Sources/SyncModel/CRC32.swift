#if SystemLibraries
internal import CISAL
#endif

/// One of the two CRC-32 of S3's checksum headers.
package struct CRC32: Sendable, Hashable {
    package enum Polynomial: Sendable, Hashable {
        /// That of gzip and Ethernet: `x-amz-checksum-crc32`.
        case ieee
        /// That of iSCSI: `x-amz-checksum-crc32c`.
        case castagnoli
    }

    private let polynomial: Polynomial
    /// As the library wants it: inverted for Castagnoli's, not for the other.
    private var state: UInt32

    /// The checksum of no bytes.
    package init(_ polynomial: Polynomial) {
        self.polynomial = polynomial
        state = polynomial == .castagnoli ? .max : 0
    }

    /// The checksum of the bytes so far.
    package var value: UInt32 { polynomial == .castagnoli ? ~state : state }

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
        let first = unsafe base.assumingMemoryBound(to: UInt8.self)
        switch polynomial {
        case .ieee: state = unsafe crc32_gzip_refl(state, first, UInt64(buffer.count))
        case .castagnoli:
            var offset = 0
            // The library counts in 32 bits here.
            while offset < buffer.count {
                let count = min(buffer.count - offset, 1 << 30)
                let piece = unsafe UnsafeMutablePointer(mutating: first + offset)
                state = unsafe crc32_iscsi(piece, Int32(count), state)
                offset += count
            }
        }
        #else
        // Castagnoli's is kept inverted, as the library keeps it.
        let table = polynomial == .castagnoli ? SlicedCRC.castagnoli : SlicedCRC.ieee
        let inversion: UInt32 = polynomial == .castagnoli ? 0 : .max
        let register = unsafe table.register(UInt64(state ^ inversion), after: buffer)
        state = UInt32(truncatingIfNeeded: register) ^ inversion
        #endif
    }
}
