import Testing

@testable import ObjectStorage

@Suite("Digests and encodings")
struct CryptoTests {
    @Test func `digests agree with published values`() {
        let text = [UInt8]("abc".utf8)
        #expect(hexadecimalText(Digest.md5(text)) == "900150983cd24fb0d6963f7d28e17f72")
        #expect(
            hexadecimalText(Digest.sha256(text))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        #expect(hexadecimalText(Digest.md5([])) == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(Base64.encode(Digest.md5([])) == "1B2M2Y8AsgTpgAmY7PhCfg==")
    }

    /// RFC 2202, section 3, case 2, and RFC 4231, section 4.3.
    @Test func `keyed digests agree with the RFCs`() {
        let key = [UInt8]("Jefe".utf8)
        let text = [UInt8]("what do ya want for nothing?".utf8)
        #expect(
            hexadecimalText(Digest.hmacSHA1(key: key, text))
                == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
        )
        #expect(
            hexadecimalText(Digest.hmacSHA256(key: key, text))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
        #expect(Digest.hmacSHA256(key: [], []).count == 32)
    }

    /// RFC 2202, section 3, case 6, and RFC 4231, section 4.7.
    @Test func `a key longer than a block is hashed first`() {
        let text = [UInt8]("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        #expect(
            hexadecimalText(Digest.hmacSHA1(key: [UInt8](repeating: 0xAA, count: 80), text))
                == "aa4ae5e15272d00e95705637ce8a3b55ed402112"
        )
        #expect(
            hexadecimalText(Digest.hmacSHA256(key: [UInt8](repeating: 0xAA, count: 131), text))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        )
    }

    @Test(arguments: [DigestAlgorithm.md5, .sha1, .sha256])
    func `a digest fed in pieces equals one of the whole`(algorithm: DigestAlgorithm) {
        let bytes = (0..<100_003).map { UInt8(truncatingIfNeeded: $0 * 31) }
        var stream = StreamingDigest(algorithm)
        for length in [1, 63, 64, 65, 4_096, 65_521] {
            for start in stride(from: 0, to: bytes.count, by: length) {
                let end = min(start + length, bytes.count)
                unsafe bytes[start..<end].withUnsafeBytes { unsafe stream.update($0) }
            }
            let whole = Digest.hash(bytes, with: algorithm)
            #expect(stream.finish() == whole, "after finishing, the digest starts over")
        }
        unsafe stream.update(bytes.span.bytes)
        stream.restart()
        #expect(stream.finish() == Digest.hash([], with: algorithm))
    }

    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `base64 agrees with the RFC`(plain: String, encoded: String) {
        #expect(Base64.encode([UInt8](plain.utf8)) == encoded)
        #expect(Base64.decode(encoded.utf8) == [UInt8](plain.utf8))
    }

    @Test func `base64 of all bytes comes back, and broken base64 does not decode`() {
        let bytes = (0...255).map { UInt8($0) }
        #expect(Base64.decode(Base64.encode(bytes).utf8) == bytes)
        #expect(Base64.decode("Zm9v\nYmFy\n".utf8) == [UInt8]("foobar".utf8))
        for text in ["Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zm9v=", "Zg==Zg==", "Zm9*"] {
            #expect(Base64.decode(text.utf8) == nil, "\(text)")
        }
    }

    @Test func `all bytes survive percent coding`() {
        let bytes = (0...255).map { UInt8($0) }
        for keepsSlash in [true, false] {
            let text = percentEncode(bytes, keepsSlash: keepsSlash)
            #expect(percentDecode([UInt8](text.utf8)) == bytes)
            #expect(percentDecode([UInt8](text.utf8), style: .form) == bytes)
            #expect(text.contains("/") == keepsSlash)
        }
        #expect(percentEncode("a b+ü~".utf8, keepsSlash: true) == "a%20b%2B%C3%BC~")
        #expect(percentDecode([UInt8]("%e2%82%ac".utf8)) == [UInt8]("€".utf8))
    }

    @Test func `a broken escape does not decode`() {
        for text in ["%", "%4", "a%", "%zz", "%4g", "%%"] {
            #expect(percentDecode([UInt8](text.utf8)) == nil, "\(text)")
        }
        #expect(percentDecode([UInt8]("a+b".utf8)) == [UInt8]("a+b".utf8))
        #expect(percentDecode([UInt8]("a+b".utf8), style: .form) == [UInt8]("a b".utf8))
    }

    @Test func `what follows a pattern is found by bytes`() {
        #expect(bytes(of: "http://a://b", after: "://").map(Array.init) == Array("a://b".utf8))
        #expect(bytes(of: "a:/://", after: "://")?.isEmpty == true)
        // A slash with a combining mark is one character, and still a slash.
        #expect(bytes(of: "a://\u{301}b", after: "://")?.count == 3)
        #expect(bytes(of: "a:/", after: "://") == nil)
        #expect(bytes(of: "", after: "x") == nil)
    }
}
