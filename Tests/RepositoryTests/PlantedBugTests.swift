import Testing

/// A patch of `Tests/PlantedBugs` that does not fit the sources any more plants nothing.
@Suite("Planted bugs")
struct PlantedBugTests {
    private static let folder = "Tests/PlantedBugs"

    private func patches() throws -> [RepositoryFile] {
        try Repository.files(below: Self.folder + "/patches") { $0.hasSuffix(".patch") }
            .sorted { (number(of: $0) ?? 0) < (number(of: $1) ?? 0) }
    }

    private func number(of patch: RepositoryFile) -> Int? {
        patch.path.split(separator: "/").last.flatMap { name in
            name.split(separator: "-").first.flatMap { Int($0) }
        }
    }

    private func rows() throws -> [Substring] {
        let table = try Repository.file(Self.folder + "/bugs.tsv")
        return table.lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    @Test func `each has a patch and a row of the table`() throws {
        let rows = try rows()
        let numbers = rows.compactMap { Int($0.prefix { $0 != "\t" }) }
        #expect(numbers.count == rows.count && Set(numbers).count >= 40)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy(<))
        for row in rows { #expect(row.split(separator: "\t").count == 5, "\(row)") }
        #expect(try patches().map(number(of:)) == [0] + numbers)
    }

    /// A filter that fits no test passes with a bug as well as without.
    @Test func `each suite that a row names exists`() throws {
        let files = try Repository.swiftFiles(below: "Tests")
        var count = 0
        for row in try rows() {
            let commands = row.split(separator: "\t").last ?? ""
            for command in commands.split(separator: "; ") where command.hasPrefix("swift ") {
                let names = command.dropFirst(6).split { $0 == "." || $0 == "/" }
                let declaration = "struct \(names.last ?? "") {"
                let isThere = files.contains { file in
                    file.target == names[0]
                        && file.lines.contains { line in
                            // One within another is named with that one.
                            line.hasSuffix(declaration)
                                && line.hasPrefix(" ") == (names.count > 2)
                        }
                }
                #expect(isThere, "\(command)")
                count += 1
            }
        }
        #expect(count >= 50)
    }

    @Test func `each patch fits the sources, in order`() throws {
        var tree = PatchedTree()
        for patch in try patches() {
            let problems = try tree.apply(patch.lines)
            #expect(
                problems.isEmpty,
                """
                \(patch.path): \(problems.joined(separator: "; ")).
                Write it anew for the sources of now.
                """
            )
        }
        #expect(tree.filesWithoutSwitch.isEmpty, "these do not import SyncModel, which has it")
    }

    @Test func `a patch that does not fit is found`() throws {
        var tree = PatchedTree()
        let patch = ["@@ Sources/SyncModel/CRC64.swift", "-no such", "+line", "@@ new", "+line"]
        #expect(try tree.apply(patch.map { $0[...] }) == ["line 1 fits at 0 places"])
    }
}

/// The sources with patches applied, in memory.
private struct PatchedTree {
    private var files: [String: [Substring]] = [:]

    /// Applies a patch as `Tests/PlantedBugs/hunks.py` does; what keeps its hunks from fitting.
    mutating func apply(_ patch: [Substring]) throws -> [String] {
        var problems: [String] = []
        let starts = patch.indices.filter { patch[$0].hasPrefix("@@ ") }
        for (start, end) in zip(starts, starts.dropFirst() + [patch.endIndex]) {
            let hunk = patch[(start + 1)..<end].filter { !$0.isEmpty }
            let places = try replace(
                hunk.filter { !$0.hasPrefix("+") }.map { $0.dropFirst() },
                by: hunk.filter { !$0.hasPrefix("-") }.map { $0.dropFirst() },
                in: String(patch[start].dropFirst(3))
            )
            if places != 1 { problems.append("line \(start + 1) fits at \(places) places") }
        }
        return problems
    }

    /// Those that ask for the switch and would not compile.
    var filesWithoutSwitch: [String] {
        func target(_ path: String) -> [Substring] { Array(path.split(separator: "/").prefix(2)) }
        let owners = Set(files.keys.filter { $0.hasSuffix("/PlantedBug.swift") }.map(target))
        return files.filter { path, lines in
            !owners.contains(target(path))
                && lines.contains { $0.contains("isPlanted(") }
                && !lines.contains { $0.hasSuffix("import SyncModel") }
        }.map(\.key)
    }

    /// The number of places at which `old` is; replaced if it is one.
    private mutating func replace(
        _ old: [Substring],
        by new: [Substring],
        in path: String
    ) throws -> Int {
        var lines = files[path] ?? []
        if files[path] == nil, Repository.exists(path) { lines = try Repository.file(path).lines }
        guard !old.isEmpty else {
            files[path] = new
            return lines.isEmpty ? 1 : 0
        }
        let places = lines.indices.filter { start in
            start + old.count <= lines.count && lines[start] == old[0]
                && lines[start..<(start + old.count)].elementsEqual(old)
        }
        guard places.count == 1 else { return places.count }
        lines.replaceSubrange(places[0]..<(places[0] + old.count), with: new)
        files[path] = lines
        return 1
    }
}
