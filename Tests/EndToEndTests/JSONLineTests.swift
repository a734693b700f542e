import Foundation
import Glibc
import Testing

@Suite("JSON lines", .serialized)
struct JSONLineTests {
    /// The fields of each event that `docs/cli.md` lists.
    private static func documented() throws -> [String: Set<String>] {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appendingPathComponent("docs/cli.md"),
            encoding: .utf8
        )
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: "| event | fields |"))
        var events: [String: Set<String>] = [:]
        for line in lines[(start + 2)...].prefix(while: { $0.hasPrefix("|") }) {
            // What stands between back quotes; the first is the event.
            var names = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            events[names.removeFirst()] = Set(names)
        }
        events["conflict"] = events["item"]
        return events
    }

    private static func expect(_ result: ProgramResult, _ documented: [String: Set<String>]) throws
    {
        for line in result.output.split(separator: "\n") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            let event = try #require(object as? [String: Any], "\(line)")
            let name = try #require(event["event"] as? String, "\(line)")
            let time = try #require(event["time"] as? String, "\(line)")
            #expect(time.utf8.count == 24 && time.hasSuffix("Z"), "\(line)")
            let fields = try #require(documented[name], "'\(name)' is not in docs/cli.md")
            let everywhere: Set = ["event", "time", "key_escaped"]
            for field in Self.fields(of: event) where !everywhere.contains(field) {
                #expect(fields.contains(field), "'\(field)' of '\(name)' is not in docs/cli.md")
            }
        }
    }

    private static func fields(of value: Any) -> Set<String> {
        if let object = value as? [String: Any] {
            return object.reduce(into: Set(object.keys)) { $0.formUnion(fields(of: $1.value)) }
        }
        return (value as? [Any] ?? []).reduce(into: []) { $0.formUnion(fields(of: $1)) }
    }

    /// Events that need a mishap, or a mirror that is cut; and damage, which no program can make
    /// without moving the ctime.
    private static let rare: Set<String> = [
        "retry", "warning", "skipped", "watching", "cut", "estimate", "shard", "verify_item",
    ]
    private static let refusal = """
        [{"match": {"operation": "GetObject", "key": "mirror/f3"},
          "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
        """

    /// What needs an escape on a terminal, and what JSON escapes.
    private static let oddNames = [
        "back\\slash", "tab\tx", "esc\u{1B}[31m", "quote\"d", "a\u{202E}b",
    ]

    @Test func `have keys as they are, which other commands accept`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        let keys = Set(Self.oddNames)
        for name in keys { try tree.write(name, ramp(100)) }
        func expectKeys(_ result: ProgramResult, _ event: String, prefix: String = "") {
            let events = result.events.filter { $0["event"] as? String == event }
            #expect(
                Set(events.compactMap { $0["key"] as? String }) == Set(keys.map { prefix + $0 })
            )
            #expect(events.allSatisfy { $0["key_escaped"] == nil })
        }
        try expectKeys(workplace.run("push", tree.path, workplace.remote, "--json"), "item")
        let list = try workplace.run("ls", "--json", workplace.remote + "/")
        let prefix = workplace.remote.split(separator: "/").last.map(String.init) ?? ""
        expectKeys(list, "object", prefix: prefix + "/")
        for name in keys {
            let file = workplace.folder.path + "/got"
            let get = try workplace.run("get", "--json", workplace.remote + "/" + name, file)
            #expect(get.status == 0, "\(get.diagnostics)")
            try FileManager.default.removeItem(atPath: file)
            try tree.write(name, ramp(50))
        }
        try expectKeys(workplace.run("status", "-v", "--json", tree.path), "status_item")
        let paths = workplace.folder.path + "/paths"
        try keys.joined(separator: "\n").write(toFile: paths, atomically: false, encoding: .utf8)
        let limited = try workplace.run("push", "--json", tree.path, "--files-from", paths)
        #expect(limited.status == 0, "\(limited.diagnostics)")
        expectKeys(limited, "item")
        #expect(Set(limited.summary["paths"] as? [String] ?? []) == keys)
        let past = try workplace.run("log", "--json", tree.path).events.first { $0["paths"] != nil }
        #expect(Set(past?["paths"] as? [String] ?? []) == keys)
    }

    @Test func `of a cut mirror are objects with documented fields`() throws {
        let documented = try Self.documented()
        let workplace = try Workplace()
        let source = try workplace.makeDirectory("source")
        for index in 0..<4 { try source.write("f\(index)", ramp(1_000, seed: index)) }
        let shared = try workplace.makeDirectory("shared").path
        var seen: Set<String> = []
        for line in [
            ["push", source.path, workplace.remote],
            ["shard", "--count", "2", "--tasks", "2", shared, workplace.remote],
            ["pull", "--shard", "0/1", "--round", "one", shared], ["finish", shared],
            ["status", shared],
        ] {
            let result = try workplace.start(line + ["--json"]).finish()
            #expect(result.status == 0, "\(line): \(result.diagnostics)")
            try Self.expect(result, documented)
            seen.formUnion(result.events.compactMap { $0["event"] as? String })
        }
        #expect(seen.isSuperset(of: ["cut", "estimate", "shard", "summary"]))
    }

    @Test func `of every command are objects with documented fields`() throws {
        let documented = try Self.documented()
        let workplace = try Workplace(faults: Self.refusal)
        let source = try workplace.makeDirectory("source")
        let target = try workplace.makeDirectory("target")
        for index in 0..<4 { try source.write("f\(index)", ramp(1_000, seed: index)) }
        try source.write("quote\"new\nline\u{1B}[2J\u{202E}", ramp(10))
        var seen: Set<String> = []
        @discardableResult
        func check(_ arguments: String..., status: Int32 = 0) throws -> ProgramResult {
            let result = try workplace.start(arguments + ["--json"]).finish()
            #expect(result.status == status, "\(arguments): \(result.diagnostics)")
            try Self.expect(result, documented)
            seen.formUnion(result.events.compactMap { $0["event"] as? String })
            return result
        }
        // Where the list of mirrors is.
        _ = try workplace.makeDirectory("home")
        try check("init", source.path, workplace.remote)
        try check("push", source.path, "--save-plan", source.path + ".plan")
        let push = try check("apply", source.path + ".plan")
        #expect(push.output.split(separator: "\n").count == push.events.count)
        let pull = try check("pull", target.path, workplace.remote, status: 1)
        let failed = pull.events.first { $0["state"] as? String == "failed" }
        #expect(failed?["key"] as? String == "f3")
        #expect((failed?["request_id"] as? String)?.isEmpty == false)
        #expect((failed?["error"] as? String)?.contains("AccessDenied") == true)
        try workplace.clearFaults()
        try check("pull", target.path)
        try target.write("f0", ramp(5))
        try source.write("f0", ramp(6))
        try source.remove("f1")
        try check("push", source.path, "--delete")
        try check("pull", target.path, "--delete", status: 1)
        try FileManager.default.createSymbolicLink(
            atPath: target.path + "/link",
            withDestinationPath: "f0"
        )
        try check("status", target.path)
        try check("status", target.path, "-vv", "--exclude", "f2")
        try check("status", target.path, "--summary")
        try check("explain", target.path, "f2")
        try check("ls", workplace.remote)
        try check("ls", "--summary", workplace.remote)
        try check("ls", "--top", "oss://\(Workplace.bucket)")
        try check("trash", target.path)
        try check("restore", target.path, "f1")
        try check("restore", "--list", target.path, ".")
        try check("verify", target.path)
        let runs = try check("log", target.path).events.compactMap { $0["run"] as? Int }
        for run in runs { try check("log", target.path, "\(run)") }
        try check("doctor", target.path)
        try check("cancel", target.path)
        try check("free", target.path, "f2")
        try check("status", target.path)
        try check("pull", target.path, "oss://\(Workplace.bucket)/other", status: 3)
        let object = "oss://\(Workplace.bucket)/mirror/f2"
        let single = try workplace.makeDirectory("single")
        try check("get", object, single.path + "/")
        try check("get", object, single.path, status: 3)
        try check("put", source.path + "/f2", object, "--force", "--storage-class", "IA")
        try check("presign", object)
        try workplace.beginUpload("mirror/unfinished")
        try check("uploads", workplace.remote)
        try check("ls", "--versions", object)
        try check("mirrors")
        #expect(seen.isSubset(of: documented.keys))
        #expect(seen.isSuperset(of: Set(documented.keys).subtracting(Self.rare)))
    }

    @Test(arguments: ["keep-both", "local", "remote", "skip", "fail"])
    func `tell each conflict`(policy: String) throws {
        let workplace = try Workplace()
        for direction in ["pull", "push"] {
            let tree = try conflicted(workplace, direction)
            let run = try workplace.run(direction, tree.path, "--on-conflict", policy, "--json")
            #expect(run.status == 1, "\(policy)")
            let conflicts = run.events.filter { $0["event"] as? String == "conflict" }
            #expect(conflicts.map { $0["key"] as? String } == ["f"])
            #expect(conflicts.first?["action"] as? String == "conflict")
            #expect(conflicts.first?["state"] as? String == "skipped")
            let reason = conflicts.first?["reason"] as? String ?? ""
            #expect(reason.hasPrefix("both sides changed it since the last run; "))
            #expect(run.count("conflicts") == 1)
            #expect(run.summary["in_step"] as? Bool == false)
            let last = run.events.last ?? [:]
            #expect(last["event"] as? String == (policy == "fail" ? "error" : "summary"))
            if policy == "fail" { #expect(last["exit"] as? Int == 1) }
        }
    }

    @Test func `tell what a dry run would do about a conflict`() throws {
        let workplace = try Workplace()
        let tree = try conflicted(workplace, "pull")
        let run = try workplace.run("pull", tree.path, "--dry-run", "--json")
        let conflict = run.events.first { $0["event"] as? String == "conflict" }
        #expect(conflict?["state"] as? String == "planned")
        let text = try workplace.run("pull", tree.path, "--dry-run").output
        #expect(text.contains("would report the conflict of f: both sides changed it"))
    }

    /// A directory whose file `f` changed on both sides since they were in step.
    private func conflicted(_ workplace: Workplace, _ name: String) throws -> Tree {
        let remote = "oss://\(Workplace.bucket)/\(name)"
        let source = try workplace.makeDirectory("source-" + name)
        let target = try workplace.makeDirectory("target-" + name)
        try source.write("f", ramp(100))
        #expect(try workplace.run("push", source.path, remote).status == 0)
        #expect(try workplace.run("pull", target.path, remote).status == 0)
        try source.write("f", ramp(200))
        try target.write("f", ramp(300))
        #expect(try workplace.run("push", source.path).status == 0)
        return target
    }
}
