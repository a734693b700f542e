import SyncTestSupport
import Testing

@testable import ObjectStorage

@Suite("Digests in Swift alone")
struct PortableDigestTests {
    @Test(arguments: UInt64(0)..<30)
    func `agree with the library's, whatever the length and the pieces`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 0...700, using: &generator)
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for algorithm in [DigestAlgorithm.md5, .sha1, .sha256] {
            var library = StreamingDigest(algorithm)
            var portable = PortableDigest(algorithm)
            unsafe library.update(bytes.span.bytes)
            unsafe bytes.withUnsafeBytes { whole in
                var start = 0
                while start < whole.count {
                    let end = min(whole.count, start + Int.random(in: 1...130, using: &generator))
                    unsafe portable.update(
                        UnsafeRawBufferPointer(rebasing: whole[start..<end])
                    )
                    start = end
                }
            }
            #expect(portable.finish() == library.finish(), "\(algorithm), \(count) bytes")
        }
        let key = Array(bytes.prefix(Int.random(in: 0...200, using: &generator)))
        #expect(
            PortableDigest.code(of: bytes, key: key, with: .sha256)
                == Digest.hmacSHA256(key: key, bytes)
        )
        #expect(
            PortableDigest.code(of: bytes, key: key, with: .sha1)
                == Digest.hmacSHA1(key: key, bytes)
        )
    }

    @Test func `are those of the RFCs`() {
        let text = [UInt8]("abc".utf8)
        #expect(
            hexadecimalText(PortableDigest.hash(text, with: .md5))
                == "900150983cd24fb0d6963f7d28e17f72"
        )
        #expect(
            hexadecimalText(PortableDigest.hash(text, with: .sha1))
                == "a9993e364706816aba3e25717850c26c9cd0d89d"
        )
        #expect(
            hexadecimalText(PortableDigest.hash(text, with: .sha256))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        let key = [UInt8]("Jefe".utf8)
        let question = [UInt8]("what do ya want for nothing?".utf8)
        #expect(
            hexadecimalText(PortableDigest.code(of: question, key: key, with: .sha256))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
    }
}
