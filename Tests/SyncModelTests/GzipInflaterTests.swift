#if SystemLibraries
import SyncModel
import SyncTestSupport
import Testing

@Suite("Gzip")
struct GzipInflaterTests {
    /// Three members, the one in the middle of nothing, as gzip of GNU writes them.
    private static let text = [UInt8](
        ("first\n" + String(repeating: "second, and last\n", count: 3)).utf8
    )
    private static let members: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xFF, 0x4B, 0xCB, 0x2C,
        0x2A, 0x2E, 0xE1, 0x02, 0x00, 0x2A, 0xB3, 0x4A, 0xC7, 0x06, 0x00, 0x00, 0x00,
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xFF, 0x03, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x02, 0xFF, 0x2B, 0x4E, 0x4D, 0xCE, 0xCF, 0x4B, 0xD1, 0x51, 0x48,
        0xCC, 0x4B, 0x51, 0xC8, 0x49, 0x2C, 0x2E, 0xE1, 0x2A, 0x26, 0x28, 0x00, 0x00,
        0xE5, 0xF9, 0xC6, 0x26, 0x33, 0x00, 0x00, 0x00,
    ]

    /// The first member with everything that a header can have: a field of its own, a name, a
    /// comment and a checksum.
    private static let named: [UInt8] = {
        var member: [UInt8] = [0x1F, 0x8B, 0x08, 0x1E, 0x00, 0x00, 0x00, 0x00, 0x02, 0xFF]
        member += [0x06, 0x00, 0x41, 0x42, 0x02, 0x00, 0x1F, 0x8B]
        member += [UInt8]("name.csv\0a comment\0".utf8)
        member += [0xE0, 0x7A]
        return member + members[10..<26]
    }()

    private static func inflated(
        _ bytes: [UInt8],
        pieces: Int
    ) throws -> (text: [UInt8], isComplete: Bool) {
        var inflater = GzipInflater()
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            let end = min(bytes.count, start + pieces)
            try inflater.inflate([UInt8](bytes[start..<end])) { text += $0 }
        }
        return (text, inflater.isComplete)
    }

    @Test(arguments: [1, 2, 3, 7, 64, 1_000])
    func `members after one another are one text, in pieces of any size`(pieces: Int) throws {
        let (text, isComplete) = try Self.inflated(Self.members, pieces: pieces)
        #expect(text == Self.text)
        #expect(isComplete)
    }

    @Test func `a header may lie in two pieces, wherever it is divided`() throws {
        let bytes = Self.named + Self.named
        for count in 1..<bytes.count {
            var inflater = GzipInflater()
            var text: [UInt8] = []
            for piece in [bytes[..<count], bytes[count...]] {
                try inflater.inflate([UInt8](piece)) { text += $0 }
            }
            #expect(text == [UInt8]("first\nfirst\n".utf8), "divided at \(count)")
            let isComplete = inflater.isComplete
            #expect(isComplete)
        }
        #expect(try Self.inflated(bytes, pieces: 1).text == [UInt8]("first\nfirst\n".utf8))
        var damaged = bytes
        damaged[20] ^= 1
        #expect(throws: GzipInflater.Failure.self) { _ = try Self.inflated(damaged, pieces: 7) }
    }

    @Test func `every text that is cut short is incomplete, unless it ends with a member`() throws {
        var complete: Set<Int> = []
        for count in 0..<Self.members.count {
            let (text, isComplete) = try Self.inflated(
                [UInt8](Self.members.prefix(count)),
                pieces: 5
            )
            #expect(Self.text.starts(with: text))
            if isComplete { complete.insert(count) }
        }
        #expect(complete.count == 2)
    }

    @Test func `what is no gzip, and a damaged content, is refused`() {
        #expect(throws: GzipInflater.Failure.self) {
            _ = try Self.inflated([UInt8]("no gzip at all, but longer".utf8), pieces: 64)
        }
        #expect(throws: GzipInflater.Failure.self) {
            _ = try Self.inflated(Self.members + [UInt8]("rest".utf8), pieces: 1_000)
        }
        // In the checksum of the last member, which ends four bytes before the length does.
        var damaged = Self.members
        damaged[damaged.count - 8] ^= 1
        #expect(throws: GzipInflater.Failure.self) {
            _ = try Self.inflated(damaged, pieces: 1_000)
        }
    }
}
#endif
