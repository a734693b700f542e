import SyncModel
import SyncTestSupport
import Testing

@testable import SyncEngine

@Suite("Ranges of a listing")
struct ListingRangesTests {
    private static let limits = ListingRanges.Limits(width: 32, pages: 64)

    /// How much faster than one request after the other, and with how many requests for ten pages.
    private static let shapes: [(KeyShape, factor: Int, requests: Int)] = [
        (.numbers, 8, 12), (.unpadded, 4, 13), (.hexadecimal, 8, 12), (.upperCase, 6, 13),
        (.dates, 6, 13), (.words, 2, 14), (.folders, 8, 13), (.hexadecimalFolders, 8, 12),
        (.characters, 4, 13), (.strays, 4, 13),
    ]

    @Test(arguments: shapes)
    func `a large bucket is listed by many requests at once, and few in vain`(
        shape: KeyShape,
        factor: Int,
        requests: Int
    ) throws {
        var generator = SeededGenerator(seed: 1)
        let prefix: ObjectKey = "some/prefix/"
        let keys = shape.keys(12_000, &generator).map { ObjectKey(prefix.bytes + $0.bytes) }
        var model = ListingModel(keys, pageSize: 20)
        var ranges = ListingModel.ranges(prefix: prefix, limits: Self.limits)
        let outcome = try model.listInRounds(&ranges, limits: Self.limits)
        #expect(outcome.keys == model.keys)
        let sequential = model.sequentialRequests
        #expect(outcome.rounds * factor <= sequential, "\(outcome.rounds) rounds")
        #expect(model.requests * 10 <= sequential * requests, "\(model.requests) requests")
        #expect(outcome.mostAtOnce <= Self.limits.width)
        #expect(outcome.mostHeld <= Self.limits.pages * 2 + 2)
    }

    @Test(arguments: KeyShape.allCases, [0, 1, 999, 1_000, 1_001, 2_999, 3_000])
    func `a small bucket costs no more requests than pages`(shape: KeyShape, count: Int) throws {
        var generator = SeededGenerator(seed: 2)
        var model = ListingModel(shape.keys(count, &generator), pageSize: 1_000)
        var ranges = ListingModel.ranges(limits: Self.limits)
        let outcome = try model.listInRounds(&ranges, limits: Self.limits)
        #expect(outcome.keys == model.keys)
        #expect(model.requests == model.sequentialRequests)
    }

    @Test(arguments: [(4, 2), (10, 4), (30, 8), (100, 20)])
    func `few guesses are tried behind the last key`(pages: Int, wasted: Int) throws {
        var generator = SeededGenerator(seed: 5)
        let keys = KeyShape.numbers.keys(pages * 1_000, &generator)
        var model = ListingModel(keys, pageSize: 1_000)
        var ranges = ListingModel.ranges(limits: Self.limits)
        let outcome = try model.listInRounds(&ranges, limits: Self.limits)
        #expect(outcome.keys == model.keys)
        #expect(outcome.rounds <= pages)
        #expect(model.requests <= pages + wasted)
    }

    @Test func `one request at a time costs no more requests than pages`() throws {
        var generator = SeededGenerator(seed: 3)
        var model = ListingModel(KeyShape.folders.keys(20_000, &generator), pageSize: 100)
        let limits = ListingRanges.Limits(width: 1, pages: 48)
        let splits = stride(from: 500, to: 20_000, by: 800).map { model.keys[$0] }
        var ranges = ListingModel.ranges(splits: splits, limits: limits)
        let outcome = try model.listInRounds(&ranges, limits: limits)
        #expect(outcome.keys == model.keys)
        #expect(model.requests == model.sequentialRequests)
    }

    /// Keys around each other, also such as are no text.
    private static func randomKey(_ generator: inout SeededGenerator) -> ObjectKey {
        let pieces: [[UInt8]] = [
            Array("a".utf8), Array("b".utf8), Array("/".utf8), Array("-".utf8), Array("0".utf8),
            Array("7".utf8), [0xFF], [0x00], Array("é".utf8), Array("漢".utf8),
        ]
        let isOdd = generator.oneIn(4)
        return ObjectKey(
            (0...generator.below(5)).flatMap { _ in
                pieces[generator.below(isOdd ? pieces.count : 6)]
            }
        )
    }

    private static func randomKeys(_ generator: inout SeededGenerator) -> [ObjectKey] {
        let count = generator.below(300)
        if generator.oneIn(2) { return (0..<count).map { _ in randomKey(&generator) } }
        return KeyShape.allCases[generator.below(KeyShape.allCases.count)].keys(count, &generator)
    }

