import SyncModel
import SyncTestSupport
import Testing

@Suite("Paths made from keys")
struct RelativePathTests {
    private func reason(_ key: ObjectKey) -> UnsafeKey? {
        do {
            _ = try RelativePath(key: key)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            // Segments that lead elsewhere, also where text would not see the separator.
            ("../x", UnsafeKey.dotComponent), ("a/../../x", .dotComponent), ("..", .dotComponent),
            ("a/..", .dotComponent), (".", .dotComponent), ("./x", .dotComponent),
            ("a/./b", .dotComponent), ("../", .dotComponent), ("a/../", .dotComponent),
            ("./", .dotComponent), ("../\u{301}x", .dotComponent),
            ("a/../\u{200D}x", .dotComponent),
            ("..\u{2F}\u{20DD}x", .dotComponent), ("../\u{FE0F}", .dotComponent),
            ("/etc/x", .absolute), ("//host/x", .absolute), ("/", .absolute), ("//", .absolute),
            ("/\u{301}x", .absolute),
            ("a//b", .emptyComponent), ("a//", .emptyComponent), ("a///b", .emptyComponent),
            ("", .empty),
            ("\0", .containsNUL), ("a\0b", .containsNUL), ("safe.txt\0/../../evil", .containsNUL),
            ("a/\0", .containsNUL),
            (".osssync", .reserved), (".osssync/", .reserved), (".osssync/partial/x", .reserved),
            (".OSSSYNC/lock", .reserved), (".OssSync", .reserved), ("x/.osssync", .reserved),
            ("photos/.osssync/config", .reserved), ("a/b/.OSSsync/c/d", .reserved),
            ("x/.osssync/", .reserved), (".osssync-0123456789abcdef0123456789abcdef", .reserved),
            ("d/.osssync-0123456789abcdef0123456789abcdef/x", .reserved),
            (".OSSSYNC-0123456789ABCDEF0123456789ABCDEF", .reserved),
            (".o\u{DF}sync/config", .reserved), (".os\u{17F}\u{17F}ync", .reserved),
            ("a/.o\u{200C}sssync", .reserved), (".O\u{1E9E}SYNC-work/x", .reserved),
            ("\u{200B}.osssync/x", .reserved), ("o\u{DF}syn~1", .reserved),
            (".osssync ", .reserved), ("a/.osssync. ./x", .reserved), ("OSSSYN~1/x", .reserved),
            ("a/osssyn~1f", .reserved), (".osssync-0123456789abcdef0123456789abcdef.", .reserved),
        ] as [(ObjectKey, UnsafeKey)]
    )
    func `an unsafe key is refused with its reason`(key: ObjectKey, expected: UnsafeKey) {
        #expect(reason(key) == expected)
    }

    @Test(
        arguments: [
            (".rclonelink", UnsafeKey.namelessLink), ("d/.rclonelink", .namelessLink),
            ("/.rclonelink", .namelessLink), ("..rclonelink", .dotComponent),
            ("...rclonelink", .dotComponent), ("d/...rclonelink", .dotComponent),
            ("../l.rclonelink", .dotComponent), ("/l.rclonelink", .absolute),
            ("d//l.rclonelink", .emptyComponent), ("l\0.rclonelink", .containsNUL),
            (".osssync.rclonelink", .reserved), ("d/.OSSSYNC.rclonelink", .reserved),
            (".osssync/l.rclonelink", .reserved),
        ] as [(ObjectKey, UnsafeKey)]
    )
    func `a link is refused by the name that it would have`(key: ObjectKey, expected: UnsafeKey) {
        do {
            _ = try RelativePath(key: key, links: .store)
            Issue.record("it has a path")
        } catch {
            #expect(error == expected)
        }
    }

    @Test func `the path of a link has its key, and no other run has one`() throws {
        let key: ObjectKey = "d/l.rclonelink"
        let link = try RelativePath(key: key, links: .store)
        #expect(link.isLink && link.bytes == Array("d/l".utf8) && link.key == key)
        #expect(link != (try RelativePath(key: "d/l")))
        let file = try RelativePath(key: key, links: .skip)
        #expect(!file.isLink && file.bytes == key.bytes && file.key == key)
        for key in ["d/l.rclonelinks", "d/l.rclonelink/", "l.RCLONELINK", "l.rclonelink/f"] {
            #expect(try !RelativePath(key: ObjectKey(key), links: .store).isLink)
        }
        let long = String(repeating: "n", count: 255)
        #expect(try RelativePath(key: ObjectKey(long + ".rclonelink"), links: .store).isLink)
    }

