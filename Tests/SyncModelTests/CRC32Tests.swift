import SyncModel
import Testing

@Suite("CRC-32")
struct CRC32Tests {
    /// The check values of the catalogue of parametrised CRC algorithms, for "123456789".
    @Test(arguments: [(CRC32.Polynomial.ieee, 0xCBF4_3926 as UInt32), (.castagnoli, 0xE306_9283)])
    func `has the published check value`(polynomial: CRC32.Polynomial, expected: UInt32) {
        #expect(checksum([Array("123456789".utf8)], polynomial) == expected)
    }

    @Test(arguments: [CRC32.Polynomial.ieee, .castagnoli])
    func `goes on where it stopped`(polynomial: CRC32.Polynomial) {
        let bytes = (0..<100_003).map { UInt8(truncatingIfNeeded: $0 * 31 % 251) }
        let whole = checksum([bytes], polynomial)
        for cut in [0, 1, 7, 4_096, 100_002, 100_003] {
            #expect(checksum([Array(bytes[..<cut]), Array(bytes[cut...])], polynomial) == whole)
        }
        #expect(checksum([], polynomial) == 0)
    }

    private func checksum(_ pieces: [[UInt8]], _ polynomial: CRC32.Polynomial) -> UInt32 {
        var checksum = CRC32(polynomial)
        for piece in pieces { unsafe checksum.update(piece.span.bytes) }
        return checksum.value
    }
}
