import SyncModel
import SyncPlanner
import SyncTestSupport
import Testing

@Suite("Merging three streams")
struct MergeJoinTests {
    private func joined(_ join: inout MergeJoin) throws -> [JoinedEntry] {
        var entries: [JoinedEntry] = []
        while case .joined(let entry) = try join.next() { entries.append(entry) }
        return entries
    }

    @Test func `each key comes once, in byte order, with every side that has it`() throws {
        var join = MergeJoin()
        try join.feed(remote: [object("a"), object("a-b"), object("a/b"), object("z")])
        try join.feed(base: [row("a"), row("b")])
        try join.feed(local: [
            file("a-b"), directory("a/", isEmpty: false), file("a/b"), file("a0"),
        ])
        for side in Side.allCases { join.finish(side) }
        let entries = try joined(&join)
        #expect(entries.map(\.key) == ["a", "a-b", "a/", "a/b", "a0", "b", "z"])
        #expect(entries.map { $0.remote != nil } == [true, true, false, true, false, false, true])
        #expect(entries.map { $0.base != nil } == [true, false, false, false, false, true, false])
        #expect(entries.map { $0.local != nil } == [false, true, true, true, true, false, false])
        #expect(try join.next() == .finished)
        #expect(join.coversEverything)
    }

    @Test func `it asks for the side without which it can say nothing`() throws {
        var join = MergeJoin()
        #expect(try join.next() == .needs(.remote))
        try join.feed(remote: [object("b")])
        #expect(try join.next() == .needs(.base))
        join.finish(.base)
        #expect(try join.next() == .needs(.local))
        try join.feed(local: [file("a"), file("b")])
        #expect(try join.next() == .joined(entry("a", local: file("a"))))
        #expect(try join.next() == .joined(entry("b", local: file("b"), remote: object("b"))))
        #expect(try join.next() == .needs(.remote))
        try join.feed(remote: [])
        #expect(try join.next() == .needs(.remote))
        join.finish(.remote)
        #expect(try join.next() == .needs(.local))
        join.finish(.local)
        #expect(try join.next() == .finished)
    }

    @Test(arguments: Side.allCases)
    func `a stream that steps backwards stops everything`(side: Side) throws {
        let error = PlanError.unordered(side, previous: "b", next: "a")
        var join = MergeJoin()
        #expect(throws: error) { try feed(&join, side, ["b", "a"]) }
        #expect(throws: error) { try join.next() }
        #expect(throws: error) { try feed(&join, side, ["c"]) }
    }

