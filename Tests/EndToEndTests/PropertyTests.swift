import Foundation
import Testing

@Suite("What a push writes objects with", .serialized)
struct PropertyTests {
    /// The headers of an object, by names in lower case.
    private func headers(_ workplace: Workplace, _ key: String) throws -> [String: String] {
        let url = try workplace.run("presign", "--method", "HEAD", workplace.remote + "/" + key)
        let head = try RunningProgram(
            URL(fileURLWithPath: "/usr/bin/curl"),
            ["-sS", "-I", url.output.trimmingCharacters(in: .newlines)],
            environment: ["PATH": "/usr/bin:/bin"]
        ).finish()
        try #require(head.output.contains(" 200 "), "\(head.output)")
        var found: [String: String] = [:]
        for line in head.output.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            found[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return found
    }

    private static let options = [
        "--storage-class", "IA", "--header", "Cache-Control: no-store", "--header",
        "x-oss-meta-owner: me", "--part-size", "1M",
    ]

    @Test func `is kept by later versions and by copies of renamed files`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        try tree.write("small.txt", ramp(100))
        try tree.write("large.mov", ramp(3 << 20))
        try tree.makeDirectory("empty")
        let push = ["push", tree.path, workplace.remote]
        let first = try workplace.start(push + Self.options + ["--json"]).finish()
        #expect(first.status == 0, "\(first.diagnostics)")
        func check(_ key: String, _ owner: String = "me") throws {
            let found = try headers(workplace, key)
            #expect(found["x-oss-storage-class"] == "IA", "\(key)")
            #expect(found["cache-control"] == "no-store", "\(key)")
            #expect(found["x-oss-meta-owner"] == owner, "\(key)")
            #expect(found["x-oss-meta-mtime"] != nil, "\(key)")
        }
        try check("small.txt")
        try check("large.mov")
        let marker = try workplace.run("ls", "-l", workplace.remote + "/empty/").output
        #expect(marker.contains("Standard"))
        // Without options, what is there stays.
        try tree.write("small.txt", ramp(200))
        try tree.rename("large.mov", to: "renamed.mov")
        let second = try workplace.start(push + ["--delete", "--json"]).finish()
        #expect(second.status == 0, "\(second.diagnostics)")
        #expect(second.items(action: "copy-remote", state: "done") == ["renamed.mov"])
        try check("small.txt")
        try check("renamed.mov")
        // With options, they count for a copy, too.
        try tree.rename("renamed.mov", to: "again.mov")
        let third = try workplace.start(
            push + ["--delete", "--json", "--header", "x-oss-meta-owner: you"]
        ).finish()
        #expect(third.items(action: "copy-remote", state: "done") == ["again.mov"])
        try check("again.mov", "you")
        #expect(try workplace.start(push + ["--json"]).finish().count("transferred") == 0)
    }

    @Test func `can be a default of the directory, and wrong values end the run before it begins`()
        throws
    {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        try tree.write("a", ramp(100))
        #expect(try workplace.run("init", tree.path, workplace.remote).status == 0)
        let config = tree.url.appendingPathComponent(".osssync/config")
        let linked = try String(contentsOf: config, encoding: .utf8)
        func push(_ arguments: String...) throws -> ProgramResult {
            try workplace.start(["push", tree.path] + arguments).finish()
        }
        let requests = try workplace.requests {
            for (option, value) in [
                ("--storage-class", "STANDARD_IA"), ("--acl", "none"), ("--sse", "rot13"),
                ("--header", "Host: x"),
            ] {
                let wrong = try push(option, value)
                #expect(wrong.status == 2, "\(option)")
                #expect(wrong.diagnostics.contains("expected"), "\(wrong.diagnostics)")
            }
            try (linked + "[pull]\nstorage-class = IA\n").write(
                to: config,
                atomically: true,
                encoding: .utf8
            )
            let misplaced = try push()
            #expect(misplaced.status == 2)
            #expect(misplaced.diagnostics.contains("'storage-class' is not an option of pull"))
        }
        #expect(requests.isEmpty)
        try (linked + "header = Cache-Control: a\n[push]\nheader = Expires: 0\n").write(
            to: config,
            atomically: true,
            encoding: .utf8
        )
        #expect(try push("--header", "Cache-Control: b").status == 0)
        let found = try headers(workplace, "a")
        #expect(found["cache-control"] == "b")
        #expect(found["expires"] == "0")
    }

    @Test func `that must be restored is said once`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        // Not of this moment, whose files have to be compared once more.
        for name in ["a", "b"] { try tree.write(name, ramp(100), modified: 1_700_000_000) }
        let push = try workplace.run(
            "push",
            tree.path,
            workplace.remote,
            "--storage-class",
            "Archive",
            "--json"
        )
        #expect(push.status == 0, "\(push.diagnostics)")
        let warnings = push.events.filter { $0["event"] as? String == "warning" }
        #expect(warnings.count == 1)
        #expect((warnings.first?["message"] as? String)?.contains("restored") == true)
        #expect(push.events.first?["event"] as? String == "start")
        #expect(try workplace.run("status", tree.path, "--exit-code").status == 0)
        let other = try workplace.makeDirectory("other")
        #expect(try workplace.run("pull", other.path, workplace.remote).status == 1)
    }
}
