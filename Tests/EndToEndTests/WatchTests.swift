import Foundation
import Testing

/// The built program beside a directory that changes.
@Suite("osssync watch", .serialized)
struct WatchTests {
    private let workplace: Workplace
    private let tree: Tree

    init() throws {
        workplace = try Workplace()
        tree = try workplace.makeDirectory("tree")
        try tree.write("a", Data("first".utf8))
        let link = try workplace.run("init", tree.path, workplace.remote)
        try #require(link.status == 0, "\(link.diagnostics)")
    }

    /// A watch that has pushed everything.
    private func watch(
        _ options: String...,
        sync: Bool = false,
        in directory: Tree? = nil
    ) throws -> RunningProgram {
        let path = (directory ?? tree).path
        let program = try workplace.start(["watch", "--settle", "1s"] + options + [path])
        let isJSON = options.contains("--json")
        let end = sync ? "sync finished" : "push finished"
        try expect(isJSON ? "\"event\":\"summary\"" : end, program)
        return program
    }

    private func expect(_ text: String, _ program: RunningProgram) throws {
        let line = program.waitForLine { $0.contains(text) }
        if line == nil { program.send(SIGKILL) }
        try #require(line != nil, "no line with '\(text)'; \(program.finish())")
    }

    private func stop(_ program: RunningProgram, _ signal: Int32 = SIGTERM) -> ProgramResult {
        program.send(signal)
        return program.finish()
    }