    @Test(arguments: Side.allCases)
    func `a repeated key stops everything, also across batches`(side: Side) throws {
        var join = MergeJoin()
        try feed(&join, side, ["a", "b"])
        #expect(throws: PlanError.unordered(side, previous: "b", next: "b")) {
            try feed(&join, side, ["b"])
        }
        #expect(throws: PlanError.self) { try join.next() }
    }

    @Test func `order is checked against keys that were used already`() throws {
        var join = MergeJoin()
        join.finish(.base)
        join.finish(.local)
        try join.feed(remote: [object("m")])
        #expect(try join.next() == .joined(entry("m", remote: object("m"))))
        #expect(throws: PlanError.unordered(.remote, previous: "m", next: "l")) {
            try join.feed(remote: [object("l")])
        }
    }

    @Test func `order is that of bytes and not of text`() throws {
        var join = MergeJoin()
        // Composed é begins with C3, decomposed with 65: text would call them equal.
        try join.feed(remote: [object("e\u{301}"), object("f"), object("\u{E9}")])
        #expect(throws: PlanError.self) {
            var other = MergeJoin()
            try other.feed(remote: [object("\u{E9}"), object("e\u{301}")])
        }
        // "-" and "." come before "/", and a directory sorts as its name with "/".
        try join.feed(local: [
            file("a"), file("a-b"), file("a.b"), directory("a0/", isEmpty: true),
        ])
    }

    @Test func `a walk that confuses files and directories is refused`() {
        var join = MergeJoin()
        #expect(throws: PlanError.kindMismatch("a/")) {
            try join.feed(local: [LocalEntry(path: "a/", kind: .file(identity()))])
        }
        var other = MergeJoin()
        #expect(throws: PlanError.kindMismatch("a")) {
            try other.feed(local: [directory("a", isEmpty: true)])
        }
    }

    @Test func `an abandoned side bounds what is said`() throws {
        var join = MergeJoin()
        try join.feed(remote: [object("a"), object("c")])
        try join.feed(base: [row("a"), row("b"), row("c"), row("d")])
        join.abandon(.remote)
        join.finish(.base)
        join.finish(.local)
        #expect(try joined(&join).map(\.key) == ["a", "b", "c"])
        #expect(try join.next() == .finished)
        #expect(!join.coversEverything)
    }

    @Test func `a side abandoned before its first key leaves nothing to say`() throws {
        var join = MergeJoin()
        try join.feed(base: [row("a")])
        join.abandon(.remote)
        join.finish(.base)
        join.finish(.local)
        #expect(try join.next() == .finished)
        #expect(!join.coversEverything)
    }

    @Test func `of two abandoned sides the earlier bounds`() throws {
        var join = MergeJoin()
        try join.feed(remote: [object("c")])
        try join.feed(local: [file("b")])
        try join.feed(base: [row("a"), row("b"), row("c")])
        join.abandon(.remote)
        join.abandon(.local)
        join.finish(.base)
        #expect(try joined(&join).map(\.key) == ["a", "b"])
    }

    @Test func `errors say what was wrong and that nothing was deleted`() {
        #expect(
            PlanError.unordered(.remote, previous: "b", next: "a\n").message
                == "the listing of the remote is out of order: 'a\\n' came after 'b'."
                + " Nothing was deleted; run again."
        )
        #expect(
            PlanError.unordered(.base, previous: "b", next: "b").message
                == "the manifest has 'b' twice. Nothing was deleted; run again."
        )
        #expect(
            PlanError.unordered(.local, previous: "b", next: "a").message
                == "the walk of the directory is out of order: 'a' came after 'b'."
                + " Nothing was deleted; run again."
        )
        #expect(
            PlanError.kindMismatch("a").message
                == "the walk of the directory reports 'a' as both a file and a directory."
                + " Nothing was deleted; run again."
        )
    }

    @Test(arguments: UInt64(0)..<50)
    func `any batches give the join of the dictionaries`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func keys() -> [ObjectKey] {
            var result: Set<ObjectKey> = []
            for _ in 0..<random.below(40) {
                result.insert(ObjectKey((0...random.below(3)).map { _ in UInt8(random.below(4)) }))
            }
            return result.sorted()
        }
        let sides = [keys(), keys(), keys()]
        var rest = sides.map { $0[...] }
        var join = MergeJoin()
        var seen: [JoinedEntry] = []
        while true {
            let step = try join.next()
            if step == .finished { break }
            if case .joined(let entry) = step { seen.append(entry) }
            guard case .needs(let side) = step else { continue }
            let index = side == .remote ? 0 : side == .base ? 1 : 2
            let batch = [ObjectKey](rest[index].prefix(1 + random.below(5)))
            rest[index] = rest[index].dropFirst(batch.count)
            if batch.isEmpty { join.finish(side) } else { try feed(&join, side, batch) }
        }
        #expect(seen.map(\.key) == Set(sides.joined()).sorted())
        for entry in seen {
            #expect((entry.remote?.key == entry.key) == sides[0].contains(entry.key))
            #expect((entry.base?.key == entry.key) == sides[1].contains(entry.key))
            #expect((entry.local?.path == entry.key) == sides[2].contains(entry.key))
        }
    }

    private func feed(_ join: inout MergeJoin, _ side: Side, _ keys: [ObjectKey]) throws {
        switch side {
        case .remote: try join.feed(remote: keys.map { object($0) })
        case .base: try join.feed(base: keys.map { row($0) })
        case .local: try join.feed(local: keys.map { file($0) })
        }
    }
}
