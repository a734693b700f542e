import Foundation
import Glibc
import Testing

@Suite("Single objects", .serialized)
struct SingleObjectTests {
    private static let size = 12 << 20
    private static let object = "oss://\(Workplace.bucket)/films/film.mov"

    /// The four streams of a download get the first four ranges, and nothing of the next.
    private static let stalledDownload =
        "["
        + (4..<8).map { part in
            """
            {"match": {"operation": "GetObject", "rangeStart": \(part << 20)},
             "effect": {"stall": {"at": 1000}}}
            """
        }.joined(separator: ",") + "]"

    private static let stalledUpload = """
        [{"match": {"operation": "UploadPart", "from": 6},
          "effect": {"stallUpload": {"at": 1000}}}]
        """

    /// A server that has the object, and a directory to fetch it into.
    private func stored(faults: String? = nil) throws -> (Workplace, Tree) {
        let workplace = try Workplace(faults: faults)
        let tree = try workplace.makeDirectory("tree")
        try tree.write("film.mov", ramp(Self.size))
        let put = try workplace.run("put", tree.path + "/film.mov", Self.object)
        try #require(put.status == 0, "\(put.diagnostics)")
        try tree.remove("film.mov")
        return (workplace, tree)
    }

    private func curl(_ arguments: String...) throws -> ProgramResult {
        try RunningProgram(
            URL(fileURLWithPath: "/usr/bin/curl"),
            ["-sS"] + arguments,
            environment: ["PATH": "/usr/bin:/bin"]
        ).finish()
    }

    @Test func `come back identical, and nothing is replaced unasked`() throws {
        let (workplace, tree) = try stored()
        let file = tree.path + "/film.mov"
        let get = try workplace.run("get", Self.object, file)
        #expect(get.status == 0, "\(get.diagnostics)")
        #expect(get.output == "downloaded '\(file)' (12.0 MiB)\n")
        #expect(tree.content("film.mov") == ramp(Self.size))

        let absent = try workplace.run("put", tree.path + "/flim.mov", Self.object)
        #expect(absent.status == 5)
        #expect(absent.diagnostics.contains("/flim.mov': it does not exist; check its name"))

        try tree.write("film.mov", ramp(10))
        let refused = try workplace.run("get", Self.object, file)
        #expect(refused.status == 3)
        #expect(refused.diagnostics.contains("the file already exists"))
        #expect(refused.diagnostics.contains("--force"))
        #expect(tree.content("film.mov") == ramp(10))
        let requests = try workplace.requests {
            let put = try workplace.run("put", file, Self.object)
            #expect(put.status == 3)
            #expect(put.diagnostics.contains("'\(Self.object)' already exists"))
        }
        #expect(!requests.contains { $0.bytesReceived > 1_000 })
        #expect(try workplace.run("put", "--force", file, Self.object).status == 0)
        // A directory takes the object's name, and a prefix the file's.
        #expect(try workplace.run("get", "--force", Self.object, tree.path).status == 0)
        #expect(tree.content("film.mov") == ramp(10))
        let other = "oss://\(Workplace.bucket)/other/"
        #expect(try workplace.run("put", file, other).status == 0)
        let list = try workplace.run("ls", other, "--json").events
        #expect(list.map { $0["key"] as? String } == ["other/film.mov"])

        let missing = try workplace.run("get", Self.object + "x", tree.path + "/none")
        #expect(missing.status == 1)
        // The ID of the request is for the service's support.
        let message = "osssync: there is no object '\(Self.object)x' (request "
        #expect(missing.diagnostics.hasPrefix(message))
        for wrong in [
            ["get", other, file], ["put", tree.path, other], ["get", "film.mov", file],
        ] {
            #expect(try workplace.start(wrong).finish().status == 2, "\(wrong)")
        }
    }

    @Test(arguments: [SIGINT, SIGKILL])
    func `a download goes on where it stopped, by whatever path`(signal: Int32) throws {
        let (workplace, tree) = try stored(faults: Self.stalledDownload)
        let file = tree.path + "/film.mov"
        let killed = try ResumeTests.interrupt(
            workplace,
            ["get", Self.object, file, "--part-size", "1M", "-j", "4"],
            after: 4 << 20,
            signal: signal
        )
        #expect(killed.status == 128 + signal)
        #expect(!tree.exists("film.mov"))
        try workplace.clearFaults()
        // The same file from within its directory.
        let requests = try workplace.requests {
            let again = try workplace.shell(
                "cd tree && osssync get \(Self.object) ./film.mov --part-size 1M -j 4 --json"
            )
            #expect(again.status == 0, "\(again.diagnostics)")
            #expect(again.items(action: "download", state: "resumed") == [Self.object])
            #expect(again.items(action: "download", state: "done") == [Self.object])
        }
        let sent = requests.filter { $0.operation == "GetObject" }.reduce(0) { $0 + $1.bytesSent }
        #expect(sent <= Self.size - (2 << 20), "\(sent)")
        #expect(tree.content("film.mov") == ramp(Self.size))
        #expect(try FileManager.default.contentsOfDirectory(atPath: tree.path) == ["film.mov"])
        #expect(try workplace.records() == [])
    }