    @Test(
        arguments: [
            "a", "a/b", "a/b/", "C:\\x", "C:/x", "\\\\srv\\x", "a\r\nb", "\u{1B}[2J", "\u{7F}",
            "\u{85}",
            "%2e%2e%2f", "%00", "+ &#?%", "-rf", "*", "[a]", "con", "aux.txt", "a ", "a.", "...",
            "..a", "a..", "osssyn~", "osssyn~1.x", "o", "osssync~1", ".osssync.x",
            ".hidden", ".osssync2", "x.osssync", ".osssyn", " .osssync",
            ".osssync-0123456789abcdef0123456789abcde", ".osssyncignore",
            ".osssync-0123456789abcdef0123456789abcdefg", "osssync",
            ".osssync-0123456789abcdef0123456789abcdeg",
            "-osssync-0123456789abcdef0123456789abcdef",
            "e\u{301}", "\u{E9}", "\u{FFFD}", "\u{202E}gpj", "..\u{301}", ".\u{301}", "..\\x", " ",
        ]
    )
    func `an odd key is kept byte for byte`(text: String) throws {
        let key = ObjectKey(text)
        let path = try RelativePath(key: key)
        #expect(path.key == key)
        #expect(path.isDirectory == key.isDirectoryMarker)
    }

    @Test func `bytes that are no text are kept too`() throws {
        let key = ObjectKey([0xFF, 0x2F, 0xC0, 0xAE, 0xC0, 0xAE, 0x2F, 0x80])
        #expect(try RelativePath(key: key).key == key)
    }

    @Test func `lengths and depths have limits`() throws {
        let longest = String(repeating: "n", count: 255)
        #expect(reason(ObjectKey(longest)) == nil)
        #expect(reason(ObjectKey(longest + "/" + longest + "/x")) == nil)
        #expect(reason(ObjectKey(longest + "n")) == .componentTooLong(length: 256))
        #expect(reason(ObjectKey("a/" + longest + "n/b")) == .componentTooLong(length: 256))
        let accented = String(repeating: "\u{E9}", count: 128)
        #expect(reason(ObjectKey(accented)) == .componentTooLong(length: 256))
        let deepest = Array(repeating: "a", count: 512).joined(separator: "/")
        #expect(reason(ObjectKey(deepest)) == nil)
        #expect(reason(ObjectKey(deepest + "/")) == nil)
        #expect(reason(ObjectKey(deepest + "/a")) == .tooDeep)
        let segments = Array(repeating: "abc", count: 256).joined(separator: "/")
        #expect(segments.utf8.count == 1_023)
        #expect(reason(ObjectKey(segments)) == nil)
    }

    @Test func `a path knows its parent and name`() throws {
        let path = try RelativePath(key: "a/b/c.txt")
        #expect(path.name.elementsEqual("c.txt".utf8))
        let parent = try #require(path.parent)
        #expect(parent.key == "a/b/")
        #expect(parent.isDirectory)
        #expect(parent.name.elementsEqual("b".utf8))
        #expect(parent.parent?.key == "a/")
        #expect(parent.parent?.parent == nil)
        #expect(try RelativePath(key: "a/b/").parent?.key == "a/")
        #expect(try RelativePath(key: "a").parent == nil)
    }

    @Test func `paths sort as their keys and show escaped`() throws {
        let keys: [ObjectKey] = ["a", "a-b", "a/", "a/b", "a0"]
        let paths = try keys.map { try RelativePath(key: $0) }
        #expect(paths.shuffled().sorted() == paths)
        #expect(try RelativePath(key: "a").key != RelativePath(key: "a/").key)
        #expect(try RelativePath(key: "a\n/\u{1B}/").display == "a\\n/\\x1B/")
    }

    @Test(arguments: UInt64(0)..<40)
    func `no accepted key can leave the directory`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = [UInt8]("../a\0\u{301}".utf8)
        for _ in 0..<500 {
            let bytes = (0..<random.below(9)).map { _ in random.pick(alphabet) }
            guard let path = try? RelativePath(key: ObjectKey(bytes)) else { continue }
            let segments = path.bytes.split(
                separator: UInt8(ascii: "/"),
                omittingEmptySubsequences: false
            )
            for segment in segments {
                #expect(!segment.isEmpty && !segment.contains(0))
                #expect(!segment.elementsEqual(".".utf8) && !segment.elementsEqual("..".utf8))
            }
            #expect(path.key.bytes == bytes)
        }
    }

    @Test(
        arguments: [
            (UnsafeKey.empty, "the key is empty"),
            (.absolute, "the key begins with '/', which would be an absolute path"),
            (
                .emptyComponent,
                "the key has an empty segment ('//'), which a directory cannot hold"
            ),
            (
                .dotComponent,
                "the key has a '.' or '..' segment, which could lead outside the directory"
            ),
            (.containsNUL, "the key has a NUL byte, which no file name can hold"),
            (
                .componentTooLong(length: 300),
                "a segment of the key has 300 bytes, and a file name can have 255"
            ),
            (.tooDeep, "the key has more than 512 segments"),
            (
                .reserved,
                "'.osssync', '.osssync-names', '.osssync-work', and '.osssync-' with 32 "
                    + "hexadecimal digits, are reserved for osssync's own files"
            ),
        ]
    )
    func `a refusal says why`(reason: UnsafeKey, message: String) {
        #expect(reason.message == message)
    }
}
