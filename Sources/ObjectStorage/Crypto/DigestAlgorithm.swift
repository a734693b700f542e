/// A hash function of the wire.
package enum DigestAlgorithm: Sendable, Hashable {
    case md5
    case sha1
    case sha256

    /// The number of bytes of a digest.
    package var length: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        }
    }
}
