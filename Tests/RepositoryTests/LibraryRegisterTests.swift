import Testing

/// `docs/library.md` names symbols and tests for what the mobile guides describe.
@Suite("The register of the guides")
struct LibraryRegisterTests {
    private let register: Register
    private let defects: Register
    private let lines: [Substring]

    init() throws {
        register = try Register(path: "docs/library.md", letter: "L")
        defects = try Register(path: "docs/library.md", letter: "B")
        lines = try Repository.file("docs/library.md").lines.filter { $0.hasPrefix("| L") }
    }

    @Test func `has numbered rows`() {
        let wanted = (1...52).map { $0 < 10 ? "L0\($0)" : "L\($0)" }
        #expect(register.rows.map(\.number) == wanted)
        #expect(defects.rows.map(\.number) == (1...25).map { $0 < 10 ? "B0\($0)" : "B\($0)" })
    }

    @Test func `names tests that exist`() throws {
        for row in register.rows + defects.rows {
            #expect(!row.entries.isEmpty, "\(row.number)")
            for entry in row.entries {
                #expect(!entry.hasPrefix("not "), "\(row.number): \(entry)")
                let problem = try Register.problem(with: entry, of: nil)
                #expect(problem == nil, "\(row.number): \(entry): \(problem ?? "")")
            }
        }
    }

    /// The symbols of a row's third column.
    private func symbols(of line: Substring) -> [Substring] {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        guard cells.count > 3 else { return [] }
        return cells[3].split(separator: "`").filter { $0.contains { $0 != " " } }
    }

    @Test func `names symbols that are declared as public`() throws {
        let sources =
            try Repository.swiftFiles(below: "Sources/OSSTransfer")
            + Repository.swiftFiles(below: "Sources/OSSBucket")
            + Repository.swiftFiles(below: "Sources/ObjectTransfer")
            + Repository.swiftFiles(below: "Sources/SyncModel")
        let declared = Set(sources.flatMap { $0.code.flatMap { names(declaredIn: $0.text) } })
        for line in lines {
            #expect(!symbols(of: line).isEmpty, "\(line)")
            for symbol in symbols(of: line) {
                for part in symbol.split(separator: ".") {
                    #expect(declared.contains(part), "\(symbol)")
                }
            }
        }
    }

    /// What a line declares for everybody; cases and requirements are as public as their types.
    private func names(declaredIn line: Substring) -> [Substring] {
        let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        let kinds: Set<Substring> = [
            "struct", "class", "enum", "actor", "protocol", "typealias", "func", "var", "let",
            "case",
        ]
        guard let kind = words.firstIndex(where: { kinds.contains($0) }), kind + 1 < words.count,
            words.contains("public") || words[kind] == "case" || words[kind] == "func"
        else { return [] }
        return [words[kind + 1]]
    }

    @Test func `a declaration is recognized`() {
        #expect(
            names(declaredIn: "    public static func last(_ count: Int) -> Range {") == ["last"]
        )
        #expect(names(declaredIn: "    case paused(Checkpoint?)") == ["paused"])
        #expect(names(declaredIn: "    let hidden: Int") == [])
    }
}
