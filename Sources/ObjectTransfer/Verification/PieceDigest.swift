internal import ObjectStorage
internal import SyncModel

/// The digest that a proof needs of one piece of content, fed from the piece's beginning to its
/// end.
struct PieceDigest: ~Copyable {
    // One of them is used.
    private var digest: StreamingDigest?
    private var nvme: CRC64NVME?
    private var crc32: CRC32?
    /// The MD5 of a part, which may be continued beside others.
    var part: LaneMD5?

    /// Nil for an MD5.
    init(_ checksum: ObjectChecksum?) {
        switch checksum {
        case nil: digest = StreamingDigest(.md5)
        case .sha256: digest = StreamingDigest(.sha256)
        case .sha1: digest = StreamingDigest(.sha1)
        case .crc64nvme: nvme = CRC64NVME()
        case .crc32c: crc32 = CRC32(.castagnoli)
        case .crc32: crc32 = CRC32(.ieee)
        }
    }

    /// The MD5 of one part of many.
    init(part: LaneMD5) {
        self.part = part
    }

    mutating func update(_ bytes: RawSpan) {
        digest?.update(bytes)
        nvme?.update(bytes)
        crc32?.update(bytes)
        part?.update(bytes)
    }

    /// As the store's headers have it: the highest byte of a number first.
    mutating func finish() -> [UInt8] {
        if let nvme { return bigEndianBytes(of: nvme.value) }
        if let crc32 { return bigEndianBytes(of: crc32.value) }
        if part != nil { return part?.finish() ?? [] }
        return digest?.finish() ?? []
    }
}

private func bigEndianBytes(of value: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
    stride(from: value.bitWidth - 8, through: 0, by: -8)
        .map { UInt8(truncatingIfNeeded: value >> $0) }
}
