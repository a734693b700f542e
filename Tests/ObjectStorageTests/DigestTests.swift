import Testing

@testable import ObjectStorage

@Suite("Digests")
struct DigestTests {
    @Test func `are those of the RFCs`() {
        let text = [UInt8]("abc".utf8)
        #expect(hexadecimalText(Digest.md5(text)) == "900150983cd24fb0d6963f7d28e17f72")
        #expect(
            hexadecimalText(Digest.sha256(text))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        let key = [UInt8]("Jefe".utf8)
        let question = [UInt8]("what do ya want for nothing?".utf8)
        #expect(
            hexadecimalText(Digest.hmacSHA256(key: key, question))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
        #expect(
            hexadecimalText(Digest.hmacSHA1(key: key, question))
                == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
        )
    }

    @Test(arguments: [DigestAlgorithm.md5, .sha1, .sha256])
    func `fed piece by piece are those of the whole`(algorithm: DigestAlgorithm) {
        let bytes = (0..<700).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var whole = StreamingDigest(algorithm)
        unsafe whole.update(bytes.span.bytes)
        var pieces = StreamingDigest(algorithm)
        for start in stride(from: 0, to: bytes.count, by: 67) {
            let piece = Array(bytes[start..<min(start + 67, bytes.count)])
            unsafe pieces.update(piece.span.bytes)
        }
        #expect(pieces.finish() == whole.finish())
    }
}
