import CSystem
import Foundation
import Glibc
import OSSSync
import Testing

@testable import OSSSyncCLI
@testable import SyncEngine

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("The page of a mirror")
struct RunPageTests {
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
    private static let now: Int64 = 1_767_323_045

    private func run(
        _ number: Int64,
        _ outcome: String?,
        bytes: Int64 = 0,
        daysAgo: Int64,
        _ name: String = "a message"
    ) -> PastRun {
        PastRun(
            number: number,
            direction: "push",
            started: StoreTime(secondsSince1970: Self.now - daysAgo * 86_400),
            remote: name,
            paths: [],
            end: outcome.map { outcome in
                PastRun.End(
                    outcome: outcome,
                    seconds: 60,
                    transferred: 1,
                    bytes: bytes,
                    deleted: 0,
                    renamed: 0,
                    conflicts: 0,
                    failed: 0,
                    skipped: 0,
                    message: name
                )
            }
        )
    }

    private func page(_ name: String) -> RunPage {
        var page = RunPage(directory: name, remote: name, now: Self.now)
        page.failure = name
        page.overview.runs = [
            run(3, nil, daysAgo: 0, name), run(2, "incomplete", bytes: 50, daysAgo: 1, name),
            run(1, "complete", bytes: 100, daysAgo: 2, name),
        ]
        page.overview.problems = [
            PastItem(key: name, displayKey: name, action: "upload", state: "failed", message: name)
        ]
        page.overview.largest = [MirrorOverview.File(name: name, size: 5_000)]
        page.overview.directories = [
            MirrorOverview.Directory(name: name, files: 1, bytes: 5_000)
        ]
        (page.overview.freed, page.hasRemoteTrash) = (3, true)
        page.overview.conflictCopies = [name]
        for index in page.overview.runs.indices {
            page.overview.runs[index].end?.itemsInBoth = 7
            page.overview.runs[index].end?.bytesInBoth = 9_000 - Int64(index) * 1_000
        }
        page.overview.damagedFiles = 2
        page.overview.verifiedShare = 0.25
        var live = LiveRun(
            title: name,
            progress: RunProgress(
                isPlanComplete: true,
                itemsPlanned: 2,
                itemsFinished: 1,
                bytesPlanned: 100,
                bytesFinished: 50,
                bytesResumed: 0,
                active: [
                    ActiveTransfer(
                        action: .upload,
                        key: name,
                        displayKey: name,
                        size: 100,
                        bytesFinished: 25,
                        bytesResumed: 0
                    )
                ]
            ),
            rate: 5,
            steadyRate: 5,
            remaining: .seconds(10),
            elapsed: .seconds(3),
            waiting: name
        )
        live.progress.active[0].rate = 25
        page.live = live
        return page
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
        for word in ["<script", "<img", "<link", "src=", "href=", "url(", "@import", "http:"] {
            #expect(!page("name").text.contains(word), "\(word)")
        }
        #expect(text.hasPrefix(RunPage.beginning))
        _ = try parsed(page("\u{0}\u{1B}\u{FFFE}").text)
    }

    @Test func `it shows what runs, the days, the runs, and what needs attention`() throws {
        let page = page("name")
        let text = page.text
        let found = try parsed(text)
        #expect(text.contains(#"<meta http-equiv="refresh" content="5" />"#))
        #expect(text.components(separatedBy: "<i class=\"ok\"").count == 2)
        #expect(text.components(separatedBy: "<i class=\"bad\"").count == 3)
        for words in [
            "Running at ", "the run was killed", "did not end", "incomplete",
            "1 of 3 days with a complete run", "4.9 KiB",
            "25% of 100 B, 25 B/s, ETA 0:03", "Waiting: name", "2 files here", "failed name",
            "name: 50%", "7 items, 7.8 KiB, after run 2", "3 freed paths", "Trash in the bucket",
            "conflict copy name", "6.8 KiB after run 1, 7.8 KiB after run 2",
            "never complete; 25% of the next verify",
            "Last complete run 2025-12-31", ", 47 h before this page", "Failed: name",
            "the largest was run 1 with 100 B",
        ] {
            #expect(found.text.contains(words), "\(words)")
        }
        var ended = page
        ended.live = nil
        #expect(!ended.text.contains("refresh") && !ended.text.contains("Running at"))
        #expect(!RunPage(directory: "d", remote: "r", now: Self.now).text.contains("<section"))
    }