    @Test(arguments: [SIGINT, SIGKILL])
    func `an upload goes on where it stopped`(signal: Int32) throws {
        let workplace = try Workplace(faults: Self.stalledUpload)
        let tree = try workplace.makeDirectory("tree")
        try tree.write("film.mov", ramp(Self.size))
        let put = ["put", tree.path + "/film.mov", Self.object, "--part-size", "1M"]
        let killed = try ResumeTests.interrupt(workplace, put, after: 5 << 20, signal: signal)
        #expect(killed.status == 128 + signal)
        try workplace.clearFaults()
        let requests = try workplace.requests {
            let again = try workplace.start(put + ["--json"]).finish()
            #expect(again.status == 0, "\(again.diagnostics)")
            #expect(again.items(action: "upload", state: "resumed") == [Self.object])
        }
        #expect(!requests.contains { $0.operation == "InitiateMultipartUpload" })
        let sent = requests.filter { $0.operation == "UploadPart" }
            .reduce(0) { $0 + $1.bytesReceived }
        // Of five parts that were begun and four streams, one at least was whole.
        #expect(sent < Self.size, "\(sent)")
        #expect(try workplace.records() == [])
        let copy = tree.path + "/copy"
        #expect(try workplace.run("get", Self.object, copy).status == 0)
        #expect(tree.content("copy") == ramp(Self.size))
    }

    @Test func `a signed URL serves curl, and get by itself`() throws {
        let (workplace, tree) = try stored()
        func sign(_ arguments: String...) throws -> String {
            let result = try workplace.start(["presign"] + arguments).finish()
            #expect(result.status == 0, "\(result.diagnostics)")
            return result.output.trimmingCharacters(in: .newlines)
        }
        let url = try sign(Self.object)
        let head = try sign("--method", "HEAD", Self.object)
        let copy = tree.path + "/copy"
        #expect(try curl("-f", "-o", copy, url).status == 0)
        #expect(tree.content("copy") == ramp(Self.size))
        #expect(try curl("-f", "-I", head).output.contains("Content-Length: \(Self.size)"))
        #expect(try curl("-f", "-I", url).status != 0)
        let written = "oss://\(Workplace.bucket)/written"
        let put = try sign("--method", "PUT", "--expires", "90s", written)
        #expect(put.contains("x-oss-expires=90&"))
        #expect(try curl("-f", "-T", copy, put).status == 0)
        let delete = try sign("--method", "DELETE", written)
        #expect(try curl("-f", "-X", "DELETE", delete).status == 0)
        #expect(try workplace.run("get", written, tree.path + "/none").status == 1)

        // Whoever has the URLs needs no keys.
        let bare = ["HOME": workplace.environment["HOME"] ?? "", "PATH": "/usr/bin:/bin"]
        let get = try RunningProgram(
            BuiltProducts.osssync,
            ["get", url, tree.path + "/film.mov", "--head-url", head, "--json", "-vv"],
            environment: bare
        ).finish()
        #expect(get.status == 0, "\(get.diagnostics)")
        #expect(tree.content("film.mov") == ramp(Self.size))
        #expect(!(get.output + get.diagnostics).contains("signature"))
        let place = url.prefix { $0 != "?" }
        #expect(get.items(action: "download", state: "done") == [String(place)])
        let forged = url.dropLast(4) + "0000"
        let refused = try workplace.run("get", String(forged), tree.path + "/forged")
        #expect(refused.status == 4, "\(refused.diagnostics)")
        #expect(!(refused.output + refused.diagnostics).contains("signature="))

        for wrong in ["0s", "8d", "30", "1w", "-5s"] {
            let result = try workplace.run("presign", "--expires", wrong, Self.object)
            #expect(result.status == 2, "\(wrong)")
        }
        #expect(try workplace.run("presign", "oss://\(Workplace.bucket)/p/").status == 2)
    }

    @Test func `unfinished uploads are shown, and aborted only when they are old`() throws {
        let workplace = try Workplace()
        try workplace.beginUpload("films/a\u{1B}b")
        try workplace.beginUpload("other/c")
        let films = "oss://\(Workplace.bucket)/films"
        let shown = try workplace.run("uploads", films)
        #expect(shown.status == 0)
        let fields = shown.output.split { $0 == " " || $0 == "\n" }
        #expect(fields.count == 4)
        #expect(fields.first?.count == "2026-01-02".count)
        #expect(fields.last == "films/a\\x1Bb")
        #expect(try workplace.run("uploads", films, "--older-than", "1h").output.isEmpty)
        let kept = try workplace.run("uploads", films, "--abort")
        #expect(kept.output == "aborted 0 uploads; 1 younger\n")
        let requests = try workplace.requests {
            let dropped = try workplace.run(
                "uploads",
                films,
                "--abort",
                "--older-than",
                "0s",
                "--json"
            )
            #expect(dropped.events.map { $0["aborted"] as? Bool } == [true])
        }
        #expect(requests.map(\.operation) == ["ListMultipartUploads", "AbortMultipartUpload"])
        #expect(try workplace.run("uploads", films).output.isEmpty)
        // What is beneath another prefix was nobody's business.
        let rest = try workplace.run("uploads", "oss://\(Workplace.bucket)", "--json").events
        #expect(rest.map { $0["key"] as? String } == ["other/c"])
    }
}

extension Workplace {
    /// The records of unfinished single transfers.
    func records() throws -> [String] {
        let home = environment["HOME"] ?? ""
        return try FileManager.default.contentsOfDirectory(
            atPath: home + "/.local/state/osssync/transfers"
        )
    }

    /// Begins a multipart upload that nobody goes on with.
    ///
    /// All its parts but one are stuck until the program is ended.
    func beginUpload(_ key: String) throws {
        try setFaults(
            """
            [{"match": {"operation": "UploadPart", "from": 2},
              "effect": {"stallUpload": {"at": 1000}}}]
            """
        )
        let tree = try makeDirectory("unfinished")
        try tree.write("file", ramp(3 << 20))
        let target = "oss://\(Self.bucket)/\(key)"
        _ = try ResumeTests.interrupt(
            self,
            ["put", tree.path + "/file", target, "--part-size", "1M"],
            after: 1 << 20,
            signal: SIGKILL
        )
        try clearFaults()
    }
}
