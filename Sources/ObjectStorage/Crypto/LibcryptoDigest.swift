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

    static func code(
        of message: [UInt8],
        key: [UInt8],
        with algorithm: DigestAlgorithm
    ) -> [UInt8] {
        switch algorithm {
        case .md5: preconditionFailure("the protocol has no HMAC with MD5")
        case .sha1: Authenticator.sha1.code(of: message, key: key)
        case .sha256: Authenticator.sha256.code(of: message, key: key)
        }
    }
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

/// HMAC with one hash function, prepared once: libcrypto otherwise searches its providers for both
/// at every use.
///
/// Safe, because the context is only copied, which libcrypto lets threads do at once; hence also
/// the unchecked conformance.
@safe private struct Authenticator: @unchecked Sendable {
    static let sha1 = Authenticator("SHA1", length: 20)
    static let sha256 = Authenticator("SHA256", length: 32)

    private let context: OpaquePointer
    private let length: Int

    private init(_ name: String, length: Int) {
        self.length = length
        let function = unsafe EVP_MAC_fetch(nil, "HMAC", nil)
        guard let context = unsafe EVP_MAC_CTX_new(function) else {
            preconditionFailure("this libcrypto has no HMAC, which the protocol needs")
        }
        var name = [CChar](name.utf8CString)
        let code = unsafe name.withUnsafeMutableBufferPointer { name in
            var parameters = unsafe [
                OSSL_PARAM_construct_utf8_string("digest", name.baseAddress, 0),
                OSSL_PARAM_construct_end(),
            ]
            return unsafe EVP_MAC_CTX_set_params(context, &parameters)
        }
        precondition(code == 1, "this libcrypto has no HMAC with it, which the protocol needs")
        unsafe self.context = context
    }

    func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        let copy = unsafe EVP_MAC_CTX_dup(context)
        defer { unsafe EVP_MAC_CTX_free(copy) }
        return unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            let isDone =
                unsafe EVP_MAC_init(copy, key, key.count, nil) == 1
                && EVP_MAC_update(copy, message, message.count) == 1
                && EVP_MAC_final(copy, buffer.baseAddress, &count, length) == 1
            precondition(isDone, "HMAC fails only without memory")
        }
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