    private func names(_ tree: Tree) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: tree.path)
            .filter { !$0.hasPrefix(".osssync") }.sorted()
    }

    private func objects() throws -> [String] {
        let list = try workplace.run("ls", "--json", workplace.remote + "/")
        return list.events.compactMap { ($0["key"] as? String)?.replacing("mirror/", with: "") }
            .filter { !$0.isEmpty }.sorted()
    }

    @Test func `what is made, changed, renamed and deleted follows`() throws {
        let program = try watch("--delete")
        #expect(try objects() == ["a"])
        try tree.write("b", Data("new".utf8))
        try expect("upload b", program)
        try tree.write("b", Data("newer".utf8))
        try expect("upload b (5 B)", program)
        try FileManager.default.moveItem(atPath: tree.path + "/b", toPath: tree.path + "/c")
        try expect("renamed in the bucket: b to 'c'", program)
        try expect("push finished", program)
        #expect(try objects() == ["a", "c"])
        try tree.remove("c")
        try expect("deleted in the bucket: c", program)
        try expect("push finished", program)
        #expect(try objects() == ["a"])
        let result = stop(program, SIGINT)
        #expect(result.status == 130)
        let lines = result.output.split(separator: "\n")
        #expect(lines.first?.hasSuffix("  watching 1 directory") == true)
        #expect(lines.dropFirst().first?.contains("  pushing everything: ") == true)
        // Each begins with its time.
        #expect(lines.allSatisfy { $0.hasPrefix("20") && $0.dropFirst(19).hasPrefix("  ") })
    }

    @Test func `a chmod alone follows, and nothing after it`() throws {
        try tree.write("d/f", Data("file".utf8))
        func set(_ path: String, _ mode: Int) throws {
            try FileManager.default.setAttributes(
                [.posixPermissions: mode],
                ofItemAtPath: tree.path + "/" + path
            )
        }
        let program = try watch("--delete")
        try set("d/f", 0o600)
        try expect("permissions changed", program)
        try set("d", 0o700)
        try expect("upload d/", program)
        try expect("push finished", program)
        // Twice the time after which a change would have been pushed.
        Thread.sleep(forTimeInterval: 2.5)
        let result = stop(program)
        #expect(result.output.components(separatedBy: "push finished").count == 4, "\(result)")
    }

    @Test func `a directory that comes with all it has is pushed, and followed`() throws {
        let outside = try workplace.makeDirectory("outside")
        try outside.write("d/e/f", Data("deep".utf8))
        let program = try watch("--delete")
        try FileManager.default.moveItem(
            atPath: outside.path + "/d",
            toPath: tree.path + "/d"
        )
        try expect("upload d/e/f", program)
        try tree.write("d/e/g", Data("later".utf8))
        try expect("upload d/e/g", program)
        // All of it at once is more than a push of this path alone may delete.
        try FileManager.default.removeItem(atPath: tree.path + "/d")
        try expect("pushing everything: a directory was moved or removed", program)
        try expect("push finished", program)
        #expect(try objects() == ["a"])
        #expect(stop(program).status == 143)
    }

    @Test func `is followed from push to push, to its end`() throws {
        let program = try watch()
        let follower = try workplace.start(["status", "--follow", tree.path])
        try #require(follower.waitForLine { $0.contains("a watch waits for changes") } != nil)
        program.send(SIGTERM)
        _ = program.finish()
        let followed = follower.finish()
        #expect(followed.status == 0 && followed.output.hasSuffix("the watch has ended\n"))
    }

    @Test func `what changed while nothing watched is pushed at first`() throws {
        let program = try watch("--delete")
        try tree.write("b", Data("new".utf8))
        try expect("upload b", program)
        try expect("push finished", program)
        _ = stop(program, SIGKILL)
        try tree.write("c", Data("newer".utf8))
        try tree.remove("b")
        let again = try watch("--delete")
        #expect(try objects() == ["a", "c"])
        _ = stop(again)
    }

    @Test func `ignore files count from the moment they change`() throws {
        let program = try watch("--json")
        try tree.write(".osssyncignore", Data("*.tmp\n".utf8))
        try expect("\"reason\":\"an ignore file changed\"", program)
        try expect("\"event\":\"summary\"", program)
        try tree.write("x.tmp", Data("no".utf8))
        try tree.write("y", Data("yes".utf8))
        try expect("\"paths\":[\"y\"]", program)
        try expect("\"event\":\"summary\"", program)
        try tree.write(".osssync/ignore", Data("!x.tmp\n".utf8))
        try expect("\"key\":\"x.tmp\"", program)
        let result = stop(program)
        let limited = result.events.filter { $0["event"] as? String == "round" }
            .compactMap { $0["paths"] as? [String] }.filter { !$0.isEmpty }
        #expect(limited == [["y"]])
    }

    @Test func `more deletions than a push of some paths may make are made with everything`()
        throws
    {
        for index in 0..<40 { try tree.write("d/\(index)", Data("\(index)".utf8)) }
        let program = try watch("--delete")
        for index in 0..<15 { try tree.remove("d/\(index)") }
        try expect("pushing everything: a run of single paths was refused", program)
        try expect("push finished", program)
        for index in 15..<40 { try tree.remove("d/\(index)") }
        // By a push of everything, that is too much as well.
        let result = program.finish()
        #expect(result.status == 3, "\(result)")
        #expect(try objects().contains("d/39"))
    }

    @Test func `what cannot be pushed is tried again, and what a user must fix ends it`() throws {
        let program = try watch("--retries", "1", "--retry-wait", "0.01")
        try workplace.setFaults(
            #"[{"match":{},"effect":{"fail":{"status":503,"code":"ServiceUnavailable"}}}]"#
        )
        try tree.write("b", Data("new".utf8))
        try expect("retrying what failed in 5", program)
        try workplace.clearFaults()
        try expect("upload b", program)
        try workplace.setFaults(
            #"[{"match":{},"effect":{"fail":{"status":403,"code":"AccessDenied"}}}]"#
        )
        try tree.write("c", Data("new".utf8))
        #expect(program.finish().status == 4)
    }

    @Test func `with sync, what changes on either side arrives on the other, and no edit is lost`()
        throws
    {
        let here = try watch("--sync=1h", "--delete", sync: true)
        let other = try workplace.makeDirectory("other")
        let pull = try workplace.run("pull", other.path, workplace.remote)
        try #require(pull.status == 0, "\(pull.diagnostics)")
        let there = try watch("--sync=1s", "--delete", sync: true, in: other)
        try tree.write("b", Data("from here".utf8))
        try expect("upload b", here)
        try expect("download b", there)
        #expect(other.content("b") == Data("from here".utf8))
        try other.write("b", Data("changed there".utf8))
        try expect("upload b", there)
        try other.remove("a")
        try expect("deleted in the bucket: a", there)
        // What was not synced before is compared with all that is there.
        try tree.write("b", Data("changed here, too".utf8))
        try expect("download b", here)
        try expect("b.conflict", there)
        _ = stop(here)
        _ = stop(there)
        for tree in [tree, other] {
            let sync = try workplace.run("sync", "--delete", tree.path)
            #expect(sync.status == 0, "\(sync)")
        }
        let names = try names(tree)
        #expect(try self.names(other) == names)
        #expect(names.count == 2 && names.first == "b")
        let contents = names.map { tree.content($0) }
        #expect(Set(contents) == [Data("changed there".utf8), Data("changed here, too".utf8)])
    }

    @Test func `what is freed while it watches does not come back`() throws {
        try tree.write("d/x", Data("large".utf8))
        let program = try watch("--sync=1h", "--delete", sync: true)
        var freed = try workplace.run("free", tree.path, "d")
        // The sync may hold the directory a moment longer than its last line.
        for _ in 0..<100 where freed.status == 75 {
            freed = try workplace.run("free", tree.path, "d")
        }
        try #require(freed.status == 0, "\(freed)")
        try tree.write("d/y", Data("new".utf8))
        try expect("upload d/y", program)
        try tree.write("z", Data("new".utf8))
        try expect("upload z", program)
        _ = stop(program)
        #expect(!tree.exists("d/x"))
        #expect(try objects() == ["a", "d/x", "d/y", "z"])
        let pull = try workplace.run("pull", tree.path, "d")
        #expect(pull.status == 0 && tree.exists("d/x"), "\(pull)")
    }

    @Test func `a sync that fails is told, and the next one is made`() throws {
        let program = try watch("--sync=1s", "--retries", "0", sync: true)
        try workplace.setFaults(
            #"[{"match":{},"effect":{"fail":{"status":503,"code":"ServiceUnavailable"}}}]"#
        )
        try expect("retrying what failed in", program)
        try workplace.clearFaults()
        let put = try workplace.run("put", tree.path + "/a", workplace.remote + "/c")
        try #require(put.status == 0, "\(put.diagnostics)")
        try expect("download c", program)
        #expect(stop(program).diagnostics.contains("503"))
    }

    @Test func `files that are gone again are no mistake, and deletions stay without --delete`()
        throws
    {
        let program = try watch()
        try tree.write("passing", Data("x".utf8))
        try tree.remove("passing")
        try tree.remove("a")
        try expect("pushing 'a', 'passing'", program)
        try expect("push finished", program)
        #expect(try objects() == ["a"])
        let result = stop(program)
        #expect(result.diagnostics == "osssync: interrupted; run the same command to resume\n")
    }

    @Test(arguments: [
        "--settle 0s", "--every x", "--if-locked skip", "--dry-run", "--sync=x",
        "--sync=1m --every 1h",
    ])
    func `wrong options are told`(text: String) throws {
        let words = text.split(separator: " ").map(String.init)
        let result = try workplace.start(["watch"] + words + [tree.path]).finish()
        #expect(result.status == 2)
    }
}
