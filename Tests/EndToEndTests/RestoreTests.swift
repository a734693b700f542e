import Foundation
import Testing

/// `restore` without a time or a run: the newest version that is not what is there.
@Suite("Getting files back", .serialized)
struct RestoreTests {
    private let workplace: Workplace
    private let source: Tree
    private let tree: Tree

    /// Two mirrors of `d/x`, `d/y` and `f`.
    init() throws {
        workplace = try Workplace()
        tree = try workplace.makeDirectory("tree")
        source = try workplace.makeDirectory("source")
        for name in ["d/x", "d/y", "f"] {
            try source.write(name, Self.content(name), modified: 1_700_000_000_500_000_000)
        }
        try #require(try workplace.run("push", source.path, workplace.remote).status == 0)
        try #require(try workplace.run("pull", tree.path, workplace.remote).status == 0)
    }

    private static func content(_ name: String) -> Data {
        ramp(1_500 + name.utf8.count, seed: Int(name.utf8.last ?? 0))
    }

    private func restore(_ arguments: String...) throws -> ProgramResult {
        try workplace.start(["restore", "--json", tree.path] + arguments).finish()
    }

    private func mode(_ tree: Tree, _ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: tree.path + "/" + name)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    private func places(_ result: ProgramResult) -> [String] {
        result.events.compactMap { event in
            guard let name = event["event"] as? String,
                ["restored", "file_version"].contains(name),
                let key = event["key"] as? String
            else { return nil }
            let state = event["state"] as? String ?? "-"
            return "\(state) \(key) \(event["place"] as? String ?? "-")"
        }
        .sorted()
    }

    @Test func `a newer object replaces a file that was not changed, which is kept`() throws {
        try source.write("f", ramp(40, seed: 9))
        try #require(try workplace.run("push", source.path).status == 0)
        let result = try restore("f")
        #expect(places(result) == ["replaced f bucket"] && result.status == 0)
        #expect(tree.content("f") == ramp(40, seed: 9))
        let back = try restore("f")
        #expect(places(back) == ["replaced f trash"])
        #expect(tree.content("f") == Self.content("f"))
    }

    @Test func `an edit of the same size is replaced, which is kept`() throws {
        try tree.write("f", ramp(1_501, seed: 77))
        #expect(places(try restore("f")) == ["replaced f bucket"])
        #expect(tree.content("f") == Self.content("f"))
        #expect(places(try restore("f")) == ["replaced f trash"])
    }

    @Test func `everything of the trash replaces nothing that is there`() throws {
        let trash = ["push", "--trash", "remote", source.path]
        try source.write("f", ramp(40, seed: 9))
        try #require(try workplace.start(trash).finish().status == 0)
        let result = try workplace.start(["restore", "--json", source.path, "."]).finish()
        #expect(!places(result).contains { $0.hasPrefix("replaced") }, "\(places(result))")
        #expect(source.content("f") == ramp(40, seed: 9))
        #expect(try workplace.run("pull", tree.path).status == 0)
        #expect(tree.content("f") == ramp(40, seed: 9))
    }

    @Test func `what a pattern excludes is named, and comes back outside`() throws {
        try tree.write(".osssync/ignore", Data("x\n/e/\n".utf8))
        try source.write("e/z", ramp(20))
        try #require(try workplace.run("push", source.path).status == 0)
        try tree.remove("d")
        let result = try restore("d", "e")
        #expect(result.status == 1)
        #expect(places(result) == ["failed d/x -", "failed e/ -", "restored d/y bucket"])
        #expect(!tree.exists("d/x") && !tree.exists("e"))
        // What is here is not asked for.
        try tree.write("d/x", ramp(5))
        #expect(places(try restore("d")) == [])
    }

    @Test func `into a new folder has the permissions that a new one gets`() throws {
        let result = try restore("--to", "copy/of", "d")
        #expect(result.status == 0 && tree.exists("copy/of/x"), "\(result)")
        try tree.makeDirectory("plain")
        for name in ["copy", "copy/of"] {
            #expect(try mode(tree, name) == mode(tree, "plain"), "\(name)")
        }
        // Nothing else is sent of it.
        try #require(try workplace.run("push", tree.path).status == 0)
        let again = try workplace.run("pull", source.path)
        #expect(again.status == 0 && !again.output.contains("permissions"))
        #expect(try mode(source, "copy") == mode(tree, "plain"))
    }

