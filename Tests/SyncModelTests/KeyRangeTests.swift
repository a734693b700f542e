import SyncModel
import SyncTestSupport
import Testing

@Suite("Ranges of keys")
struct KeyRangeTests {
    private static let slash = UInt8(ascii: "/")

    /// Keys around the names that sort next to each other.
    private static func key(_ generator: inout SeededGenerator) -> ObjectKey {
        let pieces: [[UInt8]] = [
            [UInt8(ascii: "a")], [UInt8(ascii: "b")], [slash], [UInt8(ascii: "-")],
            [UInt8(ascii: "0")], [0xFF], [0x00], Array("é".utf8), Array("漢".utf8),
        ]
        let count = Int.random(in: 1...4, using: &generator)
        return ObjectKey((0..<count).flatMap { _ in pieces.randomElement(using: &generator) ?? [] })
    }

    private static let corners: [ObjectKey] = [
        "a", "a/", "a-", "a0", "a/b", "a.", "a\u{0}", "b", ObjectKey([0xFF]),
        ObjectKey([0xFF, 0xFF]), ObjectKey([UInt8(ascii: "a"), 0xFF]),
        ObjectKey([UInt8(ascii: "a"), slash, 0xFF]),
    ]

    /// A range, and what a key in it is by another definition.
    private static func range(
        _ generator: inout SeededGenerator
    ) -> (KeyRange, (ObjectKey) -> Bool) {
        let (one, other) = (key(&generator), key(&generator))
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: return (KeyRange(one), { $0 == one })
        case 1: return (KeyRange(prefix: one), { $0.bytes.starts(with: one.bytes) })
        case 2: return (KeyRange(after: one, through: other), { one < $0 && !(other < $0) })
        case 3: return (KeyRange(after: nil, through: one), { !(one < $0) })
        default: return (KeyRange(after: one, through: nil), { one < $0 })
        }
    }

    @Test(arguments: UInt64(0)..<300)
    func `have the keys of a naive filter`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let parts = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
            Self.range(&generator)
        }
        let ranges = KeyRanges(parts.map(\.0))
        let keys = Self.corners + (0..<200).map { _ in Self.key(&generator) }
        for key in keys {
            let expected = parts.contains { $0.1(key) }
            #expect(ranges.contains(key) == expected, "\(key) in \(ranges)")
            for (range, isIn) in parts { #expect(range.contains(key) == isIn(key)) }
        }
        for (left, right) in zip(ranges.ranges, ranges.ranges.dropFirst()) {
            #expect(left.isPassed(by: right.lower), "no two overlap: \(ranges)")
        }
        for prefix in keys.prefix(60) {
            let beneath = keys.filter { $0.hasPrefix(prefix) }
            if beneath.contains(where: ranges.contains) { #expect(ranges.meets(prefix: prefix)) }
            if ranges.cover(prefix: prefix) { #expect(beneath.allSatisfy(ranges.contains)) }
            let whole = KeyRange(prefix: prefix)
            let isCovered = parts.contains { $0.0.lower == prefix && $0.0 == whole }
            if isCovered { #expect(ranges.cover(prefix: prefix)) }
        }
    }

    @Test(arguments: UInt64(0)..<200)
    func `cuts make the same keys, and listings begin before them`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let range = Self.range(&generator).0
        let splits = Set((0..<4).map { _ in Self.key(&generator) }).sorted()
        let parts = range.isEmpty ? [] : range.cut(behind: splits)
        let prefix = range.commonPrefix
        for key in Self.corners + (0..<200).map({ _ in Self.key(&generator) }) {
            #expect(parts.count { $0.contains(key) } == (range.contains(key) ? 1 : 0))
            guard range.contains(key) else { continue }
            #expect(key.hasPrefix(prefix), "\(key) of \(range)")
            for part in parts where part.contains(key) {
                if let start = part.startAfter(within: prefix) { #expect(start < key) }
            }
        }
        for part in parts { #expect(!part.isEmpty) }
    }

    @Test func `a path and its directory have what lies at and beneath it`() {
        let ranges = KeyRanges([KeyRange("a"), KeyRange(prefix: "a/"), KeyRange("a-b")])
        let keys: [ObjectKey] = ["a", "a-", "a-b", "a-b/", "a.", "a/", "a/b", "a0", "b"]
        #expect(keys.filter(ranges.contains) == ["a", "a-b", "a/", "a/b"])
        #expect(ranges.ranges.map(\.commonPrefix) == ["a", "a-b", "a/"])
        #expect(ranges.ranges.map(\.isSingle) == [true, true, false])
        #expect(ranges.ranges.allSatisfy { $0.startAfter(within: $0.commonPrefix) == nil })
    }

    @Test func `what is within another becomes one with it`() {
        let ranges = KeyRanges([
            KeyRange(prefix: "a/"), KeyRange(prefix: "a/b/"), KeyRange("a/c"),
            KeyRange(prefix: "a/"),
        ])
        #expect(ranges.ranges == [KeyRange(prefix: "a/")])
        #expect(KeyRanges([.all, KeyRange("x")]).isAll)
        #expect(KeyRanges([]).contains("a") == false)
    }

    @Test func `a directory that leads to a range is met and not covered`() {
        let ranges = KeyRanges([KeyRange("d/e/f"), KeyRange(prefix: "d/e/f/")])
        for prefix in ["", "d/", "d/e/", "d/e/f/", "d/e/f/g/"] as [ObjectKey] {
            #expect(ranges.meets(prefix: prefix))
            #expect(ranges.cover(prefix: prefix) == prefix.hasPrefix("d/e/f/"))
        }
        for prefix in ["c/", "d-/", "d/e-/", "d/f/", "d/e/f0/"] as [ObjectKey] {
            #expect(!ranges.meets(prefix: prefix))
        }
    }

    @Test func `a common prefix ends with a whole character`() {
        let range = KeyRange(after: "é1", through: "è2")
        #expect(KeyRange(after: "è2", through: "é1").commonPrefix == "")
        #expect(range.isEmpty)
        #expect(KeyRange(after: "漢a", through: "漢b").commonPrefix == "漢")
    }
}
