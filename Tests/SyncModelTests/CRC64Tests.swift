import FoundationEssentials
import SyncModel
import SyncTestSupport
import Testing

/// `Tests/Vectors/crc64.json`, made by the official SDKs and an independent implementation.
private struct ChecksumVectors: Decodable {
    struct Input: Decodable {
        var kind: String
        var text: String?
        var hex: String?
        var byte: UInt8?
        var count: Int?
        var seed: UInt64?
    }

    struct Value: Decodable, CustomTestStringConvertible {
        var name: String
        var input: Input
        var length: Int64
        var crc64Decimal: String
        var crc64Hex: String
        var crc64nvmeBase64: String
        var testDescription: String { name }
    }

    struct Combination: Decodable, CustomTestStringConvertible {
        struct Part: Decodable {
            var length: Int64
            var crc64Decimal: String
            var combinedSoFarDecimal: String
        }
        var name: String
        var totalLength: Int64
        var parts: [Part]
        var crc64Decimal: String
        var testDescription: String { name }
    }

    struct RawCombination: Decodable {
        var crc1Decimal: String
        var crc2Decimal: String
        var len2: Int64
        var combinedDecimal: String
    }

    var values: [Value]
    var combine: [Combination]
    var combineRaw: [RawCombination]

    static func load() throws -> ChecksumVectors {
        let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let data = try Data(contentsOf: URL(filePath: "/\(tests)/Vectors/crc64.json"))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(ChecksumVectors.self, from: data)
    }
}

extension ChecksumVectors.Input {
    fileprivate func bytes() throws -> [UInt8] {
        switch kind {
        case "utf8": return [UInt8](try #require(text).utf8)
        case "hex":
            let digits = [Character](try #require(hex))
            return stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16)
            }
        case "repeat": return [UInt8](repeating: try #require(byte), count: try #require(count))
        case "counting": return (0..<(try #require(count))).map { UInt8($0 % 256) }
        case "lcg":
            var state = try #require(seed)
            return (0..<(try #require(count))).map { _ in
                state = (state * 1_103_515_245 + 12_345) % (1 << 31)
                return UInt8(truncatingIfNeeded: state >> 16)
            }
        default: throw UnknownKind(kind: kind)
        }
    }

    fileprivate struct UnknownKind: Error { let kind: String }
}

private func checksum(_ decimal: String) throws -> CRC64 {
    CRC64(value: try #require(parseUnsignedDecimal(decimal.utf8)))
}

@Suite("CRC-64")
struct CRC64Tests {
    private let vectors: ChecksumVectors

    init() throws {
        vectors = try ChecksumVectors.load()
    }

    @Test func `the published values`() throws {
        #expect(vectors.values.count == 16)
        for value in vectors.values {
            let bytes = try value.input.bytes()
            #expect(Int64(bytes.count) == value.length, "\(value.name)")
            #expect(CRC64(of: bytes) == (try checksum(value.crc64Decimal)), "\(value.name)")
            #expect(CRC64(of: bytes).value == UInt64(value.crc64Hex, radix: 16), "\(value.name)")
        }
    }

    @Test func `the published values of the other polynomial`() throws {
        for value in vectors.values {
            let bytes = try value.input.bytes()
            var checksum = CRC64NVME()
            // In two pieces, so that one does not begin at a word's border.
            unsafe checksum.update(Array(bytes.prefix(3)).span.bytes)
            unsafe checksum.update(Array(bytes.dropFirst(3)).span.bytes)
            let expected = try #require(Data(base64Encoded: value.crc64nvmeBase64))
            let found = (0..<8).map { UInt8(truncatingIfNeeded: checksum.value >> (56 - $0 * 8)) }
            #expect(found == Array(expected), "\(value.name)")
        }
    }

    /// Lengths at which the way of computing changes, and beginnings at any place of a word.
    @Test func `NVME's by the processor is that by tables`() {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<5_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for length in [0, 1, 63, 64, 1_023, 1_024, 1_025, 1_087, 1_088, 2_111, 4_096, 4_990] {
            let first = [UInt8](bytes[0..<9])
            let rest = [UInt8](bytes[9..<(9 + length)])
            var checksum = CRC64NVME()
            unsafe checksum.update(first.span.bytes)
            unsafe checksum.update(rest.span.bytes)
            let expected = unsafe (first + rest).withUnsafeBytes {
                unsafe ~SlicedCRC.nvme.register(.max, after: $0)
            }
            #expect(checksum.value == expected, "\(length) bytes")
        }
    }

    @Test func `the published combinations, part by part`() throws {
        #expect(vectors.combine.count == 7)
        for combination in vectors.combine {
            var whole = CRC64()
            for part in combination.parts {
                whole = whole.combined(
                    with: try checksum(part.crc64Decimal),
                    length: part.length
                )
                #expect(whole == (try checksum(part.combinedSoFarDecimal)))
            }
            #expect(whole == (try checksum(combination.crc64Decimal)), "\(combination.name)")
            #expect(combination.parts.map(\.length).reduce(0, +) == combination.totalLength)
        }
    }

    @Test func `the published combinations of lengths up to terabytes`() throws {
        #expect(vectors.combineRaw.count == 5)
        for raw in vectors.combineRaw {
            let combined = try checksum(raw.crc1Decimal)
                .combined(with: try checksum(raw.crc2Decimal), length: raw.len2)
            #expect(combined == (try checksum(raw.combinedDecimal)))
        }
    }

    @Test func `no bytes have the checksum zero and change nothing`() {
        #expect(CRC64().value == 0)
        #expect(CRC64(of: []) == CRC64())
        let some = CRC64(of: [1, 2, 3])
        #expect(some.combined(with: CRC64(), length: 0) == some)
        #expect(CRC64().combined(with: some, length: 3) == some)
        var continued = some
        unsafe continued.update([UInt8]().span.bytes)
        #expect(continued == some)
    }

    @Test(arguments: UInt64(0)..<20)
    func `any cut gives the same whole, continued or combined`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = (0..<(1 + random.below(5_000))).map { _ in UInt8(random.below(256)) }
        let whole = CRC64(of: bytes)
        var continued = CRC64()
        var combined = CRC64()
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = [UInt8](rest.prefix(random.below(700)))
            rest = rest.dropFirst(piece.count)
            unsafe continued.update(piece.span.bytes)
            combined = combined.combined(with: CRC64(of: piece), length: Int64(piece.count))
        }
        #expect(continued == whole)
        #expect(combined == whole)
        #expect(CRC64(value: whole.value) == whole)
    }

    @Test func `combination is associative beyond what can be computed`() {
        let (a, b, c) = (CRC64(of: [1]), CRC64(of: [2, 2]), CRC64(of: [3]))
        let (lengthB, lengthC): (Int64, Int64) = (5 << 40, 7 << 30)
        let left = a.combined(with: b, length: lengthB).combined(with: c, length: lengthC)
        let right = a.combined(
            with: b.combined(with: c, length: lengthC),
            length: lengthB + lengthC
        )
        #expect(left == right)
    }
}
