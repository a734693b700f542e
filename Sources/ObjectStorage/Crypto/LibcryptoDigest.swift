#if !canImport(CryptoKit)
internal import CCrypto

/// Digests by libcrypto.
extension Digest {
    static func hash(_ bytes: [UInt8], with algorithm: DigestAlgorithm) -> [UInt8] {
        let function = algorithm.implementation
        return unsafe [UInt8](unsafeUninitializedCapacity: algorithm.length) { buffer, count in
            var length: UInt32 = 0
            let code = unsafe EVP_Digest(
                bytes,
                bytes.count,
                buffer.baseAddress,
                &length,
                function.handle,
                nil
            )
            precondition(code == 1, "EVP_Digest fails only without memory")
            count = Int(length)
        }
    }

    /// The HMAC (RFC 2104): by two digests, for which libcrypto's own would copy three contexts.
    static func code(
        of message: [UInt8],
        key: [UInt8],
        with algorithm: DigestAlgorithm
    ) -> [UInt8] {
        let key = key.count > blockLength ? hash(key, with: algorithm) : key
        func keyed(_ pad: UInt8, _ rest: [UInt8]) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(blockLength + rest.count)
            for byte in key { bytes.append(byte ^ pad) }
            bytes += repeatElement(pad, count: blockLength - key.count)
            bytes += rest
            return hash(bytes, with: algorithm)
        }
        return keyed(0x5C, keyed(0x36, message))
    }

    /// Of all the functions here, in bytes.
    private static let blockLength = 64
}

/// A digest fed piece by piece; feeding allocates nothing, so callbacks of C may do it.
///
/// Safe, because the context never leaves this type and is used by its one owner only; a transfer
/// moves between threads but never runs on two, hence the unchecked conformance.
@safe package struct StreamingDigest: ~Copyable, @unchecked Sendable {
    package let algorithm: DigestAlgorithm
    private let context: OpaquePointer

    package init(_ algorithm: DigestAlgorithm) {
        guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        self.algorithm = algorithm
        unsafe self.context = context
        restart()
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Forgets all bytes so far.
    package mutating func restart() {
        let function = algorithm.implementation
        let code = unsafe EVP_DigestInit_ex2(context, function.handle, nil)
        precondition(code == 1, "EVP_DigestInit_ex2 fails only without memory")
    }

    /// Continues with `buffer`.
    package mutating func update(_ buffer: UnsafeRawBufferPointer) {
        guard let base = buffer.baseAddress else { return }
        let code = unsafe EVP_DigestUpdate(context, base, buffer.count)
        precondition(code == 1, "EVP_DigestUpdate fails only after the digest was read")
    }

    /// Continues with `bytes`.
    package mutating func update(_ bytes: RawSpan) {
        let context = unsafe context
        unsafe bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            let code = unsafe EVP_DigestUpdate(context, base, buffer.count)
            precondition(code == 1, "EVP_DigestUpdate fails only after the digest was read")
        }
    }

    /// The digest of all bytes since the start; starts over.
    package mutating func finish() -> [UInt8] {
        let context = unsafe context
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: algorithm.length) {
            buffer,
            count in
            var length: UInt32 = 0
            let code = unsafe EVP_DigestFinal_ex(context, buffer.baseAddress, &length)
            precondition(code == 1, "EVP_DigestFinal_ex fails only when called twice")
            count = Int(length)
        }
        restart()
        return digest
    }
}

extension DigestAlgorithm {
    fileprivate var implementation: MessageDigest {
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
@safe private struct MessageDigest: @unchecked Sendable {
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
#endif
