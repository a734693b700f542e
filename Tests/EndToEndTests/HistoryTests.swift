import Foundation
import Glibc
import Testing

@Suite("What earlier runs did", .serialized)
struct HistoryTests {
    private let workplace: Workplace
    private let tree: Tree

    /// A mirror from which a run deleted `d/x` and a file with a hostile name.
    init() throws {
        workplace = try Workplace()
        tree = try workplace.makeDirectory("tree")
        let source = try workplace.makeDirectory("source")
        for name in ["d/x", "d/\u{1B}[31my", "kept"] {
            let content = ramp(1_500, seed: name.utf8.count)
            try source.write(name, content, modified: 1_700_000_000_500_000_000)
        }
        try #require(try workplace.run("push", source.path, workplace.remote).status == 0)
        try #require(try workplace.run("pull", tree.path, workplace.remote).status == 0)
        try source.remove("d")
        try #require(try workplace.run("push", "--delete", source.path).status == 0)
        try #require(try workplace.run("pull", "--delete", tree.path).status == 0)
    }

    @Test func `trash lists, restore brings back, and --empty deletes for good`() throws {
        // Neither needs credentials nor a network.
        let nowhere = ["OSS_ENDPOINT": "", "OSS_REGION": "", "OSS_ACCESS_KEY_ID": ""]
        let list = try workplace.run("trash", tree.path, environment: nowhere)
        #expect(list.status == 0, "\(list.diagnostics)")
        let lines = list.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first?.contains("  run 2     d/\\x1B[31my") == true, "\(lines)")
        #expect(lines.last == "2 files in the trash (2.9 KiB); local time, +00:00")
        let events = try workplace.run("trash", "--json", tree.path).events
        #expect(events.map { $0["event"] as? String } == ["trashed", "trashed", "trash"])
        #expect(events.map { $0["run"] as? Int } == [2, 2, nil])
        #expect(events.last?["bytes"] as? Int == 3_000)

