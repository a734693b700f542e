import OSSTransfer
import Testing

@Suite("Object references")
struct ObjectReferenceTests {
    @Test(
        arguments: [
            ("oss://media/a.jpg", "a.jpg", "a.jpg"), ("s3://media/p/q/a b+c", "p/q/a b+c", "a b+c"),
            ("oss://media/e\u{301}/%2e", "e\u{301}/%2e", "%2e"), ("oss://media", "", ""),
            ("oss://media/", "", ""), ("oss://media/films/", "films/", ""),
        ]
    )
    func `name one object`(text: String, key: String, name: String) throws {
        let reference = try ObjectReference(parsing: text)
        #expect(Array(reference.key.utf8) == Array(key.utf8))
        #expect(reference.name == name)
        #expect(reference.isDirectory == name.isEmpty)
        #expect(reference.bucket == "media")
        #expect(reference.text == (text == "oss://media" ? "oss://media/" : text))
    }

    @Test func `in a directory take a name`() throws {
        let directory = try ObjectReference(parsing: "s3://media/films/")
        #expect(directory.appending("a.mov").text == "s3://media/films/a.mov")
        #expect(try ObjectReference(parsing: "s3://media").appending("a").key == "a")
    }

    @Test(arguments: ["media/a", "https://media/a", "oss://Media/a", "oss://media//a", "oss://"])
    func `are refused where there is no bucket or no key`(text: String) {
        #expect(throws: TransferError.self) { try ObjectReference(parsing: text) }
    }
}
