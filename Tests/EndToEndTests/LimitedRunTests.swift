import Foundation
import Testing

/// Runs and other commands on a part of a mirror.
@Suite("Commands limited to paths", .serialized)
struct LimitedRunTests {
    private let workplace: Workplace
    private let tree: Tree
    private let names = ["2024/x.jpg", "2024/y.jpg", "2024-x", "2025/z.jpg", "top"]

    init() throws {
        workplace = try Workplace()
        tree = try workplace.makeDirectory("tree")
        for (index, name) in names.enumerated() { try tree.write(name, ramp(900, seed: index)) }
        let push = try workplace.run("push", tree.path, workplace.remote)
        try #require(push.status == 0, "\(push.diagnostics)")
    }

    @Test(arguments: [
        "osssync pull tree/2024/x.jpg", "cd tree/2024; osssync pull x.jpg",
        "osssync pull tree 2024/x.jpg", "cd tree; osssync pull 2024/x.jpg",
        "cd tree/2024; osssync pull -- x.jpg", "cd tree/2025; osssync pull ../2024/x.jpg",
        "osssync pull tree REMOTE 2024/x.jpg", "osssync pull REMOTE tree ./2024/x.jpg/",
        "cd tree; osssync pull . 2024/x.jpg", "cd tree/2024; osssync pull . x.jpg",
        "cd tree/2024; osssync pull ./ ./x.jpg",
    ])
    func `name a path in any form`(line: String) throws {
        for name in names { try tree.remove(name) }
        let result = try workplace.shell(
            line.replacing("REMOTE", with: workplace.remote)
                .replacing("osssync pull", with: "osssync pull --json")
        )
        #expect(result.status == 0, "\(result.diagnostics)")
        #expect(result.events.last?["paths"] as? [String] == ["2024/x.jpg"])
        #expect(result.events.last?["in_step"] as? Bool == true)
        #expect(names.filter(tree.exists) == ["2024/x.jpg"])
    }

    @Test func `let small files through beside a large one on a narrow line`() throws {
        try tree.write("large", ramp(3 << 20))
        for index in 0..<40 { try tree.write("small\(index)", ramp(5, seed: index)) }
        #expect(try workplace.run("push", tree.path).status == 0)
        let target = workplace.folder.path + "/target"
        let line = ["pull", target, workplace.remote, "--bwlimit", "1M", "--json"]
        let pull = try workplace.start(line).finish()
        #expect(pull.status == 0, "\(pull.diagnostics)")
        let done = pull.items(action: "download", state: "done")
        #expect(done.count == 46)
        #expect(done.last == "large", "\(done.suffix(10))")
    }

    @Test func `name paths in a file`() throws {
        for name in names { try tree.remove(name) }
        let list = workplace.folder.path + "/list"
        let text = "# these\n2024/x.jpg\n\n./2025/\n"
        try text.write(toFile: list, atomically: false, encoding: .utf8)
        let pull = try workplace.shell("osssync pull --json --files-from list tree top")
        #expect(pull.status == 0, "\(pull.diagnostics)")
        #expect(pull.summary["paths"] as? [String] == ["2024/x.jpg", "2025", "top"])
        #expect(names.filter(tree.exists) == ["2024/x.jpg", "2025/z.jpg", "top"])
        let input = try workplace.shell(
            "printf '2024-x\\n' | (cd tree/2024; osssync pull --files-from -)"
        )
        #expect(input.status == 0 && tree.exists("2024-x"), "\(input.diagnostics)")
        let status = try workplace.shell("osssync status --json --files-from list tree")
        #expect(status.events.last?["in_step"] as? Bool == true)
        for (content, reason) in [
            ("", "it has no path"), ("2024/nothing\n", "'2024/nothing' exists neither"),
            ("../x\n", "is not a path beneath DIR"),
        ] {
            try content.write(toFile: list, atomically: false, encoding: .utf8)
            let refused = try workplace.shell("osssync push --files-from list tree")
            #expect(refused.status == 2, "\(content)")
            #expect(refused.diagnostics.contains(reason), "\(refused.diagnostics)")
        }
        #expect(try workplace.shell("osssync push --files-from none tree").status == 2)
    }

    @Test func `name thousands of paths in a file`() throws {
        let many = (0..<3_000).map { "many/\($0 % 30)/\($0)" }
        for name in many { try tree.write(name, ramp(5)) }
        let list = many.joined(separator: "\n")
        try (list + "\n").write(
            toFile: workplace.folder.path + "/list",
            atomically: false,
            encoding: .utf8
        )
        try tree.write("many/0/other", ramp(5))
        let push = try workplace.shell("osssync push --json --files-from list tree")
        #expect(push.status == 0, "\(push.diagnostics)")
        #expect(push.count("transferred") == 3_000)
        #expect((push.summary["paths"] as? [String])?.count == 3_000)
    }

    @Test func `name several paths in the same way`() throws {
        for name in names { try tree.remove(name) }
        let several = try workplace.shell("cd tree/2024; osssync pull x.jpg y.jpg ../2025")
        #expect(several.status == 0, "\(several.diagnostics)")
        #expect(several.output.contains("(only '2024/x.jpg', '2024/y.jpg', '2025')"))
        #expect(names.filter(tree.exists) == ["2024/x.jpg", "2024/y.jpg", "2025/z.jpg"])
        let beneath = try workplace.shell("osssync pull tree/2025 2024-x")
        #expect(beneath.status == 0, "\(beneath.diagnostics)")
        #expect(tree.exists("2024-x") && !tree.exists("top"))
    }