    @Test func `what is in the way is named`() throws {
        try tree.remove("f")
        try tree.makeDirectory("f")
        let result = try restore("f")
        #expect(result.status == 1 && result.diagnostics.contains("'f' is a directory here"))
    }

    @Test func `a bucket that cannot be asked is not an empty one`() throws {
        try tree.remove("f")
        try workplace.setFaults(
            """
            [{"match": {}, "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
            """
        )
        for words in [["restore"], ["restore", "--list"]] {
            let result = try workplace.start(words + [tree.path, "f"]).finish()
            #expect(result.status == 4, "\(words): \(result)")
            #expect(result.diagnostics.contains("the bucket could not be asked"))
        }
    }

    @Test func `an unknown profile is refused, and not taken for an empty bucket`() throws {
        try tree.remove("f")
        let result = try restore("--profile", "nowhere", "f")
        #expect(result.status == 2 && places(result) == [], "\(result)")
        #expect(!tree.exists("f"))
    }

    @Test func `what was freed comes back by its name`() throws {
        try #require(try workplace.run("free", tree.path, "d", "f").status == 0)
        #expect(!tree.exists("d/x") && !tree.exists("f"))
        #expect(places(try restore("f", "d/x")) == ["restored d/x bucket", "restored f bucket"])
        #expect(places(try restore("d")) == ["restored d/y bucket"])
    }

    @Test func `the bucket's version wins where both changed, and the one here is kept`() throws {
        try source.write("f", ramp(40, seed: 9))
        try #require(try workplace.run("push", source.path).status == 0)
        try tree.write("f", ramp(50, seed: 2))
        #expect(places(try restore("f")) == ["replaced f bucket"])
        #expect(tree.content("f") == ramp(40, seed: 9))
        #expect(places(try restore("f")) == ["replaced f trash"])
        #expect(tree.content("f") == ramp(50, seed: 2))
    }

    @Test func `what is missing in a directory comes from the bucket, and nothing is replaced`()
        throws
    {
        try tree.remove("d/x")
        try tree.write("d/y", ramp(7))
        let kept = try restore("d")
        #expect(places(kept) == ["kept d/y bucket", "restored d/x bucket"], "\(kept)")
        #expect(kept.status == 1 && kept.events.last?["kept"] as? Int == 1)
        #expect(tree.content("d/y") == ramp(7))
        try tree.remove("d")
        let all = try restore("d")
        #expect(places(all) == ["restored d/x bucket", "restored d/y bucket"])
        #expect(all.status == 0 && tree.content("d/y") == Self.content("d/y"))
        let again = try restore("d")
        #expect(places(again).isEmpty && again.status == 0, "\(again)")
    }

    @Test func `what the bucket has is not replaced by an older version from a trash`() throws {
        for name in ["d/x", "d/y"] { try source.write(name, ramp(40, seed: 9)) }
        let trash = ["push", "--trash", "remote", source.path]
        try #require(try workplace.start(trash).finish().status == 0)
        try source.remove("d")
        for options in [[], ["--force"], ["--force", "--to", "beside"]] {
            let arguments = ["restore", "--json", source.path, "d"] + options
            let result = try workplace.start(arguments).finish()
            #expect(places(result) == ["restored d/x bucket", "restored d/y bucket"])
            let place = options.count > 1 ? "beside" : "d"
            #expect(result.status == 0 && source.content(place + "/x") == ramp(40, seed: 9))
            try source.remove(place)
        }
        #expect(try workplace.run("pull", tree.path).status == 0)
        #expect(tree.content("d/x") == ramp(40, seed: 9))
    }

    @Test func `a directory that is here and empty gets what another machine deleted in it`()
        throws
    {
        try #require(try workplace.run("push", "--trash", "remote", source.path).status == 0)
        for name in ["d/x", "d/y"] { try tree.remove(name) }
        let removal = ["push", "--delete", "--trash", "remote", tree.path]
        try #require(try workplace.start(removal).finish().status == 0)
        for name in ["d/x", "d/y"] { try source.remove(name) }
        #expect(try workplace.run("pull", "--trash", "remote", source.path).status == 0)
        let result = try workplace.start(["restore", "--json", source.path, "d"]).finish()
        #expect(places(result) == ["restored d/x bucket-trash", "restored d/y bucket-trash"])
        #expect(result.status == 0 && source.content("d/x") == Self.content("d/x"))
    }

