import SyncModel
import SyncTestSupport
import Testing

/// The tables beside the library, or beside its published values where it is not linked.
@Suite("Checksums from tables")
struct SlicedCRCTests {
    private func ecma(_ bytes: [UInt8]) -> UInt64 {
        unsafe bytes.withUnsafeBytes { unsafe ~SlicedCRC.ecma.register(.max, after: $0) }
    }

    private func short(_ table: SlicedCRC, _ bytes: [UInt8]) -> UInt32 {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe ~UInt32(truncatingIfNeeded: table.register(0xFFFF_FFFF, after: bytes))
        }
    }

    @Test func `of the digits are those of the catalogue`() {
        let digits = [UInt8]("123456789".utf8)
        #expect(ecma(digits) == 0x995D_C9BB_DF19_39FA)
        #expect(short(.ieee, digits) == 0xCBF4_3926)
        #expect(short(.castagnoli, digits) == 0xE306_9283)
    }

    @Test(arguments: UInt64(0)..<40)
    func `agree with the library, whatever the length and the pieces`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 0...5_000, using: &generator)
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        #expect(ecma(bytes) == CRC64(of: bytes).value)
        for (polynomial, table) in [
            (CRC32.Polynomial.ieee, SlicedCRC.ieee), (.castagnoli, .castagnoli),
        ] {
            var library = CRC32(polynomial)
            unsafe library.update(bytes.span.bytes)
            #expect(short(table, bytes) == library.value)
        }
        // Pieces of odd lengths at odd addresses.
        unsafe bytes.withUnsafeBytes { whole in
            var (register, start) = (UInt64.max, 0)
            while start < whole.count {
                let end = min(whole.count, start + Int.random(in: 1...97, using: &generator))
                register = unsafe SlicedCRC.ecma.register(
                    register,
                    after: UnsafeRawBufferPointer(rebasing: whole[start..<end])
                )
                start = end
            }
            #expect(~register == CRC64(of: bytes).value)
        }
    }
}
