#if !SystemLibraries && !canImport(CryptoKit)
/// Digests where neither libcrypto nor CryptoKit is: in Swift alone.
extension Digest {
    static func hash(_ bytes: [UInt8], with algorithm: DigestAlgorithm) -> [UInt8] {
        PortableDigest.hash(bytes, with: algorithm)
    }

    static func code(
        of message: [UInt8],
        key: [UInt8],
        with algorithm: DigestAlgorithm
    ) -> [UInt8] {
        PortableDigest.code(of: message, key: key, with: algorithm)
    }
}

/// A digest fed piece by piece.
package struct StreamingDigest: ~Copyable, Sendable {
    package let algorithm: DigestAlgorithm
    private var digest: PortableDigest

    package init(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        digest = PortableDigest(algorithm)
    }

    /// Forgets all bytes so far.
    package mutating func restart() { digest = PortableDigest(algorithm) }

    /// Continues with `buffer`.
    package mutating func update(_ buffer: UnsafeRawBufferPointer) {
        unsafe digest.update(buffer)
    }

    /// Continues with `bytes`.
    package mutating func update(_ bytes: RawSpan) {
        var copy = digest
        unsafe bytes.withUnsafeBytes { unsafe copy.update($0) }
        digest = copy
    }

    /// The digest of all bytes since the start; starts over.
    package mutating func finish() -> [UInt8] { digest.finish() }
}
#endif
