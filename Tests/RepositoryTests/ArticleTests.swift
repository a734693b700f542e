import Testing

/// The articles of the library's documentation show code that `examples/check` builds and runs.
@Suite("Articles")
struct ArticleTests {
    private static let catalogs = [
        "Sources/OSSTransfer/OSSTransfer.docc", "Sources/OSSSync/OSSSync.docc",
        "Sources/OSSTransferFoundation/OSSTransferFoundation.docc",
    ]

    /// The lines between fences of Swift, without indentation.
    private func blocks(of article: RepositoryFile) -> [[String]] {
        var blocks: [[String]] = []
        var block: [String]?
        for line in article.lines {
            if line.hasPrefix("```") {
                if let block { blocks.append(block) }
                block = line == "```swift" ? [] : nil
            } else {
                block?.append(trimmed(line))
            }
        }
        return blocks
    }

    private func trimmed(_ line: Substring) -> String { String(line.drop { $0 == " " }) }

    private func contains(_ lines: [String], _ block: [String]) -> Bool {
        guard !block.isEmpty, lines.count >= block.count else { return false }
        return (0...lines.count - block.count).contains { start in
            lines[start..<start + block.count].elementsEqual(block)
        }
    }

    @Test func `each block of code stands in an example`() throws {
        let examples = try Repository.swiftFiles(below: "examples")
            .map { $0.lines.map(trimmed) }
        let articles = try Self.catalogs.flatMap { catalog in
            try Repository.files(below: catalog) { $0.hasSuffix(".md") }
        }
        #expect(articles.flatMap(blocks).count >= 5)
        for article in articles {
            for block in blocks(of: article) {
                let isShown = examples.contains { contains($0, block) }
                #expect(isShown, "\(article.path): \(block.first ?? "")")
            }
        }
    }

    @Test func `a block is found only as it stands`() {
        let article = RepositoryFile(path: "x.md", text: "```swift\na\n  b\n```\n```sh\nc\n```")
        #expect(blocks(of: article) == [["a", "b"]])
        #expect(contains(["x", "a", "b"], ["a", "b"]))
        #expect(!contains(["a", "x", "b"], ["a", "b"]))
        #expect(!contains(["a"], ["a", "b"]))
    }
}
