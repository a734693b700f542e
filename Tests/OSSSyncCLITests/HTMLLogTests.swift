import Foundation
import OSSSync
import Testing

@testable import OSSSyncCLI

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("The page of past runs")
struct HTMLLogTests {
    /// Collects the elements, attributes and text of a well-formed page.
    private final class Page: NSObject, XMLParserDelegate {
        var elements: [String: Int] = [:]
        var attributes: Set<String> = []
        var text = ""

        func parser(
            _ parser: XMLParser,
            didStartElement name: String,
            namespaceURI: String?,
            qualifiedName: String?,
            attributes found: [String: String]
        ) {
            elements[name, default: 0] += 1
            attributes.formUnion(found.keys)
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
    }

    private static let hostile = "<script>alert('x')</script> & \"q\" <img src=x>"

    private func page(_ name: String) -> HTMLLog {
        let now: Int64 = 1_767_323_045
        func run(_ number: Int64, _ outcome: String, _ bytes: Int64) -> HTMLLog.Run {
            HTMLLog.Run(
                number: number,
                started: now - (3 - number) * 86_400,
                direction: name,
                outcome: outcome,
                bytes: bytes,
                message: name
            )
        }
        return HTMLLog(
            directory: name,
            remote: name,
            runs: [run(3, "did not end", 0), run(2, "incomplete", 50), run(1, "complete", 100)],
            largest: [(name, 5_000), ("small", 1)],
            failures: [HTMLLog.Failure(run: 2, action: "upload", key: name, reason: name)],
            now: now
        )
    }

    private func parsed(_ text: String) throws -> Page {
        let page = Page()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = page
        try #require(parser.parse(), "\(String(describing: parser.parserError))")
        return page
    }

    @Test func `no name is markup, and nothing is fetched`() throws {
        let text = page(Self.hostile).text
        let (found, plain) = (try parsed(text), try parsed(page("name").text))
        #expect(found.elements == plain.elements && found.attributes == plain.attributes)
        #expect(found.text.contains(Self.hostile))
        for word in ["<script", "<img", "<link", "src=", "href=", "url(", "@import", "http"] {
            #expect(!plain.text.contains(word) && !page("name").text.contains(word), "\(word)")
        }
        #expect(text.hasPrefix(HTMLLog.beginning))
    }

    @Test func `it shows the days, the runs, their bytes, failures and the largest files`() throws {
        let text = page("name").text
        let found = try parsed(text)
        #expect(text.components(separatedBy: "<td class=\"ok\"").count == 2)
        #expect(text.components(separatedBy: "<td class=\"bad\"").count == 3)
        #expect(text.contains("width:50%") && text.contains("width:100%"))
        for words in ["did not end", "incomplete", "complete", "upload", "4.9 KiB"] {
            #expect(found.text.contains(words), "\(words)")
        }
    }

    @Test func `only such a page is replaced, and only its user can read it`() throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-page-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for name in ["first", "second"] {
            let text = page(name).text
            #expect(try ReplacedFile(page: path).replace(with: text) == nil)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try "<!DOCTYPE html>\n<p>mine</p>".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: UsageError.self) { try ReplacedFile(page: path) }
    }
}
