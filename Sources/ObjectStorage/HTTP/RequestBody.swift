package import SyncModel

/// Where a request's body comes from.
package enum RequestBody: Sendable {
    case none
    case bytes([UInt8])
    /// Read while it is sent; the descriptor stays open until the call returns.
    case file(FileRegion)

    /// The number of bytes.
    package var length: Int64 {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let region): region.range.length
        }
    }
}

/// A range of an open file.
package struct FileRegion: Sendable {
    package let descriptor: Int32
    package let range: ByteRange

    package init(descriptor: Int32, range: ByteRange) {
        self.descriptor = descriptor
        self.range = range
    }
}
