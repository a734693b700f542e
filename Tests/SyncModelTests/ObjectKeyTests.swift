import SyncModel
import SyncTestSupport
import Testing

@Suite("Keys")
struct ObjectKeyTests {
    @Test func `two spellings of one text are two keys`() {
        let composed: ObjectKey = "caf\u{E9}"
        let decomposed: ObjectKey = "cafe\u{301}"
        #expect("caf\u{E9}" == "cafe\u{301}")
        #expect(composed != decomposed)
        #expect(decomposed < composed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect([composed: 1, decomposed: 2].count == 2)
    }

    @Test func `order is that of bytes`() {
        let ordered: [ObjectKey] = [
            "", "\u{1}", "A", "Z", "a", "a!", "a-b", "a.b", "a/", "a/b", "a0", "aa", "b",
            "\u{E9}", "\u{FFFF}", "\u{1F600}",
        ]
        #expect(ordered.shuffled().sorted() == ordered)
        #expect(ObjectKey([0x7F]) < ObjectKey([0x80]))
        #expect(!(ObjectKey([0xFF]) < ObjectKey([0x01])))
        let key: ObjectKey = "a"
        #expect(!(key < key))
    }

    @Test(arguments: UInt64(0)..<20)
    func `order and equality agree with the standard library's on bytes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func bytes(below limit: Int) -> [UInt8] {
            (0..<random.below(limit)).map { _ in UInt8(random.below(3) * 127) }
        }
        for _ in 0..<200 {
            // They are compared eight bytes at a time.
            let beginning = bytes(below: 20)
            let (left, right) = (beginning + bytes(below: 5), beginning + bytes(below: 5))
            #expect(bytesPrecede(left, right) == left.lexicographicallyPrecedes(right))
            #expect((ObjectKey(left) == ObjectKey(right)) == left.elementsEqual(right))
        }
    }

    @Test func `prefixes are bytes too`() {
        #expect(("a/b" as ObjectKey).hasPrefix("a/"))
        #expect(("a" as ObjectKey).hasPrefix(""))
        #expect(!("a" as ObjectKey).hasPrefix("a/"))
        // The slash and the accent are one character of text.
        #expect(("a/\u{301}x" as ObjectKey).hasPrefix("a/"))
        #expect(("a/\u{301}" as ObjectKey).isDirectoryMarker == false)
        #expect(("a/" as ObjectKey).isDirectoryMarker)
        #expect(!("" as ObjectKey).isDirectoryMarker)
        #expect(("" as ObjectKey).isEmpty)
    }

    @Test func `a key shows escaped`() {
        #expect(("a\r\n\u{1B}[2Jb\\" as ObjectKey).display == "a\\r\\n\\x1B[2Jb\\\\")
        #expect("\(ObjectKey([0x61, 0xFF]))" == "a\\xFF")
    }
}

@Suite("Text that is safe to show")
struct DisplayTextTests {
    @Test(
        arguments: [
            ("plain \u{E9} 对象 \u{1F600}", "plain \u{E9} 对象 \u{1F600}"),
            ("\n\r\t", "\\n\\r\\t"), ("\0\u{7}\u{1B}\u{1F}\u{7F}", "\\x00\\x07\\x1B\\x1F\\x7F"),
            ("\u{80}\u{9B}\u{9F}", "\\u{80}\\u{9B}\\u{9F}"), ("a\\b", "a\\\\b"),
            ("\u{202A}\u{202E}\u{2066}\u{2069}", "\\u{202A}\\u{202E}\\u{2066}\\u{2069}"),
            ("\u{200E}\u{200F}\u{61C}", "\\u{200E}\\u{200F}\\u{61C}"),
            ("\u{2028}\u{2029}\u{FEFF}", "\\u{2028}\\u{2029}\\u{FEFF}"), ("", ""),
            ("\u{A0}\u{FFFD}", "\u{A0}\u{FFFD}"),
        ]
    )
    func `controls are written out and the rest stays`(text: String, shown: String) {
        #expect(displayText(text.utf8).utf8.elementsEqual(shown.utf8))
    }

    @Test(
        arguments: [
            ([0xFF], "\\xFF"), ([0xC3], "\\xC3"), ([0xC3, 0x28], "\\xC3("),
            ([0xC0, 0xAF], "\\xC0\\xAF"), ([0xE0, 0x80, 0xAF], "\\xE0\\x80\\xAF"),
            ([0xED, 0xA0, 0x80], "\\xED\\xA0\\x80"),
            ([0xF4, 0x90, 0x80, 0x80], "\\xF4\\x90\\x80\\x80"),
            ([0xF0, 0x8F, 0xBF, 0xBF], "\\xF0\\x8F\\xBF\\xBF"), ([0x80], "\\x80"),
            ([0xE2, 0x82], "\\xE2\\x82"), ([0x61, 0xFE, 0x62], "a\\xFEb"),
        ] as [([UInt8], String)]
    )
    func `bytes that are no UTF-8 are written out`(bytes: [UInt8], shown: String) {
        #expect(displayText(bytes) == shown)
        #expect(!isValidUTF8(bytes))
    }

    @Test(arguments: UInt64(0)..<20)
    func `validity agrees with the standard library`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let interesting: [UInt8] = [
            0x00, 0x61, 0x7F, 0x80, 0xBF, 0xC2, 0xC3, 0xE0, 0xED, 0xA0, 0xEF, 0xF0, 0xF4, 0x8F,
            0x90,
        ]
        for _ in 0..<500 {
            let bytes = (0..<random.below(6)).map { _ in random.pick(interesting) }
            #expect(isValidUTF8(bytes) == (String(validating: bytes, as: UTF8.self) != nil))
        }
    }

    @Test(arguments: UInt64(0)..<10)
    func `two byte strings never show alike and nothing shown can harm`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = [UInt8]("\\xu{}nF8\n\u{80}\u{202E}".utf8) + [0x80, 0xFF]
        var shown: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<2_000 {
            let bytes = (0..<random.below(7)).map { _ in random.pick(alphabet) }
            let text = displayText(bytes)
            if let other = shown[[UInt8](text.utf8)] { #expect(other == bytes) }
            shown[[UInt8](text.utf8)] = bytes
            #expect(displayedBytes(text) == bytes)
            for scalar in text.unicodeScalars {
                #expect(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value))
                #expect(!(0x202A...0x202E).contains(scalar.value))
            }
        }
    }

    @Test(
        arguments: [
            [UInt8]("a/b c~".utf8), [UInt8]("".utf8), [UInt8]("a\\b".utf8), [UInt8]("a\nb".utf8),
            [UInt8]("\u{7F}".utf8), [UInt8]("\u{E9}".utf8), [0x61, 0xFF],
        ]
    )
    func `both texts of a key are made at once`(bytes: [UInt8]) {
        let key = ObjectKey(bytes)
        #expect(key.texts == (key.text, key.display))
    }
}
