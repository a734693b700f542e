import Foundation
import Testing

/// Single objects of a mirror with encrypted contents: `get`, and `restore --to`.
extension EncryptionTests {
    private func content(_ name: String) -> Data? {
        FileManager.default.contents(atPath: path(name))
    }

    /// `osssync get` of an object to the file `got`, which is gone before.
    private func get(
        _ name: String,
        _ options: String = "",
        by environment: [String: String] = [:]
    ) throws -> ProgramResult {
        _ = try workplace.shell("rm -f got")
        return try workplace.start(
            ["get"] + options.split(separator: " ").map(String.init)
                + ["\(workplace.remote)/\(name)", path("got")],
            environment: environment
        ).finish()
    }

    @Test func `gives single objects to whoever has the password`() throws {
        #expect(try workplace.run("push", "--part-size", "1M", source.path).status == 0)
        for size in Self.sizes {
            let result = try get("f\(size)", "--part-size 100K")
            #expect(result.status == 0, "\(result.diagnostics)")
            #expect(!result.diagnostics.contains("checksum"), "\(result.diagnostics)")
            #expect(content("got") == ramp(size, seed: size), "\(size)")
        }
        let name = "f\((3 << 20) + 7)"
        // Without the mirror, with its passwords.
        let words = "--encryption-password-file \(path("key"))"
        #expect(try get(name, words, by: stranger).status == 0)
        #expect(content("got") == source.content(name))
        for size in Self.sizes {
            let piped = try workplace.shell(
                "osssync get --part-size 100K '\(workplace.remote)/f\(size)' - > got"
            )
            #expect(piped.status == 0 && piped.diagnostics.isEmpty, "\(piped.diagnostics)")
            #expect(content("got") == ramp(size, seed: size), "\(size)")
        }
        let signed = try workplace.shell(
            "HOME='\(path("elsewhere"))' osssync get --encryption-password-command 'cat key' "
                + "\"$(osssync presign '\(workplace.remote)/\(name)')\" signed"
        )
        #expect(signed.status == 0, "\(signed.diagnostics)")
        #expect(content("signed") == source.content(name))
    }

    /// Neither machine has recorded what the other sent.
    @Test func `takes links that both sides have for equal, and no others`() throws {
        let other = try workplace.makeDirectory("other")
        try link(other)
        for tree in [source, other] {
            for name in ["one", "two"] {
                let target = name == "two" && tree.path == other.path ? "f1" : "f0"
                try FileManager.default.createSymbolicLink(
                    atPath: tree.path + "/" + name,
                    withDestinationPath: target
                )
            }
        }
        #expect(try workplace.run("push", "--links", "store", source.path).status == 0)
        let first = try workplace.run("sync", "--links", "store", other.path)
        #expect(first.status == 1 && first.diagnostics.contains("two"), "\(first.diagnostics)")
        #expect(!first.diagnostics.contains("conflict: one"), "\(first.diagnostics)")
        let second = try workplace.run("pull", "--links", "store", "--force", other.path)
        #expect(second.status == 0, "\(second.diagnostics)")
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: other.path + "/two")
        #expect(target == "f0")
    }

    @Test func `gives nothing of an object that is not what was encrypted`() throws {
        #expect(try workplace.run("push", source.path).status == 0)
        #expect(try workplace.run("keygen", path("other")).status == 0)
        var damaged = try stored("f300000")
        damaged[70_000] ^= 1
        try store(damaged, as: "f300000")
        try store(ramp(1_000), as: "plain")
        try store(Data(), as: "nothing")
        try store(ramp(32), as: "hollow")
        for name in ["f300000", "plain", "nothing", "hollow"] {
            let result = try get(name)
            #expect(result.status == 1, "\(name): \(result)")
            #expect(content("got") == nil, "\(name)")
            #expect(!result.diagnostics.isEmpty)
        }
        for name in ["f1", "f131072"] {
            let result = try get(name, "--encryption-password-file \(path("other"))")
            #expect(result.status == 1)
            #expect(result.diagnostics.contains("another password"), "\(result.diagnostics)")
            #expect(content("got") == nil)
        }
        let piped = try workplace.shell("osssync get '\(workplace.remote)/f300000' - > got")
        #expect(piped.status == 1)
        #expect(content("got")?.isEmpty == true)
        // The password of a directory that is not there.
        _ = try workplace.shell("mv source away")
        let away = try get("f1")
        #expect(away.status == 2 && away.diagnostics.contains("has encrypted contents"))
        #expect(try stored("f300000") == damaged)
    }

    @Test func `continues the download of an object`() throws {
        try source.write("large", ramp(12 << 20))
        #expect(try workplace.run("push", source.path).status == 0)
        // The four streams get the first four ranges, and nothing of the next.
        let faults = (4..<8).map { part in
            """
            {"match": {"operation": "GetObject", "rangeStart": \(32 + part * 16 * 65_552)},
             "effect": {"stall": {"at": 1000}}}
            """
        }
        try workplace.setFaults("[" + faults.joined(separator: ",") + "]")
        let words = [
            "get", workplace.remote + "/large", path("got"), "--part-size", "1M", "-j", "4",
        ]
        let killed = try ResumeTests.interrupt(workplace, words, after: 3 << 20, signal: SIGKILL)
        #expect(killed.status == 128 + SIGKILL)
        #expect(content("got") == nil)
        try workplace.clearFaults()
        let requests = try workplace.requests {
            let result = try workplace.start(words + ["--json"]).finish()
            #expect(result.status == 0, "\(result.diagnostics)")
            #expect(result.items(action: "download", state: "resumed").count == 1)
        }
        let sent = requests.filter { $0.operation == "GetObject" }.reduce(0) { $0 + $1.bytesSent }
        #expect(sent <= 10 << 20, "\(sent)")
        #expect(content("got") == source.content("large"))
    }

    @Test func `restores objects to other places`() throws {
        try source.write("d/a", ramp(70_000, seed: 1))
        try source.write("d/e/b", Data())
        #expect(try workplace.run("push", source.path).status == 0)
        // What is here, too, comes to a place outside only.
        try source.remove("f300000")
        try source.remove("d/a")
        try source.remove("d/e/b")
        for to in [path("out"), "beside"] {
            let file = try workplace.run("restore", source.path, "f300000", "--to", to + "-f")
            #expect(file.status == 0, "\(file.diagnostics)")
            let directory = try workplace.run("restore", source.path, "d", "--to", to + "-d")
            #expect(directory.status == 0, "\(directory.diagnostics)")
        }
        for place in ["out", "source/beside"] {
            #expect(content(place + "-f") == ramp(300_000, seed: 300_000), "\(place)")
            #expect(content(place + "-d/a") == ramp(70_000, seed: 1), "\(place)")
            #expect(content(place + "-d/e/b") == Data(), "\(place)")
        }
        // An older version, from the trash of the bucket.
        try source.write("f300000", ramp(10))
        #expect(
            try workplace.run("push", "--trash", "remote", source.path).status == 0
        )
        let old = try workplace.run("restore", source.path, "f300000", "--to", path("old"))
        #expect(old.status == 0, "\(old.diagnostics)")
        #expect(content("old") == ramp(300_000, seed: 300_000))
        var damaged = try stored("f65537")
        damaged[65_600] ^= 1
        try store(damaged, as: "f65537")
        let result = try workplace.run("restore", source.path, "f65537", "--to", path("bad"))
        #expect(result.status == 1)
        #expect(result.output.contains("damaged") || result.diagnostics.contains("damaged"))
        #expect(content("bad") == nil)
    }
}
