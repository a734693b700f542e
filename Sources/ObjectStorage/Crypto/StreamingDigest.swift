internal import CCrypto

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
