import SyncModel
import SyncTestSupport
import Testing

@Suite("Escaped names")
struct EscapedNameTests {
    private func text(_ key: ObjectKey) -> String {
        String(decoding: EscapedName.path(of: key), as: UTF8.self)
    }

    @Test(
        arguments: [
            ("a//b.jpg", ".osssync-names/a%2F%2Fb.jpg"),
            ("../x", ".osssync-names/%2E.%2Fx"),
            (".", ".osssync-names/%2E"),
            ("a/.", ".osssync-names/a%2F%2E"),
            ("A/./b", ".osssync-names/%41%2F.%2Fb"),
            ("a\0b", ".osssync-names/a%00b"),
            ("100%/é/", ".osssync-names/100%25%2F%C3%A9%2F"),
        ] as [(ObjectKey, String)]
    )
    func `show the key, and lead back to it`(key: ObjectKey, path: String) {
        #expect(text(key) == path)
        #expect(EscapedName.key(ofPath: Array(path.utf8)) == key)
    }

    @Test func `that are long are cut, and no piece is a file and a directory`() throws {
        let path = text(ObjectKey([UInt8](repeating: UInt8(ascii: "a"), count: 1_023)))
        let pieces = path.split(separator: "/")
        #expect(pieces.count == 6 && pieces.allSatisfy { $0.utf8.count <= 255 })
        #expect(pieces[1...4].allSatisfy { $0.hasSuffix("%") } && !pieces[5].hasSuffix("%"))
    }

    @Test(
        arguments: [
            ".osssync-names", ".osssync-names/", ".osssync-names/%", ".osssync-names/%2",
            ".osssync-names/%2f", ".osssync-names/%61", ".osssync-names/A", ".osssync-names/a/b",
            ".osssync-names/a%/b", ".osssync-names/a.", ".osssync-names/.a", ".osssync-names/a b",
            "osssync-names/a", ".osssync-namesa", "x/.osssync-names/a",
        ]
    )
    func `have one spelling`(path: String) {
        #expect(EscapedName.key(ofPath: Array(path.utf8)) == nil)
    }

    @Test func `are different for different keys, also on a disk that folds names`() {
        var random = SeededGenerator(seed: 7)
        let letters: [Unicode.Scalar] = ["\0", ".", "/", "%", "A", "a", "z", "é", "É", "\u{301}"]
        var seen: [String: ObjectKey] = [:]
        for _ in 0..<20_000 {
            let length = Int.random(in: 1...(Bool.random(using: &random) ? 6 : 700), using: &random)
            var text = String.UnicodeScalarView()
            for _ in 0..<length { text.append(letters.randomElement(using: &random) ?? "a") }
            let key = ObjectKey(String(text))
            let path = EscapedName.path(of: key)
            #expect(EscapedName.key(ofPath: path) == key)
            let pieces = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            #expect(pieces.allSatisfy { (1...255).contains($0.count) })
            #expect(pieces.dropFirst().allSatisfy { $0 != [0x2E] && $0 != [0x2E, 0x2E] })
            let folded = String(decoding: path, as: UTF8.self).lowercased()
            #expect(seen.updateValue(key, forKey: folded).map { $0 == key } ?? true)
        }
    }

    @Test(
        arguments: [
            ("a//b", true), ("/a", true), ("a/../b", true), ("a\0", true), ("a//", true),
            ("a", false), ("a/", false), ("", false), (".osssync/x", false),
            (".osssync-names/x", false), ("a/.osssync-names", false), ("é", false),
            ("a//.osssync/x", false), ("../.OSSSYNC", false),
        ] as [(ObjectKey, Bool)]
    )
    func `stand for keys that fit no file name, and for no others`(
        key: ObjectKey,
        isEscaped: Bool
    ) throws {
        #expect(RelativePath.isEscaped(key) == isEscaped)
        let path = try? RelativePath(key: key, links: .skip, names: .escape)
        #expect(path?.isEscaped ?? false == isEscaped)
        if let path { #expect(path.key == key) }
        #expect((try? RelativePath(key: key, links: .skip, names: .skip))?.isEscaped != true)
    }

    @Test func `stand for keys that are too long, and for none that no store has`() throws {
        let long = ObjectKey([UInt8](repeating: 0x61, count: 256))
        let path = try RelativePath(key: long, links: .skip, names: .escape)
        #expect(path.isEscaped && path.key == long)
        #expect(try RelativePath(path: ObjectKey(path.bytes)) == path)
        #expect(!RelativePath.isEscaped(ObjectKey([0x61, 0x2F, 0x2F, 0xFF])))
        #expect(EscapedName.key(ofPath: Array(".osssync-names/a%2F%2F%FF".utf8)) == nil)
    }

    @Test func `of links are those of keys that fit no link`() throws {
        let long = ObjectKey([UInt8](repeating: 0x61, count: 250) + ".rclonelink".utf8)
        #expect(try RelativePath(key: long, links: .store, names: .escape).isLink)
        #expect(try RelativePath(key: long, links: .skip, names: .escape).isEscaped)
        #expect(try RelativePath(key: "a//l.rclonelink", links: .store, names: .escape).isEscaped)
        #expect(!RelativePath.isEscaped("a/.rclonelink", links: .store))
    }
}
