import SyncTestSupport
import Testing

@testable import ObjectStorage

/// The parser in Swift beside expat, or beside itself where expat is not linked.
@Suite("XML in Swift alone")
struct PlainXMLParserTests {
    /// What comes of a document: its tags and texts, or nil if it is refused.
    private func plain(_ document: [UInt8]) -> [String]? {
        guard var parser = try? PlainXMLParser(document, XMLEventCollector(limits: .result)),
            (try? parser.parse()) != nil
        else { return nil }
        return parser.collector.events.map { shown($0, parser.collector.bytes) }
    }

    private func expat(_ document: [UInt8]) -> [String]? {
        var reader = XMLReader(limits: .result)
        var events: [String] = []
        do {
            try unsafe document.withUnsafeBytes { try unsafe reader.feed($0) }
            try reader.finish()
            try reader.drain { event, bytes in events.append(shown(event, bytes)) }
        } catch {
            return nil
        }
        return events
    }

    private func shown(_ event: XMLEvent, _ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes[event.text], as: UTF8.self)
        let name = String(decoding: bytes[event.name], as: UTF8.self)
        return "\(event.kind) \(event.element) \(name) \(event.depth) \(event.isLeaf) \(text)"
    }

    private static let documents = [
        "<a/>", "<a></a>", "<a b='c' d = \"e&lt;f\"/>", "<a b='1' b='2'/>", "<a b='<'/>",
        "<a>x&amp;y&#65;&#x1F600;</a>", "<a>&e;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>",
        "<a>&#;</a>",
        "<a><![CDATA[<&]]>]]&gt;</a>", "<a>]]></a>", "<a>]] ></a>", "<a>x\r\ny\rz</a>",
        "<a><!-- c --><b/><?p q?></a>", "<a><!-- c -- d --></a>", "<!--x--><a/><!--y-->",
        "<a/><b/>",
        "<a/>x", " <a/>", "<a><b></a></b>", "<a", "<a>", "<a></a", "<1/>", "<a>\u{1}</a>",
        "<a>\t</a>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a/>\n", "<a><?xml version='1.0'?></a>",
        "<?xml version='1.0' encoding='latin1'?><a/>", "<!DOCTYPE a><a/>", "<a\n/>", "<a /b>",
        "</a>",
        "<a>&lt</a>", "<a b=c/>", "<a b/>", "<a>\u{FFFE}</a>", "<ä>ö</ä>", "", "x",
        "<a b='1'c='2'/>",
        "<?p?><a/>", "<a><!x></a>", "<a><!-x></a>", "<a:b/>",
    ]

    @Test(arguments: documents)
    func `a document means the same, or is refused`(document: String) {
        let bytes = [UInt8](document.utf8)
        #expect(plain(bytes) == expat(bytes))
    }

    @Test(arguments: [
        "list-objects-v2-page1.xml", "list-object-versions.xml", "list-parts-page1.xml",
        "delete-result-verbose.xml",
    ])
    func `vectors mean the same, whole and with a byte changed`(name: String) throws {
        let document = try Vectors.bytes("xml/" + name)
        #expect(plain(document) != nil)
        #expect(plain(document) == expat(document))
        var generator = SeededGenerator(seed: 7)
        let replacements = [UInt8]("<>&;\"'/!?- =[]a0\u{1}".utf8) + [0xC3, 0x80, 0xFF]
        for _ in 0..<2_000 {
            var changed = document
            let place = Int.random(in: changed.indices, using: &generator)
            changed[place] = replacements.randomElement(using: &generator) ?? 0
            #expect(plain(changed) == expat(changed), "byte \(place) is \(changed[place])")
        }
    }
}
