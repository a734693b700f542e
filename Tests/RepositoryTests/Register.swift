/// A document with a table of numbered rows, whose last column names the tests that show each.
struct Register {
    struct Row {
        let number: String
        let entries: [String]
    }

    let rows: [Row]

    /// Reads the rows whose number begins with `letter`.
    init(path: String, letter: String) throws {
        rows = try Repository.file(path).lines.filter { $0.hasPrefix("| " + letter) }.map { line in
            // An item's own words may hold an escaped bar; the last column holds none.
            let cells = line.split(separator: "|").map(Self.trimmed)
            let entries = (cells.last ?? "").split(separator: " · ").map { Self.trimmed($0) }
            return Row(number: String(cells.first ?? ""), entries: entries.map { String($0) })
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let rest = text.drop { $0 == " " }
        return rest.dropLast(rest.reversed().prefix { $0 == " " }.count)
    }

    /// What is wrong with an entry, nil if nothing is; `row` is what a case in Python must name.
    static func problem(with entry: String, of row: String?) throws -> String? {
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
        if let row, path.hasSuffix(".py"), !text.contains(row) {
            return "\(path) has no case of \(row)"
        }
        return nil
    }
}
