import SyncModel
import SyncTestSupport
import Testing

@Suite("Parts of a multipart upload")
struct PartLayoutTests {
    private let mebibyte: Int64 = 1 << 20

    @Test func `the preferred size is used while 10,000 parts suffice`() throws {
        let exact = try #require(
            PartLayout(objectSize: 10_000 * mebibyte, preferredPartSize: mebibyte)
        )
        #expect(exact.partSize == mebibyte)
        #expect(exact.partCount == 10_000)
        let more = try #require(
            PartLayout(objectSize: 10_000 * mebibyte + 1, preferredPartSize: mebibyte)
        )
        #expect(more.partSize == 2 * mebibyte)
        #expect(more.partCount == 5_001)
    }

    @Test func `sizes around one part`() throws {
        for (size, count, last) in [
            (0, 1, 0), (1, 1, 1), (102_399, 1, 102_399), (102_400, 1, 102_400), (102_401, 2, 1),
            (204_800, 2, 102_400), (204_801, 3, 1),
        ] as [(Int64, Int, Int64)] {
            let layout = try #require(PartLayout(objectSize: size, preferredPartSize: 102_400))
            #expect(layout.partCount == count)
            #expect(layout.range(ofPartAt: count - 1).length == last)
            #expect(layout.range(ofPartAt: count - 1).end == size)
        }
    }

    @Test func `a part is never smaller or larger than the service allows`() throws {
        let small = try #require(PartLayout(objectSize: 1 << 29, preferredPartSize: 1))
        #expect(small.partSize == PartLayout.minimumPartSize)
        let s3 = try #require(
            PartLayout(objectSize: 1 << 30, preferredPartSize: 1, minimumPartSize: 5 * mebibyte)
        )
        #expect(s3.partSize == 5 * mebibyte)
        let large = try #require(PartLayout(objectSize: 1 << 40, preferredPartSize: .max))
        #expect(large.partSize == 5 << 30)
    }

    @Test func `the largest object has 10,000 parts of 5 GiB`() throws {
        let limit = PartLayout.maximumObjectSize
        #expect(limit == 53_687_091_200_000)
        let layout = try #require(PartLayout(objectSize: limit, preferredPartSize: mebibyte))
        #expect(layout.partSize == 5 << 30)
        #expect(layout.partCount == 10_000)
        #expect(layout.range(ofPartAt: 9_999).end == limit)
        #expect(PartLayout(objectSize: limit + 1, preferredPartSize: mebibyte) == nil)
        #expect(PartLayout(objectSize: .max, preferredPartSize: .max) == nil)
    }

    @Test func `what is no size has no layout`() {
        #expect(PartLayout(objectSize: -1, preferredPartSize: mebibyte) == nil)
        #expect(PartLayout(objectSize: 1, preferredPartSize: 0) == nil)
        #expect(PartLayout(objectSize: 1, preferredPartSize: -1) == nil)
        #expect(PartLayout(objectSize: 1, recordedPartSize: 0) == nil)
        #expect(PartLayout(objectSize: -1, recordedPartSize: 1) == nil)
    }

    @Test func `a recorded part size is kept, or refused if it cannot hold the object`() throws {
        let kept = try #require(PartLayout(objectSize: 10_000, recordedPartSize: 1))
        #expect(kept.partCount == 10_000)
        #expect(PartLayout(objectSize: 10_001, recordedPartSize: 1) == nil)
        #expect(PartLayout(objectSize: 1, recordedPartSize: (5 << 30) + 1) == nil)
        #expect(PartLayout(objectSize: PartLayout.maximumObjectSize, recordedPartSize: 1) == nil)
    }

    @Test(arguments: UInt64(0)..<200)
    func `the parts are the object, without gap or overlap`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bits = random.below(46)
        let size = Int64(random.next() % (1 << UInt64(bits))) + Int64(random.below(3))
        let preferred = Int64(1 + random.below(1 << 28))
        let layout = try #require(PartLayout(objectSize: size, preferredPartSize: preferred))
        #expect(layout.partCount >= 1 && layout.partCount <= 10_000)
        #expect(layout.partSize >= PartLayout.minimumPartSize)
        #expect(layout.partSize <= PartLayout.maximumPartSize)
        var end: Int64 = 0
        for index in 0..<layout.partCount {
            let range = layout.range(ofPartAt: index)
            #expect(range.offset == end)
            #expect(index == layout.partCount - 1 || range.length == layout.partSize)
            end = range.end
        }
        #expect(end == size)
        #expect(PartLayout(objectSize: size, recordedPartSize: layout.partSize) == layout)
    }

    @Test func `part numbers count from 1 and indices from 0`() {
        #expect(PartNumber(0) == nil)
        #expect(PartNumber(-1) == nil)
        #expect(PartNumber(10_001) == nil)
        #expect(PartNumber(1)?.index == 0)
        #expect(PartNumber(10_000)?.index == 9_999)
        #expect(PartNumber(index: 0).value == 1)
        #expect(PartNumber(index: 9_999).value == 10_000)
        #expect(PartNumber(index: 1) < PartNumber(index: 2))
    }
}
