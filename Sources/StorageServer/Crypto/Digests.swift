internal import CCrypto

/// The digests of the protocol, by OpenSSL.
enum Digests {
    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        unsafe digest(bytes, EVP_sha256(), length: 32)
    }

    static func md5(_ bytes: [UInt8]) -> [UInt8] {
        unsafe digest(bytes, EVP_md5(), length: 16)
    }

    static func hmacSHA256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        unsafe authenticate(key, message, EVP_sha256(), length: 32)
    }

    static func hmacSHA1(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        unsafe authenticate(key, message, EVP_sha1(), length: 20)
    }

    private static func digest(
        _ bytes: [UInt8],
        _ algorithm: OpaquePointer?,
        length: Int
    ) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: length)
        var written: UInt32 = 0
        let status = unsafe EVP_Digest(bytes, bytes.count, &result, &written, algorithm, nil)
        precondition(status == 1 && Int(written) == length, "OpenSSL has the algorithm")
        return result
    }

    private static func authenticate(
        _ key: [UInt8],
        _ message: [UInt8],
        _ algorithm: OpaquePointer?,
        length: Int
    ) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: length)
        var written: UInt32 = 0
        let code = unsafe HMAC(
            algorithm,
            key,
            Int32(key.count),
            message,
            message.count,
            &result,
            &written
        )
        precondition(unsafe code != nil && Int(written) == length, "OpenSSL has the algorithm")
        return result
    }
}

/// A digest that grows with the bytes of a body.
///
/// Safe, because the context never leaves this type.
@safe final class RunningDigest {
    enum Kind: Int {
        case md5 = 16
        case sha1 = 20
        case sha256 = 32
    }

    private let context: OpaquePointer
    private let length: Int

    init(_ kind: Kind) {
        let algorithm =
            switch kind {
            case .md5: unsafe EVP_md5()
            case .sha1: unsafe EVP_sha1()
            case .sha256: unsafe EVP_sha256()
            }
        length = kind.rawValue
        guard let context = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex(context, algorithm, nil) == 1
        else { preconditionFailure("OpenSSL has the algorithm") }
        unsafe self.context = context
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        let status = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        precondition(status == 1, "a digest takes any bytes")
    }

    /// The digest; nothing may be added afterwards.
    func finish() -> [UInt8] {
        var result = [UInt8](repeating: 0, count: length)
        var written: UInt32 = 0
        let status = unsafe EVP_DigestFinal_ex(context, &result, &written)
        precondition(status == 1 && Int(written) == length, "the digest has its length")
        return result
    }
}

/// Random bytes that cannot be predicted.
func randomBytes(_ count: Int) -> [UInt8] {
    // Each number is a system call, whatever its size.
    var generator = SystemRandomNumberGenerator()
    let numbers = (0..<(count + 7) / 8).map { _ in generator.next() as UInt64 }
    let bytes = numbers.flatMap { number in
        (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    return Array(bytes.prefix(count))
}

/// Digits of `bytes` in base 16.
func hexadecimal(_ bytes: [UInt8], uppercase: Bool) -> String {
    let digits = [UInt8]((uppercase ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count * 2)
    for byte in bytes {
        result.append(digits[Int(byte >> 4)])
        result.append(digits[Int(byte & 15)])
    }
    return String(decoding: result, as: UTF8.self)
}
