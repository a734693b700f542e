import ObjectStorage
import SyncModel
import SyncPlanner
import SyncTestSupport
import Testing

@testable import SyncEngine

/// What a cut mirror is made of, without files.
@Suite("Shards")
struct ShardTests {
    private static func randomKey(_ generator: inout SeededGenerator) -> ObjectKey {
        let bytes: [UInt8] = [0x20, 0x21, 0x2D, 0x2F, 0x30, 0x61, 0x62, 0xC3, 0xFF]
        let count = Int.random(in: 1...6, using: &generator)
        return ObjectKey(
            (0..<count).map { _ in bytes[Int.random(in: 0..<bytes.count, using: &generator)] }
        )
    }

    private static func cutting(_ generator: inout SeededGenerator) -> Cutting {
        let count = Int.random(in: 0...20, using: &generator)
        let bounds = Set((0..<count).map { _ in randomKey(&generator) }).sorted()
        return Cutting(name: "c", bounds: bounds)
    }

    @Test(arguments: 0..<200)
    func `every key is in just one shard, which its number names`(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let cutting = Self.cutting(&generator)
        #expect(cutting.numbers.sorted() == [Int](0..<cutting.count))
        let ranges = cutting.rangesByNumber
        for _ in 0..<100 {
            let key = Self.randomKey(&generator)
            let owners = ranges.indices.filter { ranges[$0].contains(key) }
            #expect(owners == [cutting.number(of: key)])
        }
    }

    @Test func `shards with numbers next to each other lie far apart`() {
        let bounds = (1..<64).map { ObjectKey([UInt8($0)]) }
        let numbers = Cutting(name: "c", bounds: bounds).numbers
        for (one, other) in zip(numbers, numbers.dropFirst()) {
            #expect(abs(one - other) > 8)
        }
    }

    @Test func `a result says what the guard of its shard was`() throws {
        let check = StateFileTests.check
        let result = ShardResult(
            round: "r",
            cutting: "c",
            check: check,
            problems: 9,
            waiting: 10,
            mayConfirm: true,
            transferred: 11,
            bytes: 12,
            isInStep: true,
            notMirrored: 14,
            recorded: 13
        )
        #expect(ShardResult(content: result.content) == result)
        let sum = DeletionGuard.sum(
            of: [check, check],
            .push,
            allowsEmpty: true,
            limit: .count(3)
        )
        #expect(sum.deletions == 2 && sum.rows == 4 && sum.listedObjects == 6)
        #expect(sum.walkedEntries == 8 && sum.failedItems == 10 && sum.skippedItems == 12)
        #expect(sum.vanishedItems == 14 && sum.leftOutNames == 16)
        #expect(!sum.isScanProven && sum.isListingProven && sum.isManifestRebuilt)
    }

    @Test func `a sample of the largest sizes ends`() {
        var sample = KeySample(limit: 4)
        for number in 100..<200 { sample.add(ObjectKey("f\(number)"), size: .max) }
        #expect(sample.points.count <= 4)
        #expect(sample.objects == 100)
        #expect(sample.defaultCount == Cutting.maximumCount)
    }

    @Test func `a sample that was thinned has the exact sums and cuts evenly`() async throws {
        var sample = KeySample(limit: 64)
        let keys = (0..<20_000).map { ObjectKey("f\(100_000 + $0)") }
        for key in keys { sample.add(key, size: 1_000) }
        #expect(sample.points.count <= 64 && sample.points.count > 16)
        for point in sample.points {
            #expect(keys[point.objects] == point.key)
            #expect(point.bytes == Int64(point.objects) * 1_000)
        }
        let bounds = try await sample.bounds(count: 4) { _ in false }
        #expect(bounds.count == 3)
        for (index, point) in bounds.enumerated() {
            #expect(abs(point.objects - (index + 1) * 5_000) < 1_500)
        }
        let others = try await sample.bounds(count: 4) { $0 == bounds[0].key }
        #expect(others.first.map { $0.key > bounds[0].key } == true)
    }

    @Test func `names that a cut would part from their directories are found`() {
        #expect(ObjectKey("a/b").possibleFiles == ["a"])
        #expect(ObjectKey("2024-01/x.y").possibleFiles == ["2024", "2024-01", "2024-01/x"])
        #expect(ObjectKey("abc").possibleFiles == [])
    }

    @Test(arguments: [
        ("2026-01-31", true), ("a.b_C-9", true), ("", false), (".", false), ("..", false),
        ("a/b", false), ("a b", false), ("ä", false),
        (String(repeating: "x", count: 64), true), (String(repeating: "x", count: 65), false),
    ])
    func `a round's name is one that every file system takes`(name: String, isAllowed: Bool) {
        let isTaken = (try? Round.check(name)) != nil
        #expect(isTaken == isAllowed)
    }
}