    @Test func `a thousand runs are less than 400 KB, and most of them are folded`() throws {
        var page = page("name")
        let message = String(repeating: "the message of a run; ", count: 2)
        page.overview.runs = (0..<1_000).map { number in
            run(1_000 - number, "incomplete", bytes: number, daysAgo: number, message)
        }
        #expect(page.text.utf8.count <= 400_000, "\(page.text.utf8.count)")
        #expect(page.text.contains("<summary>980 older runs</summary>"))
        #expect(page.text.contains("earlier months</summary>"))
        // Each one can be as long as the journal lets it.
        page.overview.runs = [run(1, "failed", daysAgo: 0, String(repeating: "x", count: 4_000))]
        #expect(page.text.utf8.count < 20_000)
    }

    @Test(arguments: [
        ("2026-11-27", 4), ("2024-02-29", 3), ("2000-01-01", 5), ("2023-01-02", 0), ("x", 0),
    ])
    func `a day has its weekday`(day: String, weekday: Int) {
        #expect(RunPage.weekday(day) == weekday)
    }

    @Test func `a day without a run counts, and today only once it had one`() {
        var page = RunPage(directory: "d", remote: "r", now: Self.now)
        page.overview.runs = [run(2, "complete", daysAgo: 1), run(1, "complete", daysAgo: 9)]
        #expect(page.dayCount == 9 && page.text.contains("2 of 9 days"))
        page.overview.runs.insert(run(3, "failed", daysAgo: 0), at: 0)
        #expect(page.text.contains("2 of 10 days"))
    }

    @Test func `only such a page is replaced, and only its user can read it`() throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-page-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var written = page("-->first\n")
        for mode in [0o600, 0o644] {
            let text = written.text
            #expect(try ReplacedFile(page: path, for: written).replace(with: text) == nil)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == mode)
            // A user may show it to others, and it keeps that.
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            written.remote = "another"
        }
        written.state = "elsewhere"
        for other in [page("-->second\n"), written] {
            let error = #expect(throws: UsageError.self) {
                try ReplacedFile(page: path, for: other)
            }
            #expect(error?.message.contains("it is the page of another mirror") == true)
        }
        try "<!DOCTYPE html>\n<p>mine</p>".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: UsageError.self) { try ReplacedFile(page: path, for: written) }
    }

    /// The path of a page, and what replaces it; the error, if there was one.
    private func writtenPage() throws -> (path: String, replace: () -> String?) {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-page-\(UUID().uuidString)").path
        let written = page("page")
        let file = try ReplacedFile(page: path, for: written)
        #expect(file.replace(with: written.text) == nil)
        return (path, { file.replace(with: written.text) })
    }

    @Test func `a page that is replaced keeps its group`() throws {
        let (path, replace) = try writtenPage()
        defer { try? FileManager.default.removeItem(atPath: path) }
        var groups = [gid_t](repeating: 0, count: 64)
        let count = unsafe getgroups(64, &groups)
        // Only the superuser may give a file to any group.
        let group = getuid() == 0 ? 12 : groups.prefix(Int(max(0, count))).last ?? getgid()
        try #require(unsafe chown(path, uid_t.max, group) == 0 && chmod(path, 0o640) == 0)
        #expect(replace() == nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.groupOwnerAccountID] as? Int == Int(group))
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }

    @Test func `a page that is replaced keeps whom a list lets in`() throws {
        let (path, replace) = try writtenPage()
        defer { try? FileManager.default.removeItem(atPath: path) }
        // User 12345 reads it, the group does not; the mask is `r`.
        let nobody: [UInt8] = [255, 255, 255, 255]
        let user: [UInt8] = [2, 0, 4, 0, 0x39, 0x30, 0, 0]
        var list: [UInt8] = [2, 0, 0, 0, 1, 0, 6, 0] + nobody + user
        list += [4, 0, 0, 0] + nobody + [16, 0, 4, 0] + nobody + [32, 0, 0, 0] + nobody
        let name = "system.posix_acl_access"
        let older = unsafe open(path, O_RDONLY)
        let isSet = unsafe osssync_set_attribute(older, name, list, list.count)
        close(older)
        // This file system has no lists.
        if isSet != 0, errno == EOPNOTSUPP { return }
        try #require(isSet == 0)
        #expect(replace() == nil)
        var found = [UInt8](repeating: 0, count: 256)
        let newer = unsafe open(path, O_RDONLY)
        let count = unsafe osssync_get_attribute(newer, name, &found, found.count)
        close(newer)
        #expect(found.prefix(max(0, count)).elementsEqual(list))
    }
}
