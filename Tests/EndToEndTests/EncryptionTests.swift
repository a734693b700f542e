import Foundation
import Testing

@Suite("A mirror with encrypted contents", .timeLimit(.minutes(10)))
struct EncryptionTests {
    /// Around the borders of blocks and parts; one in several parts.
    static let sizes = [
        0, 1, 16, 17, 65_535, 65_536, 65_537, 131_072, 300_000, (1 << 20) - 48, 1 << 20,
        (3 << 20) + 7,
    ]
    static let magic = Data("RCLONE\0\0".utf8)

    let workplace: Workplace
    let source: Tree

    init() throws {
        workplace = try Workplace()
        // Where the list of mirrors is.
        _ = try workplace.makeDirectory("home")
        source = try workplace.makeDirectory("source")
        #expect(try workplace.run("keygen", path("key")).status == 0)
        for size in Self.sizes { try source.write("f\(size)", ramp(size, seed: size)) }
        try link(source)
    }

    func path(_ name: String) -> String { workplace.folder.path + "/" + name }

    func link(_ tree: Tree, key: String = "key") throws {
        let result = try workplace.run(
            "init",
            "--encrypt",
            "--encryption-password-file",
            path(key),
            tree.path,
            workplace.remote
        )
        #expect(result.status == 0, "\(result.diagnostics)")
    }

    /// What has no list of mirrors.
    var stranger: [String: String] { ["HOME": path("elsewhere")] }

    /// An object as it is stored.
    func stored(_ name: String) throws -> Data {
        let result = try workplace.shell(
            "HOME='\(path("elsewhere"))' osssync get --force '\(workplace.remote)/\(name)' - > raw"
        )
        #expect(result.status == 0, "\(result.diagnostics)")
        return try Data(contentsOf: URL(fileURLWithPath: path("raw")))
    }

    /// Stores an object with no metadata, as another program does.
    func store(_ content: Data, as name: String, in remote: String? = nil) throws {
        try content.write(to: URL(fileURLWithPath: path("raw")))
        let object = (remote ?? workplace.remote) + "/" + name
        let result = try workplace.shell(
            "curl -sS -f -T raw \"$(HOME='\(path("elsewhere"))' osssync presign --method PUT "
                + "'\(object)')\""
        )
        #expect(result.status == 0, "\(result.diagnostics)")
    }

