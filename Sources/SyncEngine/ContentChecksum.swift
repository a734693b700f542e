internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// The checksums of whole objects that stores of S3 keep, by the names in their headers; the surest
/// first.
enum ContentChecksum: String, Sendable, Hashable, CaseIterable {
    case sha256
    case crc64nvme
    case sha1
    case crc32c
    case crc32

    /// The number of bytes of a value.
    var length: Int {
        switch self {
        case .sha256: 32
        case .crc64nvme: 8
        case .sha1: 20
        case .crc32c, .crc32: 4
        }
    }

    /// Reads a range of a file; the value is as the header has it, the highest byte first.
    func value(
        of directory: MirrorDirectory,
        _ file: OpenFile,
        _ range: ByteRange,
        unless interruption: Interruption?
    ) throws(LocalError) -> [UInt8] {
        switch self {
        case .sha256, .sha1:
            var digest = StreamingDigest(self == .sha256 ? .sha256 : .sha1)
            try directory.read(file, range, unless: interruption) { digest.update($0) }
            return digest.finish()
        case .crc64nvme:
            var checksum = CRC64NVME()
            try directory.read(file, range, unless: interruption) { checksum.update($0) }
            return bigEndianBytes(of: checksum.value)
        case .crc32c, .crc32:
            var checksum = CRC32(self == .crc32c ? .castagnoli : .ieee)
            try directory.read(file, range, unless: interruption) { checksum.update($0) }
            return bigEndianBytes(of: checksum.value)
        }
    }
}

private func bigEndianBytes(of value: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
    stride(from: value.bitWidth - 8, through: 0, by: -8)
        .map { UInt8(truncatingIfNeeded: value >> $0) }
}
