#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation

/// Digests by Apple's CryptoKit; compiled with an Apple SDK only.
extension Digest {
    static func hash(_ bytes: [UInt8], with algorithm: DigestAlgorithm) -> [UInt8] {
        switch algorithm {
        case .md5: Array(Insecure.MD5.hash(data: bytes))
        case .sha1: Array(Insecure.SHA1.hash(data: bytes))
        case .sha256: Array(SHA256.hash(data: bytes))
        }
    }

    static func code(
        of message: [UInt8],
        key: [UInt8],
        with algorithm: DigestAlgorithm
    ) -> [UInt8] {
        let key = SymmetricKey(data: key)
        return switch algorithm {
        case .md5: Array(HMAC<Insecure.MD5>.authenticationCode(for: message, using: key))
        case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: key))
        case .sha256: Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
        }
    }
}

/// A digest fed piece by piece.
package struct StreamingDigest: ~Copyable, Sendable {
    private enum Function {
        case md5(Insecure.MD5)
        case sha1(Insecure.SHA1)
        case sha256(SHA256)

        init(_ algorithm: DigestAlgorithm) {
            switch algorithm {
            case .md5: self = .md5(Insecure.MD5())
            case .sha1: self = .sha1(Insecure.SHA1())
            case .sha256: self = .sha256(SHA256())
            }
        }
    }

    package let algorithm: DigestAlgorithm
    private var function: Function

    package init(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        function = Function(algorithm)
    }

    /// Forgets all bytes so far.
    package mutating func restart() { function = Function(algorithm) }

    /// Continues with `buffer`.
    package mutating func update(_ buffer: UnsafeRawBufferPointer) {
        switch function {
        case .md5(var hash):
            unsafe hash.update(bufferPointer: buffer)
            function = .md5(hash)
        case .sha1(var hash):
            unsafe hash.update(bufferPointer: buffer)
            function = .sha1(hash)
        case .sha256(var hash):
            unsafe hash.update(bufferPointer: buffer)
            function = .sha256(hash)
        }
    }

    /// Continues with `bytes`.
    package mutating func update(_ bytes: RawSpan) {
        var function = Function(algorithm)
        swap(&function, &self.function)
        var copy = StreamingDigest(algorithm)
        copy.function = function
        unsafe bytes.withUnsafeBytes { unsafe copy.update($0) }
        self.function = copy.function
    }

    /// The digest of all bytes since the start; starts over.
    package mutating func finish() -> [UInt8] {
        let digest: [UInt8] =
            switch function {
            case .md5(let hash): Array(hash.finalize())
            case .sha1(let hash): Array(hash.finalize())
            case .sha256(let hash): Array(hash.finalize())
            }
        restart()
        return digest
    }
}
#endif