    @Test func `transfer and delete only what lies there`() throws {
        for directory in ["2024", "2025"] {
            // Not of this moment, in which a later change could hide.
            let modified: Int64 = 1_700_000_000_000_000_000
            try tree.write("\(directory)/new", ramp(50, seed: 9), modified: modified)
        }
        try tree.remove("2024/y.jpg")
        try tree.remove("top")
        let requests = try workplace.requests {
            let push = try workplace.run("push", "--delete", "--json", tree.path + "/2024")
            #expect(push.status == 0, "\(push.diagnostics)")
            #expect(push.count("transferred") == 1 && push.count("deleted") == 1)
        }
        let keys = Set(requests.map(\.key).filter { !$0.isEmpty })
        // Before a deletion the rules are looked at.
        let others = keys.filter { !$0.hasPrefix("mirror/2024/") }
        #expect(others == ["mirror/.osssyncignore"], "\(keys)")
        let listed = try workplace.run("ls", workplace.remote).output
        #expect(listed.contains("mirror/2024/new") && !listed.contains("mirror/2024/y.jpg"))
        #expect(!listed.contains("mirror/2025/new") && listed.contains("mirror/top"))
        let log = try workplace.run("log", tree.path)
        #expect(log.output.contains("1 deleted, only '2024'\n"), "\(log.output)")
        let events = try workplace.run("log", "--json", tree.path).events
        #expect(events.last?["paths"] as? [String] == ["2024"])
        let status = try workplace.run("status", tree.path, "2024", "2025")
        #expect(status.output.contains("(only '2024', '2025')\n"), "\(status.output)")
        #expect(status.output.contains("push would: upload 1 item"))
        let json = try workplace.run("status", "--json", tree.path, "2024").events
        #expect(json.last?["paths"] as? [String] == ["2024"])
        #expect(json.last?["in_step"] as? Bool == true)
    }

    @Test func `refuse an empty directory and what leads nowhere`() throws {
        try tree.remove("2024")
        try tree.makeDirectory("2024")
        let empty = try workplace.run("push", "--delete", tree.path, "2024", "2025")
        #expect(empty.status == 3)
        #expect(empty.diagnostics.contains("the directory '2024' is missing or empty"))
        for line in [
            "osssync pull tree 2026", "osssync push tree/2026/x", "osssync sync tree ../other",
            "osssync pull tree .osssync/config", "osssync status tree 2025 2026",
            "osssync pull --rebind tree 2025", "osssync pull tree /2025",
        ] {
            let result = try workplace.shell(line)
            #expect(result.status == 2, "\(line): \(result.diagnostics)")
        }
        #expect(try workplace.run("ls", workplace.remote).output.contains("2024/x.jpg"))
    }

    @Test func `are free, and the pull that brings back what was freed`() throws {
        let none = try workplace.run("free", tree.path)
        #expect(none.status == 2 && none.diagnostics.contains("--older-than or --until"))
        try tree.write("2024/new", ramp(7))
        let free = try workplace.shell("cd tree; osssync free -v 2024")
        #expect(free.status == 1, "\(free.output)")
        #expect(free.output.hasSuffix("freed 2 files (1.8 KiB), kept 1 file\n"))
        #expect(free.diagnostics.contains("kept 2024/new: it is not in the bucket"))
        #expect(!tree.exists("2024/x.jpg") && tree.exists("2024/new"))
        let status = try workplace.run("status", tree.path)
        #expect(status.output.contains("freed: 2 files only in the bucket (1.8 KiB): 2024/"))
        let lines = try workplace.run("free", "--json", "-n", tree.path, "top").events
        #expect(lines.first?["event"] as? String == "free_item")
        #expect(lines.last?["files"] as? Int == 1 && lines.last?["dry_run"] as? Bool == true)
        let pull = try workplace.shell("cd tree; osssync pull 2024")
        #expect(pull.status == 0 && tree.exists("2024/x.jpg"), "\(pull.diagnostics)")
    }

    @Test func `are verify, cancel and restore, too`() throws {
        let verify = try workplace.shell("cd tree/2024; osssync verify x.jpg y.jpg")
        #expect(verify.output == "verified 2 files (1.8 KiB)\n", "\(verify.diagnostics)")
        #expect(try workplace.shell("cd tree; osssync verify").output.contains("5 files"))
        #expect(try workplace.shell("osssync cancel tree/2024").status == 0)
        #expect(try workplace.shell("osssync cancel tree 2024 2025").status == 2)
        #expect(try workplace.shell("osssync cancel tree ../x").status == 2)
        let source = try workplace.makeDirectory("source")
        #expect(try workplace.run("pull", source.path, workplace.remote).status == 0)
        try source.remove("2024/x.jpg")
        #expect(try workplace.run("push", "--delete", source.path).status == 0)
        #expect(try workplace.run("pull", "--delete", tree.path).status == 0)
        let restore = try workplace.shell("cd tree/2024; osssync restore x.jpg")
        #expect(
            restore.output.hasPrefix("restored 2024/x.jpg from the trash"),
            "\(restore.diagnostics)"
        )
        let nothing = try workplace.shell("osssync restore tree")
        #expect(nothing.status == 2)
        #expect(nothing.diagnostics.contains("PATH is missing"))
    }

    @Test(arguments: ["verify", "cancel"])
    func `of commands without the bucket exist here or are recorded`(command: String) throws {
        try tree.remove("2024/x.jpg")
        try tree.write("new", ramp(5))
        for path in ["2024/x.jpg", "2024", "new"] {
            let run = try workplace.run(command, tree.path, path)
            #expect(run.status == 0, "\(path): \(run.diagnostics)")
        }
        for path in ["2026", "2024/x"] {
            let run = try workplace.run(command, tree.path, path)
            #expect(run.status == 2, "\(path)")
            #expect(
                run.diagnostics.contains(
                    "'\(path)' exists neither in the directory nor in the manifest"
                ),
                "\(run.diagnostics)"
            )
        }
    }
}
