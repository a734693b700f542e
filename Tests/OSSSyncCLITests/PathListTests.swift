import Testing

@testable import OSSSyncCLI

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Lists of paths")
struct PathListTests {
    @Test func `a line is a path`() throws {
        let text = "a/b\n# no path\n\n#\n#x\n./# y\r\n c \nlast"
        #expect(try PathList([UInt8](text.utf8)).paths == ["a/b", "#x", "./# y", " c ", "last"])
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

    @Test func `a FIFO without a writer does not hold a run for ever`() throws {
        let path = "/tmp/osssync-fifo-\(UInt64.random(in: 0...UInt64.max))"
        try #require(unsafe mkfifo(path, 0o600) == 0)
        defer { _ = unsafe unlink(path) }
        let input = InputFile(limit: 10, patience: .milliseconds(300))
        let error = #expect(throws: InputFile.Failure.self) { try input.content(of: path) }
        #expect(error == .silent)
        let writer = unsafe open(path, O_RDWR)
        defer { _ = close(writer) }
        #expect(unsafe write(writer, "01234567890", 11) == 11)
        let large = #expect(throws: InputFile.Failure.self) { try input.content(of: path) }
        #expect(large == .tooLarge)
    }

    @Test func `what is no text is refused`() {
        #expect(throws: PathList.Problem.self) { try PathList([0x61, 0x0A, 0xFF, 0x0A]) }
    }
}