    @Test func `comes back identical, and nothing of it is in the bucket`() throws {
        let push = try workplace.run("push", "--part-size", "1M", source.path)
        #expect(push.status == 0, "\(push.diagnostics)")
        for size in Self.sizes {
            let object = try stored("f\(size)")
            #expect(object.prefix(8) == Self.magic)
            #expect(object.count == 32 + size + 16 * ((size + 65_535) / 65_536))
            if size > 100 { #expect(object.range(of: ramp(64, seed: size)) == nil) }
        }
        let target = try workplace.makeDirectory("target")
        try link(target)
        let pull = try workplace.run("pull", "--part-size", "1M", target.path)
        #expect(pull.status == 0, "\(pull.diagnostics)")
        #expect(try target.entries() == source.entries())
        for tree in [source, target] {
            let requests = try workplace.requests {
                let result = try workplace.run("sync", "--json", tree.path)
                #expect(result.status == 0, "\(result.diagnostics)")
            }
            #expect(requests.map(\.operation) == ["ListObjectsV2"])
        }
        #expect(try workplace.run("verify", target.path).status == 0)
    }

    @Test func `is no good to a doctor who cannot read the password`() throws {
        let good = try workplace.run("doctor", source.path)
        #expect(good.status == 0 && good.output.contains("the password can be read"))
        try FileManager.default.removeItem(atPath: path("key"))
        let bad = try workplace.run("doctor", source.path)
        #expect(bad.status != 0 && bad.output.contains("WRONG  encryption"), "\(bad.output)")
    }

    @Test func `of two directories that never met is compared by its content`() throws {
        #expect(try workplace.run("push", source.path).status == 0)
        let target = try workplace.makeDirectory("target")
        for size in Self.sizes { try target.write("f\(size)", ramp(size, seed: size)) }
        try target.write("f17", ramp(17, seed: 1))
        try link(target)
        let first = try workplace.requests {
            let result = try workplace.run("push", "--json", target.path)
            #expect(result.status == 1)
        }
        // A file becomes with the object's nonce what the store has, or not.
        #expect(first.contains { $0.operation == "GetObject" && $0.bytesSent < 1_000 })
        let contents = first.filter { $0.operation == "GetObject" && $0.bytesSent >= 1_000 }
        // One shows that the password fits.
        #expect(contents.count <= 1)
        #expect(target.content("f17") == ramp(17, seed: 1))
        let requests = try workplace.requests {
            _ = try workplace.run("push", target.path)
        }
        // Of those that are the same, nothing is asked again.
        #expect(Set(requests.map(\.key).filter { !$0.isEmpty }) == ["mirror/f17"])
    }

    @Test func `of another password are not sent beside what is there`() throws {
        #expect(try workplace.run("push", source.path).status == 0)
        #expect(try workplace.run("keygen", path("other")).status == 0)
        let target = try workplace.makeDirectory("target")
        try target.write("new", ramp(100))
        try target.write("f17", ramp(20))
        try link(target, key: "other")
        for words in [["push"], ["sync", "--on-conflict", "local"], ["push", "--rebind"]] {
            let requests = try workplace.requests {
                let result = try workplace.start(words + [target.path]).finish()
                #expect(result.status == 4)
                #expect(result.diagnostics.contains("the password does not fit"))
            }
            #expect(requests.allSatisfy { ["ListObjectsV2", "GetObject"].contains($0.operation) })
        }
        // Nothing was recorded of it.
        try link(target)
        let right = try workplace.run("sync", "--on-conflict", "remote", target.path)
        // A conflict is told.
        #expect(right.status == 1, "\(right.diagnostics)")
        #expect(target.content("f17") == ramp(17, seed: 17))
    }

    @Test func `are not replaced by what is here if they cannot be read`() throws {
        #expect(try workplace.run("push", source.path).status == 0)
        for (name, size) in [("plain", 200), ("raw", 32)] { try store(ramp(size), as: name) }
        try source.write("plain", ramp(7))
        try source.write("raw", Data())
        for _ in 0..<2 {
            let result = try workplace.run("push", "--on-conflict", "local", source.path)
            #expect(result.status == 1)
            #expect(try stored("plain") == ramp(200))
            #expect(try stored("raw") == ramp(32))
        }
    }

    @Test func `has its password file elsewhere, and finds it from anywhere`() throws {
        let target = try workplace.makeDirectory("target")
        let linked = try workplace.shell(
            "osssync init --encrypt --encryption-password-file key '\(target.path)' "
                + workplace.remote
        )
        #expect(linked.status == 0, "\(linked.diagnostics)")
        #expect(try workplace.shell("cd / && osssync push '\(target.path)'").status == 0)
        #expect(try workplace.shell("cp key '\(target.path)/key'").status == 0)
        let inside = try workplace.run(
            "push",
            "--encryption-password-file",
            target.path + "/key",
            target.path
        )
        #expect(inside.status == 2)
        #expect(inside.diagnostics.contains("in the mirrored directory"))
    }

    @Test func `stay encrypted when their configuration is lost`() throws {
        #expect(try workplace.run("push", source.path).status == 0)
        #expect(try workplace.shell("rm '\(source.path)/.osssync/config'").status == 0)
        let elsewhere = workplace.remote + "-2"
        for words in [
            ["push", source.path, workplace.remote], ["push", "--rebind", source.path, elsewhere],
            ["init", "--rebind", source.path, elsewhere],
        ] {
            let result = try workplace.start(words).finish()
            #expect([2, 3].contains(result.status), "\(words)")
        }
    }

    /// Whoever has both could compute their difference.
    @Test func `has another nonce for a file that changed behind its time`() throws {
        try source.write("large", ramp(20 << 20))
        let file = source.path + "/large"
        let program = try workplace.start([
            "push", "--json", "--part-size", "1M", "--bwlimit", "4M", source.path,
        ])
        try #require(program.waitForLine { ResumeTests.finishedBytes($0) > 2 << 20 } != nil)
        program.send(SIGKILL)
        _ = program.finish()
        let change = """
            touch -r '\(file)' stamp && printf other | dd of='\(file)' bs=1 seek=15000000 \
            conv=notrunc 2>/dev/null && touch -r stamp '\(file)'
            """
        #expect(try workplace.shell(change).status == 0)
        let requests = try workplace.requests {
            let push = try workplace.run("push", "--part-size", "1M", source.path)
            #expect(push.status == 0, "\(push.diagnostics)")
        }
        let large = requests.filter { $0.key == "mirror/large" }.map(\.operation)
        #expect(large.contains("AbortMultipartUpload"))
        #expect(large.contains("InitiateMultipartUpload"))
        #expect(large.count { $0 == "UploadPart" } == 21)
        let target = try workplace.makeDirectory("target")
        try link(target)
        #expect(try workplace.run("pull", target.path).status == 0)
        #expect(target.content("large") == source.content("large"))
    }

    @Test func `goes on in the middle of a file, up and down`() throws {
        try source.write("large", ramp(40 << 20))
        let target = try workplace.makeDirectory("target")
        try link(target)
        for (command, tree) in [("push", source), ("pull", target)] {
            var kills = 0
            while kills < 3 {
                let program = try workplace.start([command, "--bwlimit", "40M", tree.path])
                _ = program.waitForLine(seconds: 0.4) { _ in false }
                program.send(SIGKILL)
                if program.finish().status == 0 { break }
                kills += 1
            }
            let result = try workplace.run(command, tree.path)
            #expect(result.status == 0, "\(result.diagnostics)")
        }
        #expect(try target.entries() == source.entries())
    }

    @Test func `is not opened with another password, nor switched on or off`() throws {
        #expect(try workplace.run("push", source.path).status == 0)
        #expect(try workplace.run("keygen", path("other")).status == 0)
        try source.write("f1", ramp(2))
        let other = ["push", "--encryption-password-file", path("other"), source.path]
        let requests = try workplace.requests {
            let result = try workplace.start(other).finish()
            #expect(result.status == 3)
            #expect(result.diagnostics.contains("another password"))
        }
        #expect(!requests.contains { $0.operation.hasPrefix("Put") })
        let file = source.path + "/.osssync/config"
        let lines = try String(contentsOfFile: file, encoding: .utf8)
        let plain = lines.split(separator: "\n").filter { !$0.hasPrefix("encryption") }
        try plain.joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
        let result = try workplace.run("push", source.path)
        #expect(result.status == 2)
        #expect(result.diagnostics.contains("has encrypted contents"))
        let forgotten = try workplace.run("push", source.path, environment: stranger)
        #expect(forgotten.status == 3)
        #expect(forgotten.diagnostics.contains("has encrypted contents"))
        #expect(try stored("f1").count == 32 + 16 + 1)
        try lines.write(toFile: file, atomically: false, encoding: .utf8)
        for command in ["init", "push"] {
            let elsewhere = try workplace.run(
                command,
                "--rebind",
                source.path,
                "oss://\(Workplace.bucket)/elsewhere"
            )
            #expect(elsewhere.status == 3)
            #expect(elsewhere.diagnostics.contains("would not be in"))
        }

        let ordinary = try workplace.makeDirectory("ordinary")
        try ordinary.write("a", ramp(10))
        let remote = "oss://\(Workplace.bucket)/ordinary"
        #expect(try workplace.run("push", ordinary.path, remote).status == 0)
        for rebind in [[], ["--rebind"]] {
            let arguments =
                ["init", "--encrypt", "--encryption-password-file", path("key")] + rebind
                + [ordinary.path, remote]
            #expect(try workplace.start(arguments).finish().status == 3)
        }
        #expect(try workplace.run("push", ordinary.path).status == 0)
    }

    @Test func `ends a run whose password fits nothing`() throws {
        for index in 0..<20 { try source.write("more\(index)", ramp(100, seed: index)) }
        #expect(try workplace.run("push", source.path).status == 0)
        #expect(try workplace.run("keygen", path("other")).status == 0)
        let target = try workplace.makeDirectory("target")
        try link(target, key: "other")
        let result = try workplace.run("pull", "--jobs", "1", target.path)
        #expect(result.status == 4)
        #expect(result.diagnostics.contains("password does not fit"))
        // Of an empty file there is nothing to decrypt.
        #expect(try target.entries().keys.allSatisfy { $0 == [UInt8]("f0".utf8) })
    }

    @Test func `names what is not encrypted or damaged, and neither takes nor replaces it`() throws
    {
        #expect(try workplace.run("push", source.path).status == 0)
        var damaged = try stored("f300000")
        damaged[70_000] ^= 1
        try store(damaged, as: "f300000")
        try store(ramp(10), as: "short")
        try store(ramp(100), as: "likely")
        try store(try stored("f131072"), as: "f65537")
        let target = try workplace.makeDirectory("target")
        try link(target)
        let pull = try workplace.run("pull", target.path)
        #expect(pull.status == 1)
        #expect(pull.diagnostics.contains("from byte 65536 of the content"))
        #expect(pull.diagnostics.contains("short: the object is not encrypted"))
        #expect(pull.diagnostics.contains("likely"))
        for name in ["f300000", "short", "likely"] { #expect(!target.exists(name)) }
        // A whole object in another one's place is not to be told from an older version of it.
        #expect(target.content("f65537") == ramp(131_072, seed: 131_072))
        for name in ["short", "likely"] { try target.write(name, ramp(52)) }
        let push = try workplace.run("push", target.path)
        #expect(push.status == 1)
        #expect(try stored("short") == ramp(10))
        #expect(try stored("likely") == ramp(100))
        #expect(try stored("f300000") == damaged)
        // Whose file is good can say so.
        for options in [["--on-conflict", "local"], ["--on-conflict", "local", "--force"]] {
            #expect(try stored("f300000") == damaged)
            _ = try workplace.start(["push"] + options + [source.path, "f300000"]).finish()
        }
        let repaired = try workplace.run("pull", target.path, "f300000")
        #expect(repaired.status == 0, "\(repaired.diagnostics)")
        #expect(target.content("f300000") == source.content("f300000"))
    }

    @Test func `moves with a rename, and its old versions come back from the trash`() throws {
        #expect(try workplace.run("push", source.path).status == 0)
        try source.rename("f300000", to: "renamed")
        try source.write("f65537", ramp(10))
        let push = try workplace.run(
            "push",
            "--delete",
            "--trash",
            "remote",
            "--part-size",
            "1M",
            "--json",
            source.path
        )
        #expect(push.status == 0, "\(push.diagnostics)")
        #expect(push.count("renamed") == 1)
        try source.remove("f65537")
        let again = try workplace.run("push", "--delete", "--trash", "remote", source.path)
        #expect(again.status == 0, "\(again.diagnostics)")
        let result = try workplace.run("restore", source.path, "f65537")
        #expect(result.status == 0, "\(result.diagnostics)")
        #expect(source.content("f65537") == ramp(10))
        let target = try workplace.makeDirectory("target")
        try link(target)
        #expect(try workplace.run("pull", target.path).status == 0)
        #expect(target.content("renamed") == ramp(300_000, seed: 300_000))
    }

    @Test func `keeps its password to itself`() throws {
        let secret = try String(contentsOfFile: path("key"), encoding: .utf8)
            .split(separator: "\n")
        #expect(secret.count == 2)
        #expect(try workplace.run("keygen", path("key")).status == 3)
        let push = try workplace.run(
            "push",
            "-vv",
            "--json",
            "--log-file",
            path("log"),
            source.path
        )
        #expect(push.status == 0, "\(push.diagnostics)")
        let found = try workplace.shell(
            "grep -rlF -e \(secret[0]) -e \(secret[1]) source home log requests.jsonl server"
        )
        #expect(found.output.isEmpty, "\(found.output)")
        #expect(!push.output.contains(secret[0]) && !push.diagnostics.contains(secret[0]))
        let exposed = try workplace.shell("chmod 640 key; osssync push source")
        #expect(exposed.status == 2)
        #expect(exposed.diagnostics.contains("is open to other users"))
        let command = try workplace.shell(
            "osssync push --encryption-password-command 'cat \(path("key"))' source"
        )
        #expect(command.status == 0, "\(command.diagnostics)")
    }
}
