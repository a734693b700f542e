import Testing

@testable import OSSSyncCLI

@Suite("Lists of paths")
struct PathListTests {
    @Test func `a line is a path`() throws {
        let text = "a/b\n# no path\n\n./#x\r\n c \nlast"
        #expect(try PathList([UInt8](text.utf8)).paths == ["a/b", "./#x", " c ", "last"])
    }

    @Test(arguments: [
        ("", "it has no path"), ("\n# a\n\n", "it has no path"),
        ("a\nb\0c\n", "line 2: it is not text in UTF-8"),
    ])
    func `without a path it is refused`(text: String, reason: String) {
        let problem = #expect(throws: PathList.Problem.self) {
            try PathList([UInt8](text.utf8))
        }
        #expect(problem?.reason == reason)
    }

    @Test func `what is no text is refused`() {
        #expect(throws: PathList.Problem.self) { try PathList([0x61, 0x0A, 0xFF, 0x0A]) }
    }
}
