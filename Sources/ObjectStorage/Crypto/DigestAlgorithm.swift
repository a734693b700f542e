internal import CCrypto

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

    var implementation: MessageDigest {
        switch self {
        case .md5: .md5
        case .sha1: .sha1
        case .sha256: .sha256
        }
    }
}

/// A hash function looked up once: libcrypto otherwise searches its providers at every use.
///
/// Safe, because the handle is immutable, never freed, and libcrypto lets threads share it; hence
/// also the unchecked conformance.
@safe struct MessageDigest: @unchecked Sendable {
    let handle: OpaquePointer

    static let md5 = MessageDigest(name: "MD5")
    static let sha1 = MessageDigest(name: "SHA1")
    static let sha256 = MessageDigest(name: "SHA256")

    private init(name: String) {
        // A machine in FIPS mode hides MD5 unless asked for without that property; it is a checksum
        // of the wire here, and guards nothing.
        guard
            let found = unsafe EVP_MD_fetch(nil, name, nil) ?? EVP_MD_fetch(nil, name, "-fips")
        else { preconditionFailure("this libcrypto has no \(name), which the protocol needs") }
        unsafe handle = found
    }
}
