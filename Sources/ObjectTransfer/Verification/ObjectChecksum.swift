/// The checksums of whole objects that stores of S3 keep, by the names in their headers; the surest
/// first.
enum ObjectChecksum: String, Sendable, Hashable, CaseIterable {
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
}
