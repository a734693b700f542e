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
        authenticate(message, key: key, with: .sha256, length: 32)
    }

    package static func hmacSHA1(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        authenticate(message, key: key, with: .sha1, length: 20)
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

    private static func authenticate(
        _ message: [UInt8],
        key: [UInt8],
        with function: MessageDigest,
        length: Int
    ) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            var length: UInt32 = 0
            let result = unsafe HMAC(
                function.handle,
                key,
                Int32(key.count),
                message,
                message.count,
                buffer.baseAddress,
                &length
            )
            precondition(unsafe result != nil, "HMAC fails only without memory")
            count = Int(length)
        }
    }
}
