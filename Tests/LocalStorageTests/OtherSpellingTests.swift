import SyncModel
import Testing

@testable import LocalStorage

@Suite("Other spellings of names")
struct OtherSpellingTests {
    @Test func `only a directory that was read and has no two is known to have none`() throws {
        let temporary = try TemporaryDirectory()
        for directory in ["one", "one/deep", "two", "two/deep"] {
            try temporary.makeDirectory(directory)
        }
        for file in ["one/a", "one/b", "one/deep/c", "two/a", "two/A", "two/deep/c"] {
            try temporary.write(file, "")
        }
        let names = try temporary.mirror().names
        func isKnown(_ path: String) throws -> Bool {
            names.hasNoOtherSpelling(try relative(path))
        }
        #expect(try !isKnown("one/a"))
        #expect(names.otherSpelling(of: try relative("one/a")) == nil)
        #expect(try isKnown("one/a") && isKnown("one/b") && isKnown("c"))
        #expect(try !isKnown("one/deep/c") && !isKnown("two/a"))
        #expect(names.otherSpelling(of: try relative("one/deep/c")) == nil)
        #expect(try isKnown("one/deep/c") && isKnown("one/a"))
        #expect(names.otherSpelling(of: try relative("two/a")) == "A")
        #expect(try !isKnown("two/a") && !isKnown("one/a"))
        #expect(names.otherSpelling(of: try relative("two/deep/c")) == nil)
        #expect(try !isKnown("two/deep/c"), "what lies beneath may be found by a name above")
    }
}
