import Testing

/// `docs/fault-register.md` names a test for each fault; a name that no test has shows nothing.
@Suite("The register of faults")
struct FaultRegisterTests {
    private struct Row {
        let number: String
        let entries: [String]
    }

    private func rows(of register: RepositoryFile) -> [Row] {
        register.lines.filter { $0.hasPrefix("| F") }.map { line in
            // A fault's own words may hold an escaped bar; the last column holds none.
            let cells = line.split(separator: "|").map(trimmed)
            let entries = (cells.last ?? "").split(separator: " · ").map { String(trimmed($0)) }
            return Row(number: String(cells.first ?? ""), entries: entries)
        }
    }

    private func trimmed(_ text: Substring) -> Substring {
        let rest = text.drop { $0 == " " }
        return rest.dropLast(rest.reversed().prefix { $0 == " " }.count)
    }

    /// What is wrong with an entry, nil if nothing is.
    private func problem(with entry: String, of row: String) throws -> String? {
        if entry == "not yet" { return nil }
        if entry.hasPrefix("not automated: ") {
            return entry.count > 25 ? nil : "it says no reason"
        }
        guard let place = entry.ranges(of: ": ").first else { return "it names no test" }
        let path = "Tests/" + entry[..<place.lowerBound]
        guard path.contains("/"), Repository.exists(path) else { return "\(path) does not exist" }
        let sentence = entry[place.upperBound...]
        let text = try Repository.file(path).lines.joined(separator: "\n")
        guard sentence.count > 10, text.contains(sentence) else {
            return "\(path) has no such test"
        }
        if path.hasSuffix(".py"), !text.contains(row) { return "\(path) has no case of \(row)" }
        return nil
    }

    @Test func `each fault stands in the register once`() throws {
        let found = rows(of: try Repository.file("docs/fault-register.md")).map(\.number)
        let wanted = (1...168).map {
            "F" + String(repeating: "0", count: 3 - "\($0)".count) + "\($0)"
        }
        #expect(found == wanted)
    }

    @Test func `each test that the register names exists`() throws {
        for row in rows(of: try Repository.file("docs/fault-register.md")) {
            #expect(!row.entries.isEmpty, "\(row.number)")
            for entry in row.entries {
                let problem = try problem(with: entry, of: row.number)
                #expect(problem == nil, "\(row.number): \(entry): \(problem ?? "")")
            }
        }
    }

    @Test func `a wrong entry is found`() throws {
        #expect(try problem(with: "not automated: no", of: "F001") == "it says no reason")
        #expect(try problem(with: "RepositoryTests/None.swift: a b c", of: "F001") != nil)
        let here = "RepositoryTests/FaultRegisterTests.swift"
        #expect(try problem(with: here + ": a wrong entry is found", of: "F001") == nil)
        #expect(try problem(with: here + ": a right " + "entry is found", of: "F001") != nil)
        #expect(try problem(with: "FaultScripts/run: of a case's name", of: "F001") == nil)
    }
}
