import Foundation
import Glibc
import Testing

@Suite("Nothing is lost", .serialized)
struct SafetyTests {
    /// A mirror of `count` small files in both a source and a target directory.
    static func mirrored(
        _ workplace: Workplace,
        count: Int
    ) throws -> (source: Tree, target: Tree) {
        let source = try workplace.makeDirectory("source")
        for index in 0..<count { try source.write("f\(index)", ramp(500, seed: index)) }
        try #require(try workplace.run("push", source.path, workplace.remote).status == 0)
        let target = try workplace.makeDirectory("target")
        try #require(try workplace.run("pull", target.path, workplace.remote).status == 0)
        return (source, target)
    }

    @Test func `an empty listing against a full manifest deletes nothing`() throws {
        let workplace = try Workplace()
        let (source, target) = try Self.mirrored(workplace, count: 20)
        for index in 0..<20 { try source.remove("f\(index)") }
        #expect(
            try workplace.run(
                "push",
                source.path,
                "--delete",
                "--allow-empty",
                "--max-delete",
                "100%"
            )
            .status == 0
        )
        let before = try target.entries()
        let refused = try workplace.run("pull", target.path, "--delete")
        #expect(refused.status == 3, "\(refused.diagnostics)")
        #expect(try target.entries() == before)
        let allowed = try workplace.run(
            "pull",
            target.path,
            "--delete",
            "--allow-empty",
            "--max-delete",
            "100%"
        )
        #expect(allowed.status == 0, "\(allowed.diagnostics)")
        #expect(try target.entries().isEmpty)
    }

    @Test func `a mass deletion is refused before the first one`() throws {
        let workplace = try Workplace()
        let (source, _) = try Self.mirrored(workplace, count: 30)
        for index in 0..<20 { try source.remove("f\(index)") }
        let requests = try workplace.requests {
            let push = try workplace.run("push", source.path, "--delete")
            #expect(push.status == 3, "\(push.diagnostics)")
        }
        #expect(!requests.contains { $0.operation.hasPrefix("Delete") })
        #expect(
            try workplace.run("push", source.path, "--delete", "--max-delete", "20").status == 0
        )
    }

    @Test func `a deleted file lies in the trash`() throws {
        let workplace = try Workplace()
        let (source, target) = try Self.mirrored(workplace, count: 3)
        try source.remove("f1")
        #expect(try workplace.run("push", source.path, "--delete").status == 0)
        #expect(try workplace.run("pull", target.path, "--delete").status == 0)
        #expect(!target.exists("f1"))
        let trash = try FileManager.default.subpathsOfDirectory(
            atPath: target.path + "/.osssync/trash"
        )
        #expect(trash.contains { $0.hasSuffix("/f1") })
    }

    @Test func `a conflict keeps both versions`() throws {
        let workplace = try Workplace()
        let (source, target) = try Self.mirrored(workplace, count: 2)
        try source.write("f0", ramp(600, seed: 7))
        try target.write("f0", ramp(700, seed: 9))
        #expect(try workplace.run("push", source.path).status == 0)
        let pull = try workplace.run("pull", target.path, "--json")
        #expect(pull.status == 1)
        #expect(pull.count("conflicts") == 1)
        #expect(target.content("f0") == ramp(600, seed: 7))
        let kept = try FileManager.default.contentsOfDirectory(atPath: target.path)
            .filter { $0.hasPrefix("f0.conflict-") }
        #expect(kept.count == 1)
        #expect(kept.first.flatMap { target.content($0) } == ramp(700, seed: 9))
    }

    @Test func `a push does not overwrite what the remote changed`() throws {
        let workplace = try Workplace()
        let (source, target) = try Self.mirrored(workplace, count: 2)
        try source.write("f0", ramp(600, seed: 7))
        try target.write("f0", ramp(700, seed: 9))
        #expect(try workplace.run("push", source.path).status == 0)
        let push = try workplace.run("push", target.path, "--json")
        #expect(push.status == 1)
        #expect(push.count("conflicts") == 1)
        #expect(try workplace.run("pull", source.path).status == 0)
        #expect(source.content("f0") == ramp(600, seed: 7))
    }

    @Test func `a local change survives a pull`() throws {
        let workplace = try Workplace()
        let (_, target) = try Self.mirrored(workplace, count: 2)
        try target.write("f0", ramp(700, seed: 9))
        #expect(try workplace.run("pull", target.path).status == 0)
        #expect(target.content("f0") == ramp(700, seed: 9))
        #expect(try workplace.run("pull", target.path, "--force").status == 0)
        #expect(target.content("f0") == ramp(500, seed: 0))
    }

    @Test func `exit codes tell what is wrong`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        #expect(try workplace.run("pull").status == 2)
        #expect(try workplace.run("pull", tree.path, "--no-such-option").status == 2)
        #expect(try workplace.run("pull", tree.path).status == 2)
        let secret = ["OSS_ACCESS_KEY_SECRET": "wrong-secret-canary"]
        let denied = try workplace.run("pull", tree.path, workplace.remote, environment: secret)
        #expect(denied.status == 4, "\(denied.diagnostics)")
        #expect(!(denied.output + denied.diagnostics).contains("canary"))
    }

    @Test func `another remote than the recorded one is refused`() throws {
        let workplace = try Workplace()
        let (source, _) = try Self.mirrored(workplace, count: 2)
        let other = "oss://\(Workplace.bucket)/other"
        #expect(try workplace.run("push", source.path, other).status == 3)
        let third = try workplace.makeDirectory("third")
        try third.write("own", ramp(10))
        #expect(try workplace.run("push", third.path, other).status == 0)
        let target = try workplace.makeDirectory("target")
        let before = try target.entries()
        let arguments = ["pull", target.path, other, "--rebind", "--delete", "--json"]
        let pull = try workplace.start(arguments).finish()
        #expect(pull.count("deleted") == 0, "\(pull.diagnostics)")
        // Nor by a later run: what was mirrored with one remote is not known to another.
        let later = try workplace.run("pull", target.path, "--delete", "--json")
        #expect(later.count("deleted") == 0, "\(later.diagnostics)")
        let after = try target.entries()
        #expect(before.allSatisfy { after[$0.key] == $0.value })
        #expect(try workplace.run("push", source.path, other, "--rebind").status == 0)
        try source.remove("f0")
        #expect(try workplace.run("push", source.path, "--delete").status == 0)
    }
}