    /// All keys, or what a limited run has of them.
    private static func randomRanges(
        _ keys: [ObjectKey],
        _ generator: inout SeededGenerator
    ) -> KeyRanges {
        guard generator.oneIn(3), !keys.isEmpty else { return .all }
        return KeyRanges(
            (0...generator.below(4)).map { _ in
                let key = generator.pick(keys).endingWithCharacter
                return generator.oneIn(2)
                    ? KeyRange(key)
                    : KeyRange(prefix: ObjectKey(key.bytes.prefix(2)).endingWithCharacter)
            }
        )
    }

    @Test(arguments: UInt64(0)..<200)
    func `no order of answers, reader or writer loses or repeats a key`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var model = ListingModel(Self.randomKeys(&generator), pageSize: 1 + generator.below(9))
        let limits = ListingRanges.Limits(
            width: 1 + generator.below(8),
            pages: 1 + generator.below(20)
        )
        let whole = Self.randomRanges(model.keys, &generator)
        let splits = generator.oneIn(3) ? model.keys.filter { _ in generator.oneIn(20) } : []
        var ranges = ListingModel.ranges(whole, splits: splits, pagesPerSplit: 2, limits: limits)
        var (always, ever) = (Set(model.keys), Set(model.keys))
        let changes = generator.oneIn(2)
        let delay = generator.below(4)
        var (underWay, read): ([ListingRanges.Step], [ObjectKey]) = ([], [])
        var unread = 0
        for _ in 0..<100_000 {
            if changes, generator.oneIn(3) {
                let key = Self.randomKey(&generator)
                if let index = model.keys.firstIndex(of: key) {
                    model.keys.remove(at: index)
                    always.remove(key)
                } else {
                    let index = model.keys.firstIndex { key < $0 } ?? model.keys.count
                    model.keys.insert(key, at: index)
                    ever.insert(key)
                }
            }
            if underWay.count < limits.width, case .list(let step) = ranges.next() {
                underWay.append(step)
                unread += 1
                #expect(unread <= limits.pages * 2 + 2)
                continue
            }
            let waitsForReader = underWay.isEmpty
            if !underWay.isEmpty, !generator.oneIn(2 + delay) {
                let step = underWay.remove(at: generator.below(underWay.count))
                let page = model.answer(step.cursor.request)
                // A page that has nothing of its range is not held.
                if try model.accept(page, for: step, &ranges) == 0 { unread -= 1 }
                continue
            }
            switch try ranges.take() {
            case .page(let objects):
                unread -= 1
                read += objects.map(\.key)
                continue
            case .later:
                guard waitsForReader else { continue }
                Issue.record("requests and reader wait for each other")
                return
            case .end: break
            }
            break
        }
        guard case .never = ranges.next(), case .end = try ranges.take(), underWay.isEmpty else {
            Issue.record("the listing does not end")
            return
        }
        #expect(zip(read, read.dropFirst()).allSatisfy { $0 < $1 }, "\(read)")
        let found = Set(read)
        #expect(always.filter { whole.contains($0) && !found.contains($0) }.isEmpty)
        #expect(found.isSubset(of: ever))
        #expect(read.allSatisfy(whole.contains))
    }

    @Test func `a range that fails ends the stream behind those before it`() throws {
        var generator = SeededGenerator(seed: 4)
        var model = ListingModel(KeyShape.numbers.keys(40, &generator), pageSize: 2)
        let splits = [9, 19, 29].map { model.keys[$0] }
        let limits = ListingRanges.Limits(width: 4, pages: 48)
        var ranges = ListingModel.ranges(splits: splits, pagesPerSplit: 5, limits: limits)
        var steps: [ListingRanges.Step] = []
        while case .list(let step) = ranges.next() { steps.append(step) }
        #expect(steps.count == 4)
        for step in steps[2...] { try model.carryOut(step, &ranges) }
        ranges.fail(steps[1], ListingModelError.outOfOrder)
        try model.carryOut(steps[0], &ranges)
        while case .list(let step) = ranges.next() { try model.carryOut(step, &ranges) }
        for number in 0..<5 {
            guard case .page(let page) = try ranges.take() else {
                Issue.record("page \(number) is missing")
                return
            }
            #expect(page.map(\.key) == Array(model.keys[(number * 2)..<(number * 2 + 2)]))
        }
        #expect(throws: ListingModelError.outOfOrder) { try ranges.take() }
    }
}
