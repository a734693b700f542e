import SyncModel
import Testing

@Suite("Marks of a range")
struct RangeMarksTests {
    /// The lengths of the marks of a range that grew by a MiB at a time.
    private static func lengths(_ received: Int64, of length: Int64, size: Int64) -> [Int64] {
        let range = ByteRange(offset: 0, length: length << 20)
        var before: RangeProgress?
        for step in 1...received {
            var now = RangeProgress(index: 0, range: range, received: step << 20)
            now.mark(before, ofObjectOf: size << 20)
            before = now
        }
        return before?.marks.map { $0.length >> 20 } ?? []
    }

    @Test func `are every beginning of one that is not complete`() {
        #expect(Self.lengths(6, of: 8, size: 100) == [1, 2, 3, 4, 5])
        #expect(Self.lengths(500, of: 512, size: 512).count <= 64)
    }

    @Test func `are 4 MiB apart in a complete one`() {
        #expect(Self.lengths(32, of: 32, size: 100) == [4, 8, 12, 16, 20, 24, 28])
    }

    @Test func `are no more than 256 in all complete ones of an object`() {
        #expect(Self.lengths(32, of: 32, size: 4_096) == [16])
        #expect(Self.lengths(32, of: 32, size: 8_192) == [])
        #expect(Self.lengths(512, of: 512, size: 512).count <= 256)
    }
}
