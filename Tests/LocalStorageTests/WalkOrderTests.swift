import SyncModel
import SyncTestSupport
import Testing

@testable import LocalStorage

@Suite("Order of the walk")
struct WalkOrderTests {
    private static let pieces = [
        "a", "b", "-", ".", "0", "~", " ", "é", "e\u{301}", "\u{FFFD}", "z", "A", "/",
        "aaaaaaaa", "\u{1}", "漢",
    ]

    private static func name(_ generator: inout SeededGenerator) -> [UInt8] {
        var name = ""
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            name += pieces.randomElement(using: &generator) ?? "a"
        }
        return name.utf8.filter { $0 != UInt8(ascii: "/") }
    }

    @Test(arguments: UInt64(0)..<25)
    func `a walk has the keys of a sorted model`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let temporary = try TemporaryDirectory()
        let mirror = try temporary.mirror()
        var directories: [[UInt8]] = [[]]
        var model: Set<ObjectKey> = []
        for _ in 0..<60 {
            let name = Self.name(&generator)
            guard !name.isEmpty, name != [46], name != [46, 46],
                let parent = directories.randomElement(using: &generator)
            else { continue }
            let path = parent + name
            let slash = UInt8(ascii: "/")
            guard !model.contains(ObjectKey(path)), !model.contains(ObjectKey(path + [slash]))
            else { continue }
            if Bool.random(using: &generator) {
                try temporary.write(path, path)
                model.insert(ObjectKey(path))
            } else {
                try temporary.makeDirectory(path)
                model.insert(ObjectKey(path + [slash]))
                directories.append(path + [slash])
            }
        }
        let limit = Int.random(in: 1...20, using: &generator)
        let walk = try mirror.walkAll(limit: limit)
        #expect(walk.entries.map(\.path) == model.sorted())
        #expect(walk.issues.isEmpty)
        for entry in walk.entries {
            guard case .directory(let isEmpty) = entry.kind else { continue }
            let children = model.count { $0 != entry.path && $0.hasPrefix(entry.path) }
            #expect(isEmpty == (children == 0))
        }
        for _ in 0..<5 {
            let ranges = Self.ranges(of: model, &generator)
            let part = try mirror.walkAll(limit: limit, within: ranges)
            let expected = walk.entries.filter { ranges.contains($0.path) }
            #expect(part.entries == expected, "\(ranges)")
            #expect(part.issues.isEmpty)
        }
    }

    /// Some of the paths with what is beneath them, or keys from one to another.
    private static func ranges(
        of keys: Set<ObjectKey>,
        _ generator: inout SeededGenerator
    ) -> KeyRanges {
        let keys = keys.sorted()
        return KeyRanges(
            (0..<3).flatMap { _ in
                let one = keys.randomElement(using: &generator) ?? "none"
                let other = keys.randomElement(using: &generator) ?? "none"
                if Bool.random(using: &generator) {
                    return [KeyRange(after: min(one, other), through: max(one, other))]
                }
                let name = one.isDirectoryMarker ? ObjectKey(one.bytes.dropLast()) : one
                return [KeyRange(name), KeyRange(prefix: ObjectKey(name.bytes + [47]))]
            }
        )
    }

    @Test func `a walk of a part enters and reports nothing beside it`() throws {
        let temporary = try TemporaryDirectory()
        let mirror = try temporary.mirror()
        for name in ["d", "d/e", "d/e2", "other"] { try temporary.makeDirectory(name) }
        try temporary.write("d/e/f", "1")
        try temporary.write("d/e2/g", "1")
        try temporary.write("other/h", "1")
        try temporary.makeLink("other/link", to: "h")
        try temporary.makeLink("d/link", to: "e")
        let ranges = KeyRanges([KeyRange("d/e"), KeyRange(prefix: "d/e/")])
        let walk = try mirror.walkAll(limit: 10, within: ranges)
        #expect(walk.entries.map(\.path) == ["d/e/", "d/e/f"])
        #expect(walk.issues.isEmpty)
        #expect(try mirror.walkAll(limit: 10, within: KeyRanges([])).entries.isEmpty)
        let linked = try mirror.walkAll(limit: 10, within: KeyRanges([KeyRange("d/link")]))
        #expect(linked.issues.map(\.reason) == [.symbolicLink])
    }

    @Test func `five thousand names of one directory come in key order`() throws {
        var generator = SeededGenerator(seed: 5000)
        let temporary = try TemporaryDirectory()
        var model: Set<ObjectKey> = []
        while model.count < 5000 {
            let length = Int.random(in: 1...20, using: &generator)
            let name = (0..<length).map { _ in
                "ab-.0/\u{7F}".utf8.randomElement(using: &generator) ?? 97
            }.filter { $0 != UInt8(ascii: "/") }
            let key = ObjectKey(name)
            let other = ObjectKey(name + [UInt8(ascii: "/")])
            guard !name.isEmpty, name != [46], name != [46, 46], !model.contains(key),
                !model.contains(other)
            else { continue }
            if model.count.isMultiple(of: 10) {
                try temporary.makeDirectory(name)
                model.insert(other)
            } else {
                try temporary.write(name, [])
                model.insert(key)
            }
        }
        let walk = try temporary.mirror().walkAll(limit: 1000)
        #expect(walk.entries.map(\.path) == model.sorted())
    }

    @Test(arguments: UInt64(0)..<20)
    func `names in memory sort as their keys do`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var names: [[UInt8]: Bool] = [:]
        for _ in 0..<300 {
            let length = Int.random(in: 1...12, using: &generator)
            let name = (0..<length).map { _ in
                [UInt8](arrayLiteral: 1, 45, 46, 47, 48, 97, 255).randomElement(using: &generator)
                    ?? 97
            }.filter { $0 != 47 }
            if !name.isEmpty { names[name] = Bool.random(using: &generator) }
        }
        let sorted = DirectoryNames(names.map { ($0.key, $0.value) })
        let found = sorted.elements.map { element in
            sorted.bytes(of: element) + (element.isDirectory ? [47] : [])
        }
        let model = names.map { $0.key + ($0.value ? [47] : []) }.sorted(by: bytesPrecede)
        #expect(found.map { [UInt8]($0) } == model)
        for (element, expected) in zip(sorted.elements, model) {
            let bytes = [UInt8](sorted.name(of: element).bytes)
            #expect(
                bytes == (element.isDirectory ? expected.dropLast() : expected[...]).map(\.self)
            )
        }
    }
}
