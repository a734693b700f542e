import Testing

@Suite("Sizes")
struct SizeTests {
    private func allFiles() throws -> [RepositoryFile] {
        try Repository.swiftFiles(below: "Sources") + Repository.swiftFiles(below: "Tests")
    }

    @Test func `a file has at most 400 lines`() throws {
        for file in try allFiles() {
            // The last line is what follows the last newline.
            #expect(file.lines.count - 1 <= 400, "\(file.path)")
        }
    }

    @Test func `a line has at most 100 columns`() throws {
        for file in try allFiles() {
            // Bytes are counted faster, and are never fewer.
            let long = file.lines.enumerated().lazy.filter { $0.element.utf8.count > 100 }
            for (index, line) in long where line.count > 100 {
                Issue.record("\(file.path):\(index + 1) has \(line.count) columns")
            }
        }
    }

    @Test func `a function has at most 70 lines`() throws {
        for file in try allFiles() {
            for function in functions(in: file) where function.length > 70 {
                Issue.record("\(file.path):\(function.line) has \(function.length) lines")
            }
        }
    }

    @Test func `functions are measured from their first to their last line`() {
        let text = """
            protocol P {
                func a() throws
                    -> Int
                func b()
            }
            extension P {
                func c() { b() }
                package static func d(
                    x: Int
                ) {
                    b()
                }
                init() {
                }
            }
            """
        let found = functions(in: RepositoryFile(path: "x", text: text))
        #expect(found.map(\.line) == [7, 8, 13])
        #expect(found.map(\.length) == [1, 5, 2])
    }

    /// The functions with a body, by the indentation that the formatter guarantees: a body ends
    /// at the first line that begins with a brace at the indentation of the declaration.
    private func functions(in file: RepositoryFile) -> [(line: Int, length: Int)] {
        let lines = file.code.map(\.text)
        return lines.indices.compactMap { start in
            guard beginsFunction(lines[start]) else { return nil }
            if lines[start].hasSuffix("}"), lines[start].contains("{") { return (start + 1, 1) }
            let indentation = indentation(of: lines[start])
            for index in lines.indices[(start + 1)...] where !lines[index].isEmpty {
                let depth = self.indentation(of: lines[index])
                if depth > indentation { continue }
                guard depth == indentation else { return nil }
                let rest = lines[index].dropFirst(depth)
                if rest.hasPrefix("}") { return (start + 1, index - start + 1) }
                guard rest.hasPrefix(")") || rest.hasPrefix("{") else { return nil }
                if rest.hasSuffix("}") { return (start + 1, index - start + 1) }
            }
            return nil
        }
    }

    private func indentation(of line: Substring) -> Int { line.prefix { $0 == " " }.count }

    private func beginsFunction(_ line: Substring) -> Bool {
        let words = line.split { $0 == " " || $0 == "(" || $0 == "?" || $0 == "<" }
        guard let place = words.firstIndex(where: { ["func", "init", "deinit"].contains($0) })
        else { return false }
        let modifiers: Set<Substring> = [
            "public", "package", "internal", "private", "fileprivate", "static", "mutating",
            "consuming", "borrowing", "nonisolated", "override", "convenience", "required",
            "final", "isolated",
        ]
        return words[..<place].allSatisfy { modifiers.contains($0) || $0.hasPrefix("@") }
    }
}
