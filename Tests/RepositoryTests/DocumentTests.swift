import Testing

@Suite("Documents")
struct DocumentTests {
    /// The targets of the links of one line of Markdown.
    private func links(in line: Substring) -> [Substring] {
        line.ranges(of: "](").compactMap { range in
            line[range.upperBound...].firstIndex(of: ")").map { line[range.upperBound..<$0] }
        }
    }

    /// The lines outside code blocks, with their numbers from 1.
    private func prose(of file: RepositoryFile) -> [(number: Int, text: Substring)] {
        var isCode = false
        return file.lines.enumerated().compactMap { index, line in
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isCode.toggle()
                return nil
            }
            return isCode ? nil : (index + 1, line)
        }
    }

    /// The anchors of a document's headings, as hosts of Git repositories make them.
    private func anchors(of file: RepositoryFile) -> Set<String> {
        Set(
            prose(of: file).filter { $0.text.hasPrefix("#") }.map { line in
                let heading = line.text.drop { $0 == "#" }.drop { $0 == " " }
                return String(
                    heading.lowercased().compactMap { character in
                        character == " "
                            ? "-"
                            : character.isLetter || character.isNumber || "-_".contains(character)
                                ? character : nil
                    }
                )
            }
        )
    }

    /// The path without `.` and `..`, nil if it leaves the repository.
    private func resolve(_ link: Substring, from path: String) -> String? {
        var parts = path.split(separator: "/").dropLast().map(String.init)
        for part in link.split(separator: "/") {
            switch part {
            case ".": continue
            case "..":
                guard parts.popLast() != nil else { return nil }
            default: parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }

    @Test func `every link leads somewhere`() throws {
        for document in try Repository.documents() {
            for (number, line) in prose(of: document) {
                for link in links(in: line) where !link.contains("://") {
                    let problem = try check(link, in: document)
                    #expect(problem == nil, "\(document.path):\(number): \(problem ?? "")")
                }
            }
        }
    }

    private func check(_ link: Substring, in document: RepositoryFile) throws -> String? {
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts[0].isEmpty ? document.path : resolve(parts[0], from: document.path)
        else { return "\(link) leaves the repository" }
        guard path.isEmpty || Repository.exists(path) else { return "\(link) does not exist" }
        guard parts.count > 1, path.hasSuffix(".md") else { return nil }
        let target = try Repository.file(path)
        return anchors(of: target).contains(String(parts[1])) ? nil : "\(link) has no such heading"
    }

    @Test func `links and headings are recognized`() throws {
        #expect(links(in: "a [b](c.md#d) and [e](f)") == ["c.md#d", "f"])
        #expect(resolve("../a/./b.md", from: "docs/x/y.md") == "docs/a/b.md")
        #expect(resolve("../../a", from: "docs/x.md") == nil)
        let file = RepositoryFile(path: "x.md", text: "# Exit codes, & `more`\n```\n# no\n```")
        #expect(anchors(of: file) == ["exit-codes--more"])
    }

    @Test func `the licence is the Apache licence 2 dot 0`() throws {
        let text = try Repository.file("LICENSE").lines.joined(separator: "\n")
        #expect(text.contains("Apache License\n"))
        #expect(text.contains("Version 2.0, January 2004"))
        #expect(text.contains("END OF TERMS AND CONDITIONS"))
    }
}
