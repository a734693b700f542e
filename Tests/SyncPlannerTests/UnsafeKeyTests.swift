import SyncModel
import SyncPlanner
import Testing

@Suite("Unsafe keys")
struct UnsafeKeyTests {
    private static let longSegment = String(repeating: "n", count: 256)

    @Test(
        arguments: [
            ("../x", UnsafeKey.dotComponent), ("a/../../x", .dotComponent), ("..", .dotComponent),
            ("a/..", .dotComponent), (".", .dotComponent), ("./x", .dotComponent),
            ("../\u{301}x", .dotComponent), ("plugins/./a", .dotComponent), ("../", .dotComponent),
            ("/etc/x", .absolute), ("//host/x", .absolute), ("/", .absolute),
            ("a//b", .emptyComponent), ("a//", .emptyComponent), ("safe\0/../evil", .containsNUL),
            (longSegment, .componentTooLong(length: 256)),
        ],
        SyncDirection.allCases
    )
    func `is skipped wherever it would matter, and never deleted`(
        sample: (text: String, reason: UnsafeKey),
        direction: SyncDirection
    ) {
        let key = ObjectKey(sample.text)
        let everything = policy(
            direction,
            deletes: true,
            extra: true,
            force: true,
            conflict: .remote
        )
        let skip = Decision.skip(.unsafeName(sample.reason))
        #expect(decide(entry(key, remote: object(key)), everything) == skip)
        let known = entry(key, base: row(key), remote: object(key))
        #expect(decide(known, everything) == skip)
        #expect(decide(entry(key, base: row(key)), everything) == .forget)
    }

    @Test(
        arguments: [
            ".osssync/manifest.db", ".OSSsync", ".osssync/", "photos/.osssync/config",
            "a/b/.OSSSYNC/", "d/.osssync-0123456789abcdef0123456789abcdef",
        ] as [ObjectKey],
        SyncDirection.allCases
    )
    func `with a name of our own is nothing to any side, and its row is forgotten`(
        key: ObjectKey,
        direction: SyncDirection
    ) {
        let everything = policy(
            direction,
            deletes: true,
            extra: true,
            force: true,
            conflict: .remote
        )
        for policy in [everything, policy(direction)] {
            let object = object(key, size: 3)
            #expect(decide(entry(key, remote: object), policy) == .nothing(.reservedName))
            #expect(decide(entry(key, base: row(key), remote: object), policy) == .forget)
            #expect(decide(entry(key, base: row(key)), policy) == .forget)
        }
    }

    @Test(
        arguments: [
            ".OSSSYNCIGNORE", ".osssyncIgnore", ".osssyncignore.", ".osssyncignore ",
            ".o\u{DF}syncignore", ".os\u{17F}syncignore", "\u{200B}.osssyncignore",
            ".osssyncignore/", ".osssyncignore/x", ".OSSSYNCIGNORE/x/y",
        ] as [ObjectKey]
    )
    func `of a name that a disk may take for the ignore file is skipped on either side`(
        key: ObjectKey
    ) {
        let skip = Decision.skip(.beneathIgnoreFile)
        let size: Int64 = key.isDirectoryMarker ? 0 : 3
        #expect(decide(entry(key, remote: object(key, size: size)), policy(.pull)) == skip)
        #expect(decide(entry(key, local: file(key)), policy(.push)) == skip)
        let known = entry(key, base: row(key), local: file(key))
        #expect(decide(known, policy(.sync, deletes: true)) == skip)
    }

    @Test(arguments: [".osssyncignore", "d/.OSSSYNCIGNORE", ".osssyncignore2"] as [ObjectKey])
    func `is not one of another name or place than the ignore file`(key: ObjectKey) {
        let found = entry(key, remote: object(key))
        #expect(decide(found, policy(.pull)) == .download(.new))
    }

    @Test func `is no concern of a push that leaves foreign objects alone`() {
        let foreign = entry("../x", remote: object("../x"))
        #expect(decide(foreign, policy(.push)) == .nothing(.onlyRemote))
        #expect(decide(foreign, policy(.push, deletes: true)) == .nothing(.onlyRemote))
        #expect(decide(foreign, policy(.sync)) == .skip(.unsafeName(.dotComponent)))
        let marker = entry("a/", remote: object("a/", size: 4))
        #expect(decide(marker, policy(.push)) == .nothing(.onlyRemote))
    }

    @Test(
        arguments: [[0xFF, 0x61], [0x61, 0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80]] as [[UInt8]]
    )
    func `that is not UTF-8 is skipped`(bytes: [UInt8]) {
        let key = ObjectKey(bytes)
        #expect(decide(entry(key, remote: object(key)), policy(.pull)) == .skip(.notUTF8))
    }

    @Test(
        arguments: [
            "C:\\x", "C:/x", "\\\\srv\\x", "a\r\nb", "\u{1B}[2J", "%2e%2e%2f", "100%25", "-rf", "*",
            "con", "aux.txt", "a ", "a.", "...", "..a", "a..", ".hidden", ".osssync2", "x.osssync",
            "e\u{301}", "\u{E9}", "\u{FFFD}", "\u{202E}gpj", "a/b/",
        ]
    )
    func `is not what merely looks odd`(text: String) {
        let key = ObjectKey(text)
        let isMarker = key.isDirectoryMarker
        let decision = decide(
            entry(key, remote: object(key, size: isMarker ? 0 : 9)),
            policy(.pull)
        )
        #expect(decision == (isMarker ? .makeDirectory : .download(.new)))
    }

    @Test func `twins of normalization are two keys`() throws {
        let decomposed: ObjectKey = "cafe\u{301}"
        let composed: ObjectKey = "caf\u{E9}"
        let items = try plan(policy(.pull), remote: [object(decomposed), object(composed)])
        #expect(items.map(\.entry.key) == [decomposed, composed])
        #expect(items.map(\.decision) == [.download(.new), .download(.new)])
    }
}
