import Foundation
import Glibc
import Testing

@Suite("Commands", .serialized)
struct CommandTests {
    @Test func `init links a directory after it has looked at the bucket`() throws {
        let workplace = try Workplace()
        let path = workplace.folder.appendingPathComponent("new").path
        let requests = try workplace.requests {
            let text = try workplace.run("init", path, workplace.remote)
            #expect(text.status == 0, "\(text.diagnostics)")
            #expect(text.output == "linked '\(path)' with \(workplace.remote)/\n")
            #expect(text.diagnostics.isEmpty)
        }
        // That nothing is listed may mean that the name is that of an object.
        #expect(requests.map(\.operation) == ["ListObjectsV2", "ListObjectsV2", "HeadObject"])
        let line = try workplace.run("init", path, workplace.remote, "--json").events
        #expect(line.map { $0["event"] as? String } == ["linked"])
        #expect(line.first?["remote"] as? String == workplace.remote + "/")
        #expect(try workplace.run("init", path, workplace.remote, "-q").output.isEmpty)
        let other = try workplace.run("init", path, "oss://\(Workplace.bucket)/other")
        #expect(other.status == 3)
        // The link says where the bucket is, so that a timer needs no environment for that.
        let far = workplace.folder.appendingPathComponent("far").path
        let options = ["--endpoint", workplace.url, "--region", "cn-test-1"]
        let nowhere = ["OSS_ENDPOINT": "", "OSS_REGION": ""]
        let linked = try workplace.start(
            ["init", far, workplace.remote] + options,
            environment: nowhere
        ).finish()
        #expect(linked.status == 0, "\(linked.diagnostics)")
        #expect(try workplace.run("pull", far, environment: nowhere).status == 0)
    }

    @Test func `a remote that is not there links nothing`() throws {
        let workplace = try Workplace()
        let path = workplace.folder.appendingPathComponent("new").path
        // A push needs its directory; see the tests of mirrors.
        for command in ["init", "pull"] {
            let wrong = try workplace.run(command, path, "oss://no-such-bucket/p")
            #expect(wrong.status == 2, "\(wrong.diagnostics)")
            #expect(wrong.diagnostics.contains("NoSuchBucket"))
            #expect(wrong.diagnostics.contains(": check its name and region (request "))
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        #expect(try workplace.run("init", path, workplace.remote).status == 0)
    }

    @Test func `an empty directory is not linked by a push to what is not empty`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        try tree.write("a", ramp(10))
        #expect(try workplace.run("push", tree.path, workplace.remote).status == 0)
        let empty = try workplace.makeDirectory("empty")
        let push = try workplace.run("push", empty.path, workplace.remote, "--delete=extra")
        #expect(push.status == 1)
        #expect(push.diagnostics.contains("is empty and"), "\(push.diagnostics)")
        #expect(!FileManager.default.fileExists(atPath: empty.path + "/.osssync"))
        #expect(try workplace.run("init", empty.path, workplace.remote).status == 0)
        let linked = try workplace.run("push", empty.path, "--delete=extra")
        #expect(linked.status == 3, "\(linked.diagnostics)")
        #expect(try workplace.run("ls", workplace.remote).output.contains("mirror/a"))
    }

