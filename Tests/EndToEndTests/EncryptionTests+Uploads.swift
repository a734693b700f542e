import Foundation
import Testing

/// `put` to the prefix of a mirror with encrypted contents.
extension EncryptionTests {
    private func put(_ name: String, as object: String, _ options: String...) throws
        -> ProgramResult
    {
        try workplace.start(["put"] + options + [path(name), workplace.remote + "/" + object])
            .finish()
    }

    /// The mirror's password is known by what it has sent.
    private func push() throws {
        #expect(try workplace.run("push", source.path).status == 0)
    }

    @Test func `takes single files and streams, encrypted`() throws {
        try push()
        let target = try workplace.makeDirectory("target")
        try link(target)
        for size in Self.sizes {
            let content = ramp(size, seed: size + 1)
            try content.write(to: URL(fileURLWithPath: path("new")))
            let file = try put("new", as: "d/file\(size)", "--part-size", "256K")
            #expect(file.status == 0, "\(file.diagnostics)")
            let stream = try workplace.shell(
                "osssync put --json --part-size 256K - '\(workplace.remote)/d/stream\(size)' < new"
            )
            #expect(stream.status == 0, "\(stream.diagnostics)")
            // Of the stream, as of the file.
            #expect(stream.events.last?["size"] as? Int == size, "\(stream.output)")
            for name in ["d/file\(size)", "d/stream\(size)"] {
                let object = try stored(name)
                #expect(object.prefix(8) == Self.magic)
                #expect(object.count == 32 + size + 16 * ((size + 65_535) / 65_536))
                if size > 100 { #expect(object.range(of: content.prefix(64)) == nil) }
            }
        }
        let pull = try workplace.run("pull", target.path)
        #expect(pull.status == 0, "\(pull.diagnostics)")
        for size in Self.sizes {
            for name in ["d/file\(size)", "d/stream\(size)"] {
                #expect(target.content(name) == ramp(size, seed: size + 1), "\(name)")
            }
        }
        #expect(try put("new", as: "f17").status == 3)
        #expect(try put("new", as: "f17", "--force").status == 0)
        #expect(try workplace.run("pull", source.path).status == 0)
        #expect(source.content("f17") == FileManager.default.contents(atPath: path("new")))
    }

    @Test func `takes nothing that it could not encrypt with its own password`() throws {
        try ramp(1_000).write(to: URL(fileURLWithPath: path("new")))
        let early = try put("new", as: "new")
        #expect(early.status == 3 && early.diagnostics.contains("no run of"), "\(early)")
        try push()
        #expect(try workplace.run("keygen", path("other")).status == 0)
        let requests = try workplace.requests {
            // Another protocol is another store.
            let object = workplace.remote.replacing("oss://", with: "s3://") + "/new"
            let foreign = try workplace.run("put", path("new"), object)
            #expect(foreign.status == 2, "\(foreign.diagnostics)")
            _ = try workplace.shell("mv key right; cp other key")
            let wrong = try put("new", as: "new")
            #expect(wrong.status == 3 && wrong.diagnostics.contains("no run of"), "\(wrong)")
            _ = try workplace.shell("rm -f key")
            let none = try put("new", as: "new")
            #expect(none.status == 2 && none.diagnostics.contains("no such file"), "\(none)")
            _ = try workplace.shell("mv right key; mv source away")
            let away = try put("new", as: "new")
            #expect(away.status == 2 && away.diagnostics.contains("encrypted contents"), "\(away)")
            let url = try workplace.run("presign", "--method", "PUT", workplace.remote + "/new")
            #expect(url.status == 2 && url.diagnostics.contains("use 'osssync put'"), "\(url)")
        }
        #expect(requests.isEmpty)
    }

    @Test func `takes the rest of a file whose upload was killed`() throws {
        try push()
        let content = ramp(12 << 20)
        try content.write(to: URL(fileURLWithPath: path("new")))
        try workplace.setFaults(
            """
            [{"match": {"operation": "UploadPart", "from": 7},
              "effect": {"stallUpload": {"at": 1000}}}]
            """
        )
        let words = [
            "put", path("new"), workplace.remote + "/new", "--part-size", "1M", "-j", "2",
        ]
        let killed = try ResumeTests.interrupt(workplace, words, after: 4 << 20, signal: SIGKILL)
        #expect(killed.status == 128 + SIGKILL)
        try workplace.clearFaults()
        let requests = try workplace.requests {
            let result = try workplace.start(words + ["--json"]).finish()
            #expect(result.status == 0, "\(result.diagnostics)")
            #expect(result.items(action: "upload", state: "resumed").count == 1)
        }
        let parts = requests.filter { $0.operation == "UploadPart" }
        #expect(parts.count <= 9, "\(parts.count)")
        #expect(try workplace.run("pull", source.path).status == 0)
        #expect(source.content("new") == content)
    }
}