    @Test func `goes to another place with a key that may only read`() throws {
        try workplace.setFaults(
            #"[{"match": {"operation": "PutObject"}, "effect": {"fail": {"status": 403, "#
                + #""code": "AccessDenied"}}}, {"match": {"operation": "CopyObject"}, "effect": "#
                + #"{"fail": {"status": 403, "code": "AccessDenied"}}}]"#
        )
        try tree.remove("d")
        try tree.write("f", ramp(7))
        let before = try workplace.requests().count
        #expect(try restore("f", "--to", "beside").status == 0)
        #expect(tree.content("beside") == Self.content("f") && tree.content("f") == ramp(7))
        let out = workplace.folder.path + "/out"
        #expect(try restore("d", "--to", out).status == 0)
        #expect(FileManager.default.contents(atPath: out + "/x") == Self.content("d/x"))
        #expect(!tree.exists("d"))
        #expect(try restore("f").status == 0 && tree.content("f") == Self.content("f"))
        let written = try workplace.requests().dropFirst(before).filter {
            ["PutObject", "CopyObject", "DeleteObject"].contains($0.operation)
        }
        #expect(written.isEmpty)
        let link = try workplace.shell("ln -s /tmp tree/l && osssync restore tree f --to l/x")
        #expect(link.status != 0)
    }

    @Test func `the version of a time is the object's if no run removed one since`() throws {
        try tree.write("f", ramp(7))
        let now = Date().formatted(.iso8601)
        #expect(places(try restore("f", "--at", "2001-01-01")) == [])
        #expect(tree.content("f") == ramp(7))
        #expect(places(try restore("f", "--at", now)) == ["replaced f bucket"])
        #expect(tree.content("f") == Self.content("f"))
    }

    /// In a bucket with a trash and without versions.
    @Test func `a copy of a time has what nobody changed since, and nothing newer`() throws {
        let trash = ["push", "--trash", "remote", source.path]
        try #require(try workplace.start(trash).finish().status == 0)
        let now = Date().formatted(.iso8601)
        try source.write("d/x", ramp(40, seed: 9))
        try #require(try workplace.start(trash).finish().status == 0)
        let there = try workplace.makeDirectory("there")
        func copy(_ time: String, _ name: String) throws -> ProgramResult {
            let place = there.path + "/" + name
            let line = ["restore", "--json", "--at", time, "--to", place, source.path, "d"]
            return try workplace.start(line).finish()
        }
        #expect(try copy(now, "then").status == 0)
        for name in ["x", "y"] {
            #expect(there.content("then/" + name) == Self.content("d/" + name), "\(name)")
        }
        _ = try copy("2001-01-01", "before")
        #expect(!there.exists("before/x") && !there.exists("before/y"))
        let same = try workplace.start(["restore", "--at", now, source.path, "d/y"]).finish()
        #expect(same.status == 0, "\(same.diagnostics)")
        #expect(source.content("d/y") == Self.content("d/y"))
    }

    @Test func `what a file excludes is named with its rule`() throws {
        try tree.write(".osssyncignore", Data("f\n".utf8))
        try tree.remove("f")
        let result = try restore("f")
        #expect(result.status == 1 && places(result) == ["failed f -"])
        #expect(result.output.contains("excluded by .osssyncignore:1 'f'"), "\(result)")
        let out = workplace.folder.path + "/out"
        #expect(try restore("f", "--to", out).status == 0)
        #expect(FileManager.default.contents(atPath: out) == Self.content("f"))
    }

    @Test func `lists every version there is, and works without the bucket`() throws {
        try tree.write("f", ramp(7))
        #expect(try restore("f").status == 0)
        let list = try restore("f", "--list")
        #expect(places(list) == ["- f bucket", "- f trash"])
        #expect(list.events.last?["count"] as? Int == 2)
        #expect(try restore("d", "--list").events.last?["count"] as? Int == 2)
        #expect(try restore("nothing", "--list").status == 1)
        let text = try workplace.run("restore", "--list", tree.path, ".").output
        #expect(text.contains("  trash         run 2     f\n"), "\(text)")
        #expect(try restore("f", "--list", "--run", "1").status == 2)
        try tree.remove("f")
        workplace.server.send(SIGTERM)
        _ = workplace.server.finish()
        let offline = try restore("f", "--retries", "1")
        #expect(offline.status == 0 && places(offline) == ["restored f trash"], "\(offline)")
        #expect(offline.diagnostics.contains("only the trash here"))
    }
}
