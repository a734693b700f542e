import Testing

@testable import LocalStorage

@Suite("The marker of a directory")
struct DirectoryMarkerTests {
    private func marker(_ text: String) -> DirectoryMarker? {
        DirectoryMarker(content: [UInt8](text.utf8))
    }

    @Test func `keeps the numbers of several states`() throws {
        var one = DirectoryMarker(name: "directory")
        one.setNumber(3, of: "a")
        one.setNumber(7, of: "b")
        one.setNumber(4, of: "a")
        #expect(String(decoding: one.content, as: UTF8.self) == "directory\nb 7\na 4\n")
        let read = try #require(DirectoryMarker(content: one.content))
        #expect(read == one)
        #expect((read.number(of: "a"), read.number(of: "b")) == (4, 7))
        #expect(read.number(of: "c") == nil)
    }

    @Test func `of one line, with or without its end, is an older one`() {
        #expect(marker("directory\n") == DirectoryMarker(name: "directory"))
        #expect(marker("directory") == DirectoryMarker(name: "directory"))
        #expect(marker("") == nil)
        #expect(marker("\na 1\n") == nil)
    }

    @Test func `passes over what says nothing, and a number that may be cut`() throws {
        let read = try #require(marker("d\na 1 2\nb -1\nc x\n\ne 5\nf 12"))
        #expect(read.number(of: "e") == 5)
        for state in ["a", "b", "c", "f"] { #expect(read.number(of: state) == nil) }
    }

    @Test func `forgets the states that wrote longest ago`() throws {
        var many = DirectoryMarker(name: String(repeating: "n", count: 255))
        for number in 0..<200 {
            many.setNumber(.max, of: String(repeating: "s", count: 61) + "\(100 + number)")
        }
        #expect(many.content.count <= DirectoryMarker.maximumLength)
        let read = try #require(DirectoryMarker(content: many.content))
        #expect(read == many)
        #expect(read.number(of: String(repeating: "s", count: 61) + "299") == .max)
        #expect(read.number(of: String(repeating: "s", count: 61) + "171") == nil)
    }
}
