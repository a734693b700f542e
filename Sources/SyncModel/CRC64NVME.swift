internal import CChecksums

/// CRC-64/NVME, which Amazon S3 computes of every new object: reflected polynomial
/// `0x9A6C9329AC4BC9B5`, all ones at the start and the end.
///
/// No library of the platform has this polynomial.
package struct CRC64NVME: Sendable, Hashable {
    private var state: UInt64 = .max

    /// The checksum of no bytes.
    package init() {}

    /// The checksum of the bytes so far.
    package var value: UInt64 { ~state }

    /// Continues with `bytes`.
    package mutating func update(_ bytes: RawSpan) {
        var register = state
        unsafe bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            let first = unsafe base.assumingMemoryBound(to: UInt8.self)
            let count = unsafe checksums_crc64nvme(&register, first, buffer.count)
            let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[count...])
            register = unsafe SlicedCRC.nvme.register(register, after: rest)
        }
        state = register
    }
}
