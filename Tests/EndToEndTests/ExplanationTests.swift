import Foundation
import Testing

@Suite("What is done with single paths, and why", .serialized)
struct ExplanationTests {
    private let workplace: Workplace
    private let tree: Tree

    init() throws {
        workplace = try Workplace()
        tree = try workplace.makeDirectory("tree")
        // Older than what a run looks at once more.
        let old: Int64 = 1_700_000_000_000_000_000
        try tree.write(".osssyncignore", Data("*.mkv\n".utf8), modified: old)
        try tree.write("2024/a.jpg", ramp(1_000), modified: old)
        try tree.write("2024/old.jpg", ramp(1_000), modified: old)
        let push = try workplace.run("push", tree.path, workplace.remote)
        try #require(push.status == 0, "\(push.diagnostics)")
        try tree.write("2024/film.mkv", ramp(2_000))
        try tree.write("2024/new.jpg", ramp(500))
        try tree.write("2025/x/one.jpg", ramp(300))
        try tree.write("2025/x/two.jpg", ramp(300))
        try tree.write("top", ramp(10))
        try tree.remove("2024/old.jpg")
    }

    @Test func `status lists its items, or sums them for each directory`() throws {
        let few = try workplace.run("status", tree.path, "--delete").output
        for line in [
            "  pull          push          sync          item\n",
            "  -             upload        upload        2024/new.jpg (500 B)\n",
            "  download      delete there  delete there  2024/old.jpg (1.0 KiB)\n",
        ] {
            #expect(few.contains(line), "\(few)")
        }
        #expect(!few.contains("film.mkv"))
        for index in 0..<30 { try tree.write("2026/\(index)", ramp(5)) }
        let cut = try workplace.run("status", tree.path).output
        let left = "; -v shows all\n"
        #expect(cut.hasSuffix(left) && !cut.contains("2026/9 "), "\(cut)")
        let all = try workplace.run("status", tree.path, "-v").output
        let line = "  -             upload        upload        2026/9 (5 B)\n"
        let reason = "      new in the directory\n"
        #expect(all.contains(line + reason) && !all.contains(left), "\(all)")
        #expect(!all.contains("excluded: "))
        let excluded = try workplace.run("status", tree.path, "-vv").output
        #expect(excluded.contains("excluded: 2024/film.mkv (.osssyncignore:1 '*.mkv')\n"))

        let sums = try workplace.run("status", tree.path, "--summary").output
        #expect(
            sums.hasPrefix(
                """
                2024/
                  pull would: download 1 item (1.0 KiB)
                  push would: upload 1 item (500 B)
                  sync would: transfer 1 item (500 B)
                2025/
                  push would: upload 2 items (600 B)
                  sync would: transfer 2 items (600 B)
                2026/
                """
            ),
            "\(sums)"
        )
        #expect(sums.contains("./\n  push would: upload 1 item (10 B)\n"), "\(sums)")
        #expect(!sums.contains("would upload"))
        let events = try workplace.run("status", tree.path, "2025", "--summary", "--json").events
        #expect(events.map { $0["directory"] as? String } == ["2025/x/", nil])
        let items = try workplace.run("status", "--json", "-v", tree.path, "2025/x").events
        let kinds = items.map { $0["event"] as? String }
        #expect(kinds.count { $0 == "status_item" } == 4 && kinds.last == "status")
    }

    @Test func `a renamed file is a rename in the status of both machines`() throws {
        try tree.write("film", ramp(300 << 10))
        try #require(try workplace.run("push", "--delete", tree.path).status == 0)
        let other = try workplace.makeDirectory("other")
        try #require(try workplace.run("pull", other.path, workplace.remote).status == 0)
        try tree.rename("film", to: "2025/Film (2025)")
        let here = try workplace.run("status", tree.path, "film", "2025/Film (2025)").output
        #expect(here.contains("  push would: rename 1 item\n"), "\(here)")
        #expect(here.contains("rename    rename    2025/Film (2025)"), "\(here)")
        let push = try workplace.run("push", "--delete", tree.path, "--json")
        #expect(push.count("renamed") == 1)
        let there = try workplace.run("status", "--delete", other.path, "--json").events.last
        let pull = there?["pull"] as? [String: Any] ?? [:]
        #expect(pull["renames"] as? Int == 1 && pull["bytes"] as? Int == 0, "\(pull)")
        #expect(pull["deletions"] as? Int == 0, "\(pull)")
    }

    @Test func `with a limit, status and dry runs say how long it takes`() throws {
        try tree.write("film", ramp(9 << 20))
        for command in [["status"], ["push", "-n"]] {
            let words = command + ["--bwlimit", "64K", tree.path]
            let text = try workplace.start(words).finish().output
            #expect(text.contains(", about 2 min at 64.0 KiB/s)"), "\(text)")
        }
    }

    @Test func `a run says what filters leave out`() throws {
        let run = try workplace.run("push", "-vv", tree.path, "--max-size", "400")
        #expect(run.status == 0)
        let lines = run.output.split(separator: "\n").filter { $0.hasPrefix("excluded: ") }
        #expect(
            lines.sorted() == [
                "excluded: 2024/a.jpg (--max-size)",
                "excluded: 2024/film.mkv (.osssyncignore:1 '*.mkv')",
                "excluded: 2024/new.jpg (--max-size)", "excluded: 2024/old.jpg (--max-size)",
            ]
        )
        #expect(
            run.output.contains(" names here and in the bucket left out by filters and options\n")
        )
        let events = try workplace.run("push", "-vv", "--json", tree.path).events
        let excluded = events.filter { $0["event"] as? String == "excluded" }
        #expect(excluded.map { $0["key"] as? String } == ["2024/film.mkv"])
        #expect(excluded.first?["rule"] as? String == ".osssyncignore:1 '*.mkv'")
        #expect(try !workplace.run("push", "-v", tree.path).output.contains("film.mkv"))
    }

    @Test func `explain says what each side has and what would be done`() throws {
        let requests = try workplace.requests {
            let film = try workplace.shell("cd tree/2024; osssync explain film.mkv")
            #expect(film.status == 0, "\(film.diagnostics)")
            let rule = "skip it: excluded by .osssyncignore:1 '*.mkv'\n"
            #expect(film.output.hasPrefix("2024/film.mkv\n  recorded: no\n"))
            #expect(film.output.contains("  here:     2.0 KiB, 2"))
            #expect(film.output.contains("  bucket:   no\n"))
            for direction in ["pull", "push", "sync"] {
                #expect(film.output.contains("  \(direction) would \(rule)"), "\(film.output)")
            }
        }
        #expect(requests.map(\.operation) == ["HeadObject", "ListObjectsV2"])
        let gone = try workplace.run("explain", tree.path, "2024/old.jpg", "--delete").output
        #expect(gone.contains("  here:     no\n"))
        #expect(gone.contains("  pull would download it: missing from the directory\n"), "\(gone)")
        #expect(gone.contains("  push would delete the object: deleted here\n"))
        let same = try workplace.run("explain", "--json", tree.path, "2024/a.jpg").events
        let line = try #require(same.last)
        #expect(line["event"] as? String == "explanation")
        #expect((line["remote"] as? [String: Any])?["change"] as? String == "same")
        #expect((line["pull"] as? [String: Any])?["action"] as? String == "nothing")
        #expect((line["pull"] as? [String: Any])?["excluded"] as? Bool == false)
        let nothing = try workplace.run("explain", tree.path, "2024/nothing")
        #expect(nothing.status == 2)
        #expect(nothing.diagnostics.contains("'2024/nothing' is neither in the directory nor"))
        #expect(try workplace.run("explain", tree.path).status == 2)
        try tree.write("big", ramp(1 << 20))
        try #require(try workplace.run("push", tree.path).status == 0)
        let moved = try workplace.shell("mv tree/big tree/moved; osssync explain tree/moved")
        let copy = "  push would copy in the bucket: 'big' has the same content\n"
        #expect(moved.output.contains(copy), "\(moved)")
    }
}
