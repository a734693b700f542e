import Foundation
import Testing

@Suite("A mirror", .serialized)
struct MirrorTests {
    /// One part of these tests' transfers.
    static let part = 1 << 20

    /// Names that break naive tools, empty things, and sizes around one part.
    static func fill(_ tree: Tree) throws {
        let names = [
            "plain.txt", "with space.txt", "plus+plus", "percent%41%2F.txt", "caf\u{E9}.txt",
            "cafe\u{301}.txt", "emoji \u{1F600}.bin", "new\nline", "tab\tname", "quote'\"`$",
            "back\\slash", "-rf", "a&b<c>d", "semi;colon#hash?query", "\u{202E}bidi",
            String(repeating: "n", count: 255), "dir/nested/deep/file", "dir-x", "dir.txt", "dir0",
            "dir/a", " leading", "trailing ", "..hidden", "...",
        ]
        for (index, name) in names.enumerated() {
            let time = 1_700_000_000_123_456_789 + Int64(index) * 1_000_000_007
            try tree.write(name, ramp(100 + index, seed: index), modified: time)
        }
        try tree.write("empty", Data(), modified: 946_684_800_000_000_001)
        try tree.makeDirectory("empty directory")
        try tree.makeDirectory("nested empty/inner")
        for (name, size) in [("part-1", part - 1), ("part", part), ("part+1", part + 1)] {
            try tree.write(name, ramp(size, seed: size))
        }
        try tree.write("five parts", ramp(5 * part + 17))
    }

    /// Threads reserve addresses by the tens of MiB, of which a run uses little.
    @Test func `is pushed and pulled in 256 MiB of addresses, with many requests at once`() throws {
        let workplace = try Workplace()
        let source = try workplace.makeDirectory("source")
        for index in 0..<300 { try source.write("small\(index)", ramp(5_000, seed: index)) }
        try source.write("large", ramp(40 << 20))
        let target = try workplace.makeDirectory("target")
        for (action, tree) in [("push", source), ("pull", target), ("pull", target)] {
            let result = try workplace.shell(
                "ulimit -v 262144; osssync \(action) '\(tree.path)' '\(workplace.remote)' "
                    + "--jobs 64 --part-size 1M"
            )
            #expect(result.status == 0, "\(action): \(result.diagnostics)\(result.output)")
        }
        #expect(try target.entries() == source.entries())
    }

    @Test func `comes back identical, and a second run moves nothing`() throws {
        let workplace = try Workplace()
        let source = try workplace.makeDirectory("source")
        try Self.fill(source)
        let count = try source.entries().count
        let push = try workplace.run(
            "push",
            source.path,
            workplace.remote,
            "--json",
            "--part-size",
            "1M"
        )
        #expect(push.status == 0, "\(push.diagnostics)\(push.output)")
        #expect(push.count("transferred") == count)

        let target = try workplace.makeDirectory("target")
        let pull = try workplace.run(
            "pull",
            target.path,
            workplace.remote,
            "--json",
            "--part-size",
            "1M"
        )
        #expect(pull.status == 0, "\(pull.diagnostics)")
        #expect(try target.entries() == source.entries())

        let again = try workplace.requests {
            let push = try workplace.run("push", source.path, "--json")
            #expect(push.status == 0)
            #expect(push.count("bytes") == 0)
            #expect(push.count("unchanged") == count)
            let pull = try workplace.run("pull", target.path, "--json")
            #expect(pull.status == 0)
            #expect(pull.count("bytes") == 0)
        }
        #expect(again.map(\.operation) == ["ListObjectsV2", "ListObjectsV2"])
    }

    @Test func `moves only what changed, and the rename of a large file moves no bytes`() throws {
        let workplace = try Workplace()
        let source = try workplace.makeDirectory("source")
        for index in 0..<20 { try source.write("f\(index)", ramp(1_000 + index, seed: index)) }
        try source.write("big", ramp(3 << 20))
        #expect(try workplace.run("push", source.path, workplace.remote).status == 0)
        let target = try workplace.makeDirectory("target")
        #expect(try workplace.run("pull", target.path, workplace.remote).status == 0)

        for index in 0..<3 { try source.write("f\(index)", ramp(2_000, seed: index)) }
        try source.remove("f10")
        try source.remove("f11")
        try source.makeDirectory("renamed")
        try source.rename("big", to: "renamed/big")
        // A copy would take as many requests.
        try source.rename("f12", to: "renamed/f12")
        let pushed = try workplace.requests {
            let push = try workplace.run("push", source.path, "--delete", "--json")
            #expect(push.status == 0, "\(push.diagnostics)")
            #expect(push.count("transferred") == 3)
            #expect(push.count("renamed") == 2)
            #expect(push.count("deleted") == 2)
        }
        #expect(pushed.count { $0.operation == "CopyObject" } == 1)
        #expect(pushed.reduce(0) { $0 + $1.bytesReceived } < 4 * 2_000 + 10_000)

        let pulled = try workplace.requests {
            let pull = try workplace.run("pull", target.path, "--delete", "--json")
            #expect(pull.status == 0, "\(pull.diagnostics)")
            #expect(pull.count("renamed") == 1)
        }
        #expect(pulled.count { $0.operation == "GetObject" } == 4)
        #expect(try target.entries() == source.entries())
    }

    @Test func `an empty bucket and an empty directory are in step`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        #expect(try workplace.run("push", tree.path, workplace.remote).status == 0)
        #expect(try workplace.run("pull", tree.path).status == 0)
    }

    @Test func `a first dry run leaves nothing behind`() throws {
        let workplace = try Workplace()
        let source = try workplace.makeDirectory("source")
        try source.write("a", ramp(10))
        let push = try workplace.run("push", source.path, workplace.remote, "-n", "--json")
        #expect(push.status == 0, "\(push.diagnostics)")
        #expect(push.items(action: "upload", state: "planned") == ["a"])
        #expect(!source.exists(".osssync"))
        #expect(try workplace.run("push", source.path, workplace.remote).status == 0)
        let absent = workplace.folder.path + "/absent"
        let pull = try workplace.run("pull", absent, workplace.remote, "-n", "--json")
        #expect(pull.status == 0, "\(pull.diagnostics)")
        #expect(pull.items(action: "download", state: "planned") == ["a"])
        #expect(!FileManager.default.fileExists(atPath: absent))
    }

    @Test func `a push makes no directory`() throws {
        let workplace = try Workplace()
        let absent = workplace.folder.path + "/absent"
        for option in ["--dry-run", "--quiet"] {
            let push = try workplace.run("push", absent, workplace.remote, option)
            #expect(push.status == 5)
            #expect(push.diagnostics.contains("'\(absent)' does not exist"))
        }
        #expect(!FileManager.default.fileExists(atPath: absent))
    }

    @Test func `a lost manifest is rebuilt by content, without a transfer`() throws {
        let workplace = try Workplace()
        let source = try workplace.makeDirectory("source")
        try Self.fill(source)
        #expect(
            try workplace.run("push", source.path, workplace.remote, "--part-size", "1M").status
                == 0
        )
        for suffix in ["", "-wal", "-shm"] {
            try? source.remove(".osssync/manifest.db" + suffix)
        }
        let requests = try workplace.requests {
            let push = try workplace.run("push", source.path, "--json")
            #expect(push.status == 0, "\(push.diagnostics)")
            #expect(push.count("bytes") == 0)
            #expect(push.count("adopted") > 20)
        }
        #expect(!requests.contains { $0.operation == "PutObject" })
    }
}
