import SyncModel
import SyncPlanner
import SyncTestSupport
import Testing

@testable import SyncEngine

@Suite("Matching a run with a saved plan")
struct PlanMatchTests {
    /// Keys of which many begin with each other.
    private static let keys: [String] = {
        let parts = [
            "a", "a-", "a-x", "a.txt", "a/", "a/b", "a/b/", "a/b/c", "a/bc", "a0", "b", "b/",
        ]
        return parts + parts.map { "c/" + $0 } + ["d"]
    }()

    private static func item(_ key: String, size: Int64 = 3) -> PlannedItem {
        let object = RemoteObject(key: ObjectKey(key), size: size, etag: ETag(wire: "e"))
        let entry = JoinedEntry(key: ObjectKey(key), base: nil, local: nil, remote: object)
        return PlannedItem(entry: entry, place: .free, decision: .download(.new))
    }

    /// In the order of keys, but for names that wait until the keys that begin with them are over.
    private static func order(
        _ keys: [String],
        _ generator: inout SeededGenerator
    ) -> [String] {
        var result: [String] = []
        var held: [String] = []
        func isPast(_ name: String, _ key: String) -> Bool {
            !ObjectKey(key).hasPrefix(ObjectKey(name))
        }
        for key in keys.sorted(by: { ObjectKey($0) < ObjectKey($1) }) {
            while let last = held.last, isPast(last, key) { result.append(held.removeLast()) }
            if Bool.random(using: &generator) { held.append(key) } else { result.append(key) }
        }
        return result + held.reversed()
    }

    @Test(arguments: UInt64(0)..<300)
    func `each item meets its line, whichever of them waits`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        func some() -> [String] {
            Self.keys.filter { _ in Int.random(in: 0..<3, using: &generator) > 0 }
        }
        let (inRun, inPlan) = (some(), some())
        let items = Self.order(inRun, &generator)
        var lines = Self.order(inPlan, &generator)[...]
        var match = PlanMatch()
        var steps: [PlanMatch.Step] = []
        func line(_ key: String) -> PlanLine {
            PlanLine(Self.item(key), .download, outcome: nil)
        }
        for key in items {
            while match.needsLine(before: ObjectKey(key)) {
                steps += match.add(lines.popFirst().map(line))
            }
            if match.hasNoLine(of: ObjectKey(key)) { #expect(!inPlan.contains(key)) }
            steps += match.add(Self.item(key))
        }
        while let key = lines.popFirst() { steps += match.add(line(key)) }
        steps += match.add(nil)
        steps += match.finish()
        var found: [String: [String]] = [:]
        for step in steps {
            switch step {
            case .matched(let item, let line):
                #expect(item.entry.key == line.key)
                found["matched", default: []].append(line.key.display)
            case .unplanned(let item):
                found["unplanned", default: []].append(item.entry.key.display)
            case .missed(let line): found["missed", default: []].append(line.key.display)
            }
        }
        #expect(Set(found["matched"] ?? []) == Set(inRun).intersection(inPlan))
        #expect(Set(found["unplanned"] ?? []) == Set(inRun).subtracting(inPlan))
        #expect(Set(found["missed"] ?? []) == Set(inPlan).subtracting(inRun))
        #expect(steps.count == Set(inRun).union(inPlan).count)
    }

    @Test(arguments: [
        "plain", "with blank", "größer/文件", "quote\"", "back\\slash", "100%", "line\nend",
        "bell\u{7}", "c1\u{9b}31m", "bidi\u{202e}x",
    ])
    func `a line is one line of safe text, and is read back as it was`(key: String) throws {
        let item = Self.item(key)
        let line = PlanLine(item, .download, outcome: nil)
        #expect(line.bytes.last == 0x0A)
        let text = line.bytes.dropLast()
        #expect(displayText(text).utf8.elementsEqual(text))
        let read = try #require(PlanLine(parsing: text))
        #expect(read == line)
        #expect(read.decision(on: item) == item.decision)
        #expect(read.decision(on: Self.item(key, size: 4)) == nil)
    }

    @Test func `of a comparison only the planned outcome is left`() throws {
        let comparison = Decision.compare(
            .fileWithObject(ETag(wire: "e")),
            same: .adopt,
            different: .conflict(.bothNew, .downloadKeepingLocal)
        )
        let item = PlannedItem(entry: Self.item("a").entry, place: .free, decision: comparison)
        let adopted = PlanLine(item, .adopt, outcome: .adopt)
        #expect(
            try #require(PlanLine(parsing: adopted.bytes.dropLast())).decision(on: item)
                == .compare(
                    .fileWithObject(ETag(wire: "e")),
                    same: .adopt,
                    different: .skip(.notInPlan)
                )
        )
        // What could not be compared without a transfer is open.
        #expect(PlanLine(item, .adopt, outcome: nil).decision(on: item) == comparison)
        let conflict = Decision.conflict(.bothNew, .upload)
        #expect(PlanLine(item, .upload, outcome: conflict).decision(on: item) == nil)
    }
}