    @Test func `ls lists every page in the order of the keys`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        let count = 2_500
        let names = (0..<count).map { "d\($0 % 7)/f\($0)" }
        for name in names { try tree.write(name, Data(name.utf8)) }
        let push = try workplace.run("push", tree.path, workplace.remote, "--jobs", "16", "--json")
        #expect(push.count("transferred") == count, "\(push.diagnostics)")
        let expected = names.map { "mirror/" + $0 }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }

        let requests = try workplace.requests {
            let text = try workplace.run("ls", workplace.remote)
            #expect(text.status == 0, "\(text.diagnostics)")
            let lines = text.output.split(separator: "\n")
            #expect(lines.map { String($0.split(separator: " ").last ?? "") } == expected)
            let columns = lines.first?.split(separator: " ") ?? []
            #expect(columns.count == 3)
            #expect(columns.first?.hasSuffix("Z") == true)
            #expect(columns.dropFirst().first == "5")
        }
        #expect(requests.map(\.operation) == Array(repeating: "ListObjectsV2", count: 3))

        let objects = try workplace.run("ls", workplace.remote, "--json").events
        #expect(objects.map { $0["key"] as? String } == expected)
        #expect(objects.allSatisfy { $0["event"] as? String == "object" })
        #expect(objects.first?["size"] as? Int == 5)
        #expect(objects.first?["storage_class"] as? String == "Standard")
        #expect((objects.first?["etag"] as? String)?.count == 32)

        // Another program may end the listing early; that is no reason to complain.
        let head = try workplace.shell("osssync ls '\(workplace.remote)' | head -n 1")
        #expect(head.output.split(separator: "\n").count == 1)
        #expect(head.diagnostics.isEmpty)
        #expect(head.status == 1)
        let nothing = "oss://\(Workplace.bucket)/nothing"
        let empty = try workplace.run("ls", nothing, "--json")
        #expect(empty.status == 1)
        #expect(empty.output.isEmpty)
        #expect(empty.diagnostics == "osssync: no key begins with '\(nothing)'\n")
    }

    @Test func `ls lists one level`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        for name in ["2024/a", "2024/b/c", "2024.txt", "2025/a", "x y/z", "é/1"] {
            try tree.write(name, ramp(7))
        }
        try #require(try workplace.run("push", tree.path, workplace.remote).status == 0)
        func keys(_ place: String) throws -> [String] {
            let list = try workplace.run("ls", "--top", place)
            #expect(list.status == 0, "\(list.diagnostics)")
            return list.output.split(separator: "\n").map { String($0.dropFirst(42)) }
        }
        let all = ["2024.txt", "2024/", "2025/", "x y/", "é/"]
        let remote = workplace.remote
        #expect(try keys(remote + "/") == all.map { "mirror/" + $0 })
        #expect(try keys(remote) == ["mirror/"])
        #expect(try keys(tree.path) == all.map { "mirror/" + $0 })
        #expect(try keys(remote + "/2024") == ["mirror/2024.txt", "mirror/2024/"])
        #expect(try keys(remote + "/2024/") == ["mirror/2024/a", "mirror/2024/b/"])
        #expect(try keys(remote + "/20") == ["mirror/2024.txt", "mirror/2024/", "mirror/2025/"])
        #expect(try keys("oss://\(Workplace.bucket)") == ["mirror/"])
        let events = try workplace.run("ls", "--top", "--json", remote + "/").events
        #expect(events.map { $0["event"] as? String }.prefix(2) == ["object", "prefix"])
        #expect(try workplace.run("ls", "--top", remote + "/none").status == 1)
        for other in ["--summary", "--versions"] {
            #expect(try workplace.run("ls", "--top", other, remote).status == 2)
        }
        let lines = try workplace.run("ls", "--top", "-h", remote + "/").output
        #expect(
            lines.split(separator: "\n").map { $0.dropFirst(36).hasPrefix("mirror/") } == [
                true, true, true, true, true,
            ]
        )
    }

    @Test func `ls finds an object, the beginnings of names, and what a mirror has`() throws {
        let workplace = try Workplace()
        #expect(try workplace.run("ls", "oss://\(Workplace.bucket)").status == 0)
        let tree = try workplace.makeDirectory("tree")
        for name in ["IMG_1.jpg", "IMG_1.jpg.xmp", "IMG_2.jpg", "IMG/a", "other"] {
            try tree.write(name, ramp(2_000))
        }
        try #require(try workplace.run("push", tree.path, workplace.remote).status == 0)
        func keys(_ arguments: String...) throws -> [String] {
            let list = try workplace.start(["ls"] + arguments).finish()
            #expect(list.status == 0, "\(list.diagnostics)")
            return list.output.split(separator: "\n").map {
                String($0.split(separator: "/", maxSplits: 1).last ?? "")
            }
        }
        #expect(try keys(workplace.remote + "/IMG_1.jpg") == ["IMG_1.jpg"])
        #expect(
            try keys(workplace.remote + "/IMG_") == ["IMG_1.jpg", "IMG_1.jpg.xmp", "IMG_2.jpg"]
        )
        // A directory is more than the beginning of a name.
        #expect(try keys(workplace.remote + "/IMG") == ["IMG/a"])
        #expect(try keys(workplace.remote + "/IMG/") == ["IMG/a"])
        #expect(try keys(tree.path).count == 5)
        #expect(try workplace.run("ls", workplace.remote + "/IMG_/").status == 1)
        #expect(try workplace.run("ls", workplace.folder.path).status == 2)
        let address = try workplace.run("ls", "https://x/y?secret")
        #expect(!address.diagnostics.contains("secret"))

        let one = try workplace.run("ls", "-lh", workplace.remote + "/other").output
        let columns = one.split(whereSeparator: { $0 == " " || $0 == "\n" })
        #expect(columns.count == 7)
        #expect(columns.dropFirst().prefix(2) == ["2.0", "KiB"])
        #expect(columns[4] == "Standard")
        #expect(UInt64(columns[5]) != nil)
        let put = try workplace.shell(
            "osssync put tree/other \(workplace.remote)/cold --storage-class IA"
        )
        #expect(put.status == 0, "\(put.diagnostics)")
        let sums = try workplace.run("ls", "--summary", workplace.remote).output
        #expect(
            sums.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
                == ["1 2000 IA", "5 10000 Standard", "6 12000 total"]
        )
        let line = try #require(
            try workplace.run("ls", "--summary", "--json", workplace.remote).events.first
        )
        #expect(line["event"] as? String == "objects")
        #expect(line["count"] as? Int == 6)
        #expect((line["classes"] as? [[String: Any]])?.count == 2)
    }

    @Test func `status tells both directions and changes nothing`() throws {
        let workplace = try Workplace()
        let source = try workplace.makeDirectory("source")
        let target = try workplace.makeDirectory("target")
        for index in 0..<4 { try source.write("f\(index)", ramp(1_024, seed: index)) }
        #expect(try workplace.run("push", source.path, workplace.remote).status == 0)
        #expect(try workplace.run("pull", target.path, workplace.remote).status == 0)
        try source.write("f0", ramp(2_048))
        try source.write("f4", ramp(2_048, seed: 4))
        #expect(try workplace.run("push", source.path).status == 0)
        try target.write("f1", ramp(10))
        try target.write("new", ramp(5))
        try target.remove("f2")

        let before = try target.entries()
        let requests = try workplace.requests {
            let text = try workplace.run("status", target.path)
            #expect(text.status == 0, "\(text.diagnostics)")
            #expect(
                text.output.hasPrefix(
                    """
                    '\(target.path)' and \(workplace.remote)/
                      recorded: 4 items
                      pull would: download 3 items (5.0 KiB), keep 1 local change
                      push would: upload 2 items (15 B), find 1 conflict
                      sync would: transfer 4 items (4.0 KiB)
                      differences: 1 only here, 1 only in the bucket, 1 changed here, \
                    1 changed in the bucket, 1 deleted here
                      last success: pull 2
                    """
                )
            )
            let line = try workplace.run("status", target.path, "--json").events.first ?? [:]
            let pull = line["pull"] as? [String: Any] ?? [:]
            #expect(line["recorded"] as? Int == 4)
            #expect(pull["transfers"] as? Int == 3)
            #expect(pull["bytes"] as? Int == 5_120)
            #expect(pull["local_changes"] as? Int == 1)
            #expect((line["push"] as? [String: Any])?["conflicts"] as? Int == 1)
            #expect((line["interrupted"] as? [Any])?.isEmpty == true)
        }
        #expect(Set(requests.map(\.operation)) == ["ListObjectsV2"])
        #expect(try target.entries() == before)
    }

    @Test(arguments: ["pull", "push"])
    func `status shows what was interrupted, and cancel drops it`(direction: String) throws {
        let isPull = direction == "pull"
        let operation = isPull ? "GetObject" : "UploadPart"
        let effect = isPull ? "stall" : "stallUpload"
        let workplace = try Workplace(
            faults: """
                [{"match": {"operation": "\(operation)", "from": 4},
                  "effect": {"\(effect)": {"at": 1000}}}]
                """
        )
        let source = try workplace.makeDirectory("source")
        try source.write("big", ramp(12 << 20))
        let tree = isPull ? try workplace.makeDirectory("target") : source
        if isPull {
            let push = try workplace.run("push", source.path, workplace.remote)
            #expect(push.status == 0, "\(push.diagnostics)")
        }
        let interrupted = try ResumeTests.interrupt(
            workplace,
            [direction, tree.path, workplace.remote, "--part-size", "1M"],
            after: 3 << 20,
            signal: SIGINT
        )
        #expect(interrupted.status == 130)
        #expect(interrupted.diagnostics.contains("interrupted; run the same command to resume"))
        try workplace.clearFaults()

        let text = try workplace.run("status", tree.path).output
        #expect(text.contains("  interrupted \(isPull ? "download" : "upload"): big, "))
        #expect(text.contains(" of 12.0 MiB done\n"))
        let line = try workplace.run("status", tree.path, "--json").events.first ?? [:]
        let item = (line["interrupted"] as? [[String: Any]])?.first ?? [:]
        #expect(item["key"] as? String == "big")
        #expect((item["bytes_finished"] as? Int ?? 0) >= 3 << 20)

        let requests = try workplace.requests {
            #expect(try workplace.run("cancel", tree.path, "other").status == 2)
            let cancel = try workplace.run("cancel", tree.path, "big", "--json")
            #expect(cancel.status == 0, "\(cancel.diagnostics)")
            #expect(cancel.events.first?[isPull ? "downloads" : "uploads"] as? Int == 1)
            #expect(cancel.events.first?[isPull ? "uploads" : "downloads"] as? Int == 0)
        }
        #expect(requests.map(\.operation) == (isPull ? [] : ["AbortMultipartUpload"]))
        let partials = try FileManager.default.contentsOfDirectory(
            atPath: tree.path + "/.osssync/partial"
        )
        #expect(partials.isEmpty)
        #expect(!(try workplace.run("status", tree.path).output.contains("interrupted")))
        let again = try workplace.run(direction, tree.path, "--json")
        #expect(again.count("bytes_resumed") == 0)
        #expect(again.count("bytes") == 12 << 20)
    }

    @Test func `doctor finds what is wrong, and how to mend it`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        #expect(try workplace.run("init", tree.path, workplace.remote).status == 0)
        let good = try workplace.run("doctor", tree.path)
        #expect(good.status == 0, "\(good.output)")
        let subjects = [
            "configuration", "credentials", "endpoint", "bucket", "clock", "disk", "trash", "timer",
            "last success",
        ]
        let lines = good.output.split(separator: "\n")
        #expect(lines.count == subjects.count)
        for (line, subject) in zip(lines, subjects) {
            // There was no run yet.
            let mark = subject == "last success" ? "note " : "ok   "
            #expect(line.hasPrefix("\(mark)  \(subject): "))
        }
        #expect(!good.output.contains("canary"))
        let findings = try workplace.run("doctor", tree.path, "--json").events
        #expect(findings.map { $0["subject"] as? String } == subjects)
        #expect(findings.filter { $0["state"] as? String != "good" }.count == 1)

        let wrong = ["OSS_ACCESS_KEY_SECRET": "another-canary"]
        let denied = try workplace.run("doctor", tree.path, environment: wrong)
        #expect(denied.status == 1)
        #expect(denied.output.contains("WRONG  bucket: "))
        #expect(denied.output.contains("Check the access key"))
        #expect(!denied.output.contains("canary"))
        let alone = try workplace.run("doctor")
        #expect(alone.status == 0)
        #expect(alone.output.contains("note   directory: none was given"))
    }
}