        let would = try workplace.run("restore", "-n", tree.path, "d/x", environment: nowhere)
        #expect(
            would.output
                == "would restore d/x from the trash (run 2)\n"
                + "would restore 1 file (1.5 KiB)\n"
        )
        #expect(!tree.exists("d/x"))
        let undo = try workplace.run("undo", "--dry-run", "--json", tree.path).events
        #expect(undo.last?["dry_run"] as? Bool == true && undo.last?["restored"] as? Int == 2)
        let back = try workplace.run("restore", tree.path, "d/x", environment: nowhere)
        #expect(
            back.output == "restored d/x from the trash (run 2)\nrestored 1 file (1.5 KiB)\n"
        )
        #expect(tree.content("d/x") == ramp(1_500, seed: 3))
        try tree.write("d/\u{1B}[31my", ramp(7))
        let keeps = try workplace.run("restore", "-n", tree.path, "d")
        #expect(keeps.status == 1 && keeps.diagnostics.contains("would not replace d/\\x1B[31my"))
        let replaces = try workplace.run("restore", "-n", "--force", tree.path, "d")
        #expect(replaces.output.hasPrefix("would replace d/\\x1B[31my from the trash (run 2);"))
        let kept = try workplace.run("restore", "-q", tree.path, "d", "nothing")
        #expect(kept.status == 1)
        #expect(kept.output.isEmpty)
        let complaints = kept.diagnostics.split(separator: "\n")
        #expect(complaints.count == 2)
        #expect(complaints.first?.hasPrefix("osssync: kept d/\\x1B[31my: another file") == true)
        #expect(complaints.last?.contains("no other version of 'nothing' was found") == true)
        let forced = try workplace.run("restore", "--force", "--json", tree.path, "d").events
        #expect(forced.first?["state"] as? String == "replaced")
        #expect(forced.last?["restored"] as? Int == 1)

        let young = try workplace.run("trash", "--empty", "--older-than", "1d", tree.path)
        #expect(young.output == "deleted 0 files (0 B)\n")
        let planned = try workplace.run("trash", "--empty", "-n", tree.path)
        #expect(planned.output.hasSuffix("\nwould delete 1 file (7 B)\n"))
        let empty = try workplace.run("trash", "--empty", tree.path)
        #expect(empty.output == "deleted 1 file (7 B)\n")
        #expect(try workplace.run("trash", tree.path).output == "the trash is empty\n")
    }

    @Test func `a version and a place can be chosen`() throws {
        #expect(try workplace.run("restore", tree.path, "d/x", "--run", "1").status == 1)
        // Forced, because it came to this disk today, which a run of the same second does not show.
        let old = try workplace.run(
            "restore",
            "--force",
            tree.path,
            "d/x",
            "--at",
            "1d ago",
            "--to",
            "n/o"
        )
        #expect(
            old.output
                == "restored d/x to n/o from the trash (run 2)\nrestored 1 file (1.5 KiB)\n"
        )
        #expect(tree.content("n/o") == ramp(1_500, seed: 3))
        for wrong in [
            ["--run", "0"], ["--at", "lately"], ["--run", "1", "--at", "1d ago"],
            ["--to", "x", "d/y"], ["--to", ""],
        ] {
            let result = try workplace.start(["restore", tree.path, "d/x"] + wrong).finish()
            #expect(result.status == 2, "\(wrong): \(result.diagnostics)")
        }
        let other = try workplace.makeDirectory("other")
        let none = try workplace.run("trash", other.path)
        #expect(none.status == 2)
        #expect(none.diagnostics.contains("is not a mirror"))
    }

    @Test(arguments: [
        ("cd tree; osssync restore .", "d/x"), ("cd tree; osssync restore ./", "d/x"),
        ("cd tree/d; osssync restore .", "d/x"), ("cd tree/d; osssync undo", "d/x"),
        ("cd tree/d; osssync undo 2", "d/x"), ("osssync undo tree 2", "d/x"),
        ("cd tree/d; osssync restore x --to y", "d/y"),
        ("cd tree/d; osssync restore x --to ../y", "y"),
        ("cd tree; osssync restore d/x --to y", "y"),
        ("osssync restore tree/d/x --to tree/d/y", "d/y"),
        ("osssync restore tree/d/x --to d/y", "d/y"), ("osssync restore tree d/x --to y", "y"),
    ])
    func `names are relative to the current directory in a mirror`(
        line: String,
        place: String
    ) throws {
        try tree.makeDirectory("d")
        let result = try workplace.shell(line)
        #expect(result.status == 0, "\(result.diagnostics)")
        #expect(tree.content(place) == ramp(1_500, seed: 3), "\(result.output)")
        #expect(tree.exists("d/\u{1B}[31my") == (place == "d/x"))
    }

    @Test func `log and undo need no DIR in a mirror`() throws {
        let all = try workplace.shell("cd tree; osssync log")
        #expect(all.output.split(separator: "\n").count == 3, "\(all.diagnostics)")
        #expect(try workplace.shell("cd tree; osssync log 2").output.contains("deleted here: d/x"))
        for (line, reason) in [
            ("osssync log", "DIR is missing"), ("osssync undo 2", "DIR is missing"),
            ("cd tree; osssync log 0", "RUN is the number of a run"),
            ("cd tree; osssync log . 1 2", "unexpected argument '2'"),
            ("cd tree; osssync undo ./2", "is inside the mirror"),
            ("osssync log oss://b/p 2", "unexpected argument 'oss://b/p'"),
        ] {
            let result = try workplace.shell(line)
            #expect(result.status == 2, "\(line)")
            #expect(result.diagnostics.contains(reason), "\(line): \(result.diagnostics)")
        }
    }

    @Test func `a version is copied outside of DIR with a key that may only read`() throws {
        let push = ["push", "--delete", "--trash", "remote"]
        let source = workplace.folder.path + "/source"
        try #require(try workplace.start(push + [source]).finish().status == 0)
        let local = Tree(URL(fileURLWithPath: source))
        try local.write("kept", ramp(900, seed: 8))
        try #require(try workplace.start(push + [source]).finish().status == 0)
        // The bucket's version is what is here, which only reading tells.
        try local.write("kept", ramp(900, seed: 8), modified: 1_600_000_000_000_000_000)
        try workplace.setFaults(
            #"[{"match": {"operation": "CopyObject"}, "effect": {"fail": {"status": 403, "#
                + #""code": "AccessDenied"}}}, {"match": {"operation": "PutObject"}, "effect": "#
                + #"{"fail": {"status": 403, "code": "AccessDenied"}}}]"#
        )
        let before = try workplace.run("ls", workplace.remote + "/").output
        let out = workplace.folder.path + "/out"
        for (target, file) in [(out + "/old", "/old"), (source + "/../out/again", "/again")] {
            let restored = try workplace.run("restore", source, "kept", "--to", target)
            #expect(restored.status == 0, "\(restored.diagnostics)")
            let content = FileManager.default.contents(atPath: out + file)
            #expect(content == ramp(1_500, seed: 4))
        }
        let again = try workplace.run("restore", source, "kept", "--to", out + "/old")
        #expect(again.status == 0, "\(again.diagnostics)")
        try Data("edited".utf8).write(to: URL(fileURLWithPath: out + "/old"))
        let taken = try workplace.run("restore", source, "kept", "--to", out + "/old")
        #expect(taken.status == 1 && taken.diagnostics.contains("--force replaces it"))
        // What is in no trash is what the bucket has now.
        try local.write("plain", ramp(70))
        try workplace.clearFaults()
        try #require(try workplace.start(["push", source]).finish().status == 0)
        let now = try workplace.run("restore", source, "plain", "--to", out)
        #expect(now.status == 0, "\(now.diagnostics)")
        #expect(FileManager.default.contents(atPath: out + "/plain") == ramp(70))
        let inside = try workplace.run("restore", source, "kept", "--to", source + "/beside")
        #expect(inside.status == 0 && local.content("beside") == ramp(1_500, seed: 4))
        #expect(try workplace.run("restore", source, "kept", "--to", source).status == 2)
        #expect(before.split(separator: "\n").count < 9)
    }

    @Test func `restore finds what was removed or changed in the bucket, and loses nothing`() throws
    {
        try tree.remove("kept")
        let back = try workplace.run("restore", tree.path, "kept")
        #expect(back.status == 0, "\(back.diagnostics)")
        #expect(back.output.hasPrefix("restored kept from the bucket\n"))
        let content = try #require(tree.content("kept"))
        try tree.write("kept", ramp(7))
        let would = try workplace.run("restore", "-n", tree.path, "kept")
        #expect(would.output.contains("the version that was there would go to the trash"))
        #expect(tree.content("kept") == ramp(7))
        let replaced = try workplace.run("restore", "--json", tree.path, "kept").events
        let one = replaced.first { $0["event"] as? String == "restored" }
        #expect(one?["state"] as? String == "replaced" && one?["place"] as? String == "bucket")
        #expect(tree.content("kept") == content)
        // What is here now is in the bucket; the newest other version is the one that was here.
        let again = try workplace.run("restore", tree.path, "kept")
        #expect(again.output.hasPrefix("replaced kept from the trash"), "\(again.output)")
        #expect(tree.content("kept") == ramp(7))
        let kept = try workplace.run("pull", tree.path, "kept")
        #expect(
            kept.output.contains(
                "kept 1 local change; 'osssync restore --force \(tree.path) kept' gets"
            )
        )
    }

    @Test func `undo brings back what the last run deleted`() throws {
        let nothing = try workplace.makeDirectory("nothing")
        try #require(try workplace.run("push", nothing.path, "oss://test-bucket/n").status == 0)
        let none = try workplace.run("undo", nothing.path)
        #expect(none.status == 1)
        #expect(
            none.diagnostics
                == "osssync: there is nothing to undo: no run deleted or replaced anything\n"
        )
        let undo = try workplace.run("undo", tree.path, "-q")
        #expect(undo.status == 0, "\(undo.diagnostics)")
        #expect(tree.content("d/x") == ramp(1_500, seed: 3))
        #expect(tree.exists("d/\u{1B}[31my"))
        for number in [[], ["2"]] {
            let again = try workplace.start(["undo", tree.path] + number).finish()
            #expect(again.status == 0, "\(again.diagnostics)")
            let all = "everything that could be restored of run 2 was restored before\n"
            #expect(again.output.hasSuffix(all), "\(again.output)")
            #expect(again.output.hasPrefix("undo of run 2, which began at ") == number.isEmpty)
        }
        let unknown = try workplace.run("undo", tree.path, "9")
        #expect(unknown.status == 1)
        #expect(unknown.diagnostics.contains("the trash has nothing of run 9"))
        #expect(try workplace.run("undo", tree.path, "x").status == 2)
        // What the bucket has lost, too, is the user's now.
        let pull = try workplace.run("pull", "--delete", tree.path, "--json")
        #expect(pull.count("deleted") == 0 && tree.exists("d/x"))
        let all = try workplace.makeDirectory("tree/.osssync/trash/20260101T000000Z-run-1")
        try all.write("a/b", ramp(3))
        let moved = try workplace.run("restore", "--to", "old", tree.path, ".")
        #expect(
            moved.output
                == "restored a/b to old/a/b from the trash (run 1)\nrestored 1 file (3 B)\n"
        )
    }

    @Test func `undo of a directory that is only sent names no pull`() throws {
        let home = try workplace.makeDirectory("home")
        try home.write("f", ramp(10))
        try home.write("g", ramp(10))
        let state = "--state-dir=" + workplace.folder.path + "/state"
        let trash = "--trash=remote"
        let remote = "oss://test-bucket/home"
        try #require(try workplace.run("push", home.path, remote, state, trash).status == 0)
        try home.remove("f")
        try #require(try workplace.run("push", "--delete", home.path, state, trash).status == 0)
        let undo = try workplace.run("undo", home.path, state)
        #expect(undo.status == 0, "\(undo.diagnostics)")
        let hint = "'osssync restore --to PATH \(home.path) NAME' downloads what is there again"
        #expect(undo.output.contains(hint) && !undo.output.contains("osssync pull"))
    }

    /// What `verify` says of damage is a part of the fault scripts: no program can damage a file
    /// without moving its ctime.
    @Test func `verify says what it has read, and log what runs did`() throws {
        let sound = try workplace.run("verify", tree.path)
        #expect(sound.status == 0, "\(sound.diagnostics)")
        #expect(sound.output == "verified 1 file (1.5 KiB)\n")
        try tree.write("new", ramp(700))
        #expect(try workplace.run("push", tree.path).status == 0)
        for wrong in ["0%", "101%", "0s", "soon"] {
            #expect(try workplace.run("verify", "--budget", wrong, tree.path).status == 2)
        }

        let log = try workplace.run("log", tree.path)
        #expect(log.status == 0)
        let lines = log.output.split(separator: "\n")
        #expect(lines.count == 4, "\(lines)")
        #expect(lines[0] == "   run  local time, +00:00")
        #expect(lines[1].hasPrefix("     1  20") && lines[1].contains("  pull  complete  "))
        #expect(lines[2].hasSuffix("  0 transferred (0 B), 2 deleted"))
        #expect(lines[3].contains("  push  complete  "))
        let run = try workplace.run("log", tree.path, "2").output.split(separator: "\n")
        #expect(run.contains("deleted here: d/\\x1B[31my"), "\(run)")
        #expect(run.count == 4)
        let events = try workplace.run("log", tree.path, "--json").events
        #expect(events.map { $0["run"] as? Int } == [1, 2, 3])
        #expect(events[1]["deleted"] as? Int == 2)
        #expect(try workplace.run("log", tree.path, "99").status == 1)
        #expect(try workplace.run("log", tree.path, "last").status == 2)
    }

    @Test func `verify writes its figures and its log`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        try tree.write("a", ramp(10))
        try #require(try workplace.run("push", tree.path, workplace.remote).status == 0)
        let figures = workplace.folder.path + "/verify.prom"
        let log = workplace.folder.path + "/verify.log"
        let files = ["--metrics-file", figures, "--log-file", log]
        let good = try workplace.start(["verify", tree.path] + files).finish()
        #expect(good.status == 0, "\(good.diagnostics)")
        let text = try String(contentsOfFile: figures, encoding: .utf8)
        for line in ["files", "recorded_files", "finished"] {
            let start = "\nosssync_verify_\(line){dir=\"\(tree.path)\","
            let found = text.split(separator: "\n").contains {
                ("\n" + $0).hasPrefix(start) && $0.hasSuffix("} 1")
            }
            #expect(found, "\(line): \(text)")
        }
        #expect(
            try String(contentsOfFile: log, encoding: .utf8).hasSuffix("Z verified 1 file (10 B)\n")
        )
        let inside = ["verify", tree.path, "--log-file", tree.path + "/log"]
        #expect(try workplace.start(inside).finish().status == 2)
    }

    @Test func `the history of a path is that of all runs whose items are kept`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        for name in ["d/a", "d/b", "dd"] { try tree.write(name, ramp(10)) }
        try #require(try workplace.run("push", tree.path, workplace.remote).status == 0)
        try FileManager.default.removeItem(atPath: tree.path + "/d/a")
        try #require(try workplace.run("push", tree.path, "--delete").status == 0)
        let one = try workplace.run("log", tree.path, "--path", "d/a")
        let lines = one.output.split(separator: "\n")
        #expect(one.status == 0 && lines.count == 3, "\(one.output)")
        #expect(lines[1].hasPrefix("     1  ") && lines[1].hasSuffix("  uploaded: d/a"))
        #expect(
            lines[2].hasPrefix("     2  ") && lines[2].contains("  deleted in the bucket: d/a")
        )
        #expect(
            try workplace.run("log", tree.path, "--path", "d/", "--json").output
                .split(separator: "\n").count == 3
        )
        #expect(try workplace.run("log", tree.path, "--path", "d/c").status == 1)
        for since in ["1h", "1h ago", "yesterday", "2026-01-31"] {
            let log = try workplace.run("log", tree.path, "--since", since)
            #expect(log.output.contains("1 deleted"), "\(since): \(log.diagnostics)")
        }
        #expect(try workplace.run("log", tree.path, "--since", "0s", "2").status == 2)
    }
}
