internal import CCrypto

/// Digests and keyed digests of bytes that are all in memory.
package enum Digest {
    package static func md5(_ bytes: [UInt8]) -> [UInt8] {
        hash(bytes, with: .md5)
    }

    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        hash(bytes, with: .sha256)
    }

    package static func hmacSHA256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        Authenticator.sha256.code(of: message, key: key)
    }

    package static func hmacSHA1(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        Authenticator.sha1.code(of: message, key: key)
    }

    private static func hash(_ bytes: [UInt8], with algorithm: DigestAlgorithm) -> [UInt8] {
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
