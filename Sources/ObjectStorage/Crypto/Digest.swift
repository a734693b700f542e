/// Digests and keyed digests of bytes that are all in memory, by CryptoKit or by libcrypto.
package enum Digest {
    package static func md5(_ bytes: [UInt8]) -> [UInt8] {
        hash(bytes, with: .md5)
    }

    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        hash(bytes, with: .sha256)
    }

    package static func hmacSHA256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        code(of: message, key: key, with: .sha256)
    }

    package static func hmacSHA1(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        code(of: message, key: key, with: .sha1)
    }
}
