package import SyncModel

/// Where a request's body comes from.
package enum RequestBody: Sendable {
    case none
    case bytes([UInt8])
    /// Read while it is sent; the descriptor stays open until the call returns.
    case file(FileRegion)
    /// Read and encrypted while it is sent.
    case sealed(SealedBody)

    /// Up to this size, a body in memory leaves in one piece with the head of its request: two
    /// packets for each of many small files cost more than all that is computed of them.
    package static let largestSentAtOnce: Int64 = 32 << 10

    var isSentAtOnce: Bool {
        switch self {
        case .file: return false
        case .sealed(let body): if case .file = body.source { return false }
        case .none, .bytes: break
        }
        return length <= Self.largestSentAtOnce
    }

    /// The number of bytes.
    package var length: Int64 {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let region): region.range.length
        case .sealed(let body): body.range.length
        }
    }
}

/// A range of an open file.
package struct FileRegion: Sendable {
    package let descriptor: Int32
    package let range: ByteRange
    /// Asked on the transport's thread before the last bytes are handed over; false ends the
    /// request with the server still waiting for them, so that it stores nothing.
    ///
    /// It is given the checksum of the whole body.
    package let isUnchanged: (@Sendable (CRC64) -> Bool)?

    package init(
        descriptor: Int32,
        range: ByteRange,
        isUnchanged: (@Sendable (CRC64) -> Bool)? = nil
    ) {
        self.descriptor = descriptor
        self.range = range
        self.isUnchanged = isUnchanged
    }
}
