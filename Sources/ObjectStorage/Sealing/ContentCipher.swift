package import SyncModel

#if SystemLibraries
internal import CSodium
#endif

/// Seals and opens the blocks of encrypted contents, with the key that two passwords make.
///
/// Safe, because the key never leaves this type. It is in memory that no core file and no swap
/// has, as far as the system allows that, and is wiped in the end.
@safe package final class ContentCipher: @unchecked Sendable {
    private let key: UnsafeMutablePointer<UInt8>
    /// By which another password is known to be another; says nothing of the key.
    package let check: String

    #if SystemLibraries
    private static let keyLength = 32
    /// All that rclone makes of the passwords; the first bytes are the key of the contents.
    private static let derivedLength = 80
    /// What rclone takes where there is no second password.
    private static let salt: [UInt8] = [
        0xA8, 0x0D, 0xF4, 0x3A, 0x8F, 0xBD, 0x03, 0x08, 0xA7, 0xCA, 0xB8, 0x3E, 0x58, 0x1F, 0x86,
        0xB1,
    ]

    /// Derives the key, which takes a tenth of a second.
    package init(_ password: EncryptionPassword) throws(CredentialsError) {
        guard sodium_init() >= 0, let memory = unsafe sodium_malloc(Self.keyLength),
            let derived = unsafe sodium_malloc(Self.derivedLength)
        else {
            throw .invalid(source: "encryption", reason: "there is no memory for a key")
        }
        unsafe key = memory.assumingMemoryBound(to: UInt8.self)
        defer { unsafe sodium_free(derived) }
        let (first, second) = (password.first.revealedBytes, password.second?.revealedBytes)
        let salt = second ?? Self.salt
        let code = unsafe crypto_pwhash_scryptsalsa208sha256_ll(
            first,
            first.count,
            salt,
            salt.count,
            16_384,
            8,
            1,
            derived.assumingMemoryBound(to: UInt8.self),
            Self.derivedLength
        )
        unsafe memory.copyMemory(from: derived, byteCount: Self.keyLength)
        var digest = [UInt8](repeating: 0, count: 16)
        unsafe Self.hash([UInt8]("osssync check".utf8), key, &digest)
        check = hexadecimalText(digest)
        // All members have values by now, so that the key is freed.
        guard code == 0 else {
            throw .invalid(source: "encryption", reason: "there is no memory for scrypt")
        }
        _ = unsafe sodium_mprotect_readonly(memory)
    }

    deinit { unsafe sodium_free(key) }

    private static func hash(
        _ text: [UInt8],
        _ key: UnsafeMutablePointer<UInt8>,
        _ digest: inout [UInt8]
    ) {
        let count = digest.count
        let length = UInt64(text.count)
        _ = unsafe crypto_generichash(&digest, count, text, length, key, keyLength)
    }

    /// The nonce of an upload, of which its key and token make another one than any other
    /// upload's.
    package func nonce(of token: String, _ object: ObjectKey) -> SealedNonce {
        var digest = [UInt8](repeating: 0, count: SealedFormat.nonceLength)
        unsafe Self.hash([UInt8](token.utf8) + [0] + object.bytes, key, &digest)
        return SealedNonce(bytes: digest)
    }

    /// Writes the block with its tag in front; it may be behind the place of that already.
    func seal(
        _ block: UnsafeRawBufferPointer,
        into sealed: UnsafeMutableRawPointer,
        _ nonce: SealedNonce
    ) {
        let target = unsafe sealed.assumingMemoryBound(to: UInt8.self)
        let source = unsafe block.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let length = UInt64(block.count)
        _ = unsafe crypto_secretbox_easy(target, source, length, nonce.bytes, key)
    }

    /// Appends the blocks of `plain`, the first of which has the number `block`, and returns how
    /// many there are.
    package func seal(
        _ plain: [UInt8],
        from block: Int64,
        _ nonce: SealedNonce,
        onto sealed: inout [UInt8]
    ) -> Int64 {
        let (size, tag) = (Int(SealedFormat.blockSize), Int(SealedFormat.tagLength))
        var count: Int64 = 0
        for start in stride(from: 0, to: plain.count, by: size) {
            let end = min(start + size, plain.count)
            let place = sealed.count
            sealed += repeatElement(0, count: tag)
            sealed += plain[start..<end]
            unsafe sealed.withUnsafeMutableBytes { sealed in
                guard let base = sealed.baseAddress else { return }
                let bytes = unsafe UnsafeRawBufferPointer(rebasing: sealed[(place + tag)...])
                unsafe seal(bytes, into: base + place, nonce.ofBlock(block + count))
            }
            count += 1
        }
        return count
    }

    /// Writes what was sealed, perhaps to its own place behind the tag; false if it was not sealed
    /// with this key and nonce.
    package func open(
        _ sealed: UnsafeRawBufferPointer,
        into block: UnsafeMutableRawPointer,
        _ nonce: SealedNonce
    ) -> Bool {
        let target = unsafe block.assumingMemoryBound(to: UInt8.self)
        guard let source = unsafe sealed.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
            return false
        }
        let length = UInt64(sealed.count)
        return unsafe crypto_secretbox_open_easy(target, source, length, nonce.bytes, key) == 0
    }

    /// Random bytes that nobody can guess, as text.
    package static func randomPassword() throws(CredentialsError) -> String {
        guard sodium_init() >= 0 else {
            throw .invalid(source: "encryption", reason: "the system has no random numbers")
        }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = bytes.count
        unsafe randombytes_buf(&bytes, count)
        return hexadecimalText(bytes)
    }
    #else
    package init(_ password: EncryptionPassword) throws(CredentialsError) {
        throw .invalid(source: "encryption", reason: Self.absence)
    }

    package static func randomPassword() throws(CredentialsError) -> String {
        throw .invalid(source: "encryption", reason: absence)
    }

    private static let absence = "it needs libsodium, without which this program was built"

    package func nonce(of token: String, _ object: ObjectKey) -> SealedNonce {
        SealedNonce(bytes: [])
    }

    func seal(
        _ block: UnsafeRawBufferPointer,
        into sealed: UnsafeMutableRawPointer,
        _ nonce: SealedNonce
    ) {}

    package func seal(
        _ plain: [UInt8],
        from block: Int64,
        _ nonce: SealedNonce,
        onto sealed: inout [UInt8]
    ) -> Int64 { 0 }

    package func open(
        _ sealed: UnsafeRawBufferPointer,
        into block: UnsafeMutableRawPointer,
        _ nonce: SealedNonce
    ) -> Bool { false }
    #endif
}

/// What makes the encryption of one object another one than that of any other.
package struct SealedNonce: Sendable, Hashable {
    let bytes: [UInt8]

    /// The nonce of a block: the number of the block is added, the lowest byte first.
    package func ofBlock(_ block: Int64) -> SealedNonce {
        var bytes = bytes
        var rest = UInt64(block)
        for index in bytes.indices {
            guard rest > 0 else { break }
            let sum = UInt64(bytes[index]) + (rest & 0xFF)
            bytes[index] = UInt8(truncatingIfNeeded: sum)
            rest = (rest >> 8) + (sum >> 8)
        }
        return SealedNonce(bytes: bytes)
    }

    /// With what stands before it in an object.
    package var header: [UInt8] { SealedFormat.magic + bytes }

    /// Nil unless it is the beginning of an encrypted object.
    package init?(header: some Collection<UInt8>) {
        guard header.count == Int(SealedFormat.headerLength),
            header.starts(with: SealedFormat.magic)
        else { return nil }
        bytes = [UInt8](header.dropFirst(SealedFormat.magic.count))
    }

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}
