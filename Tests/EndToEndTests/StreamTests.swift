import Foundation
import Glibc
import Testing

@Suite("Streams", .serialized)
struct StreamTests {
    private static let object = "oss://\(Workplace.bucket)/dumps/db.sql"

    /// A server and a directory `tree` with a file `in` of this size.
    private func made(_ size: Int, faults: String? = nil) throws -> (Workplace, Tree) {
        let workplace = try Workplace(faults: faults)
        let tree = try workplace.makeDirectory("tree")
        try tree.write("in", ramp(size))
        return (workplace, tree)
    }

    @Test(arguments: [0, 1, 102_400, 102_401, 1_500_000])
    func `come back as they were sent`(size: Int) throws {
        let (workplace, tree) = try made(size)
        let requests = try workplace.requests {
            let put = try workplace.shell(
                "cat tree/in | osssync put - \(Self.object) --part-size 100K"
            )
            #expect(put.status == 0, "\(put.diagnostics)")
            #expect(put.output.hasPrefix("uploaded '\(Self.object)' ("))
        }
        let isWhole = size <= 102_400
        #expect(requests.contains { $0.operation == "PutObject" } == isWhole)
        #expect(requests.contains { $0.operation == "CompleteMultipartUpload" } == !isWhole)
        let get = try workplace.shell(
            "osssync get \(Self.object) - --part-size 100K -v > tree/out"
        )
        #expect(get.status == 0, "\(get.diagnostics)")
        #expect(tree.content("out") == ramp(size))
        let home = workplace.folder.appendingPathComponent("home").path
        #expect(!FileManager.default.fileExists(atPath: home))
    }

    @Test func `a lost connection continues at the byte where it was`() throws {
        let (workplace, tree) = try made(3_000_000)
        let put = try workplace.shell("osssync put - \(Self.object) < tree/in")
        try #require(put.status == 0, "\(put.diagnostics)")
        try workplace.setFaults(
            """
            [{"match": {"operation": "GetObject", "occurrence": 2},
              "effect": {"cut": {"at": 700000, "how": "rst"}}}]
            """
        )
        let requests = try workplace.requests {
            let get = try workplace.shell(
                "osssync get \(Self.object) - --part-size 1M -j 1 > tree/out"
            )
            #expect(get.status == 0, "\(get.diagnostics)")
        }
        let reads = requests.filter { $0.operation == "GetObject" }
        #expect(reads.count == 4)
        #expect(reads.reduce(0) { $0 + $1.bytesSent } == 3_000_000)
        #expect(tree.content("out") == ramp(3_000_000))
    }

    @Test func `an object that is replaced meanwhile is an error`() throws {
        let (workplace, _) = try made(3_000_000)
        let put = try workplace.shell("osssync put - \(Self.object) < tree/in")
        try #require(put.status == 0, "\(put.diagnostics)")
        try workplace.setFaults(
            """
            [{"match": {"operation": "GetObject", "occurrence": 2},
              "effect": {"replaceObject": {"at": 0}}}]
            """
        )
        let get = try workplace.shell("osssync get \(Self.object) - --part-size 1M -j 1 > tree/out")
        #expect(get.status == 1)
        let message =
            "osssync: 'dumps/db.sql' was replaced while it was read; the output is incomplete; "
            + "download it again (request "
        #expect(get.diagnostics.hasPrefix(message))
    }

    @Test func `damaged content is reported, and its end is not written`() throws {
        let (workplace, tree) = try made(3_000_000)
        let put = try workplace.shell("osssync put - \(Self.object) < tree/in")
        try #require(put.status == 0, "\(put.diagnostics)")
        try workplace.setFaults(
            """
            [{"match": {"operation": "GetObject", "occurrence": 2}, "effect": {"flip": 1000}}]
            """
        )
        let get = try workplace.shell("osssync get \(Self.object) - --part-size 1M -j 1 > tree/out")
        #expect(get.status == 1)
        #expect(get.diagnostics.contains("the content does not match the checksum"))
        #expect(tree.content("out")?.count == 2 << 20)
    }

    @Test func `a reader that stops early hears nothing`() throws {
        let (workplace, _) = try made(3_000_000)
        let put = try workplace.shell("osssync put - \(Self.object) < tree/in")
        try #require(put.status == 0, "\(put.diagnostics)")
        let head = try workplace.shell("osssync get \(Self.object) - --part-size 1M | head -c 10")
        #expect(head.status == 1)
        #expect(head.output.utf8.count >= 10)
        #expect(head.diagnostics.isEmpty)
        let closed = try workplace.shell("osssync get \(Self.object) - >&-")
        #expect(closed.status == 5)
        #expect(closed.diagnostics.contains("standard output"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `an interrupted input leaves no upload`(signal: Int32) throws {
        let (workplace, _) = try made(0)
        let pipe = Pipe()
        let put = try workplace.start(
            ["put", "-", Self.object, "--part-size", "100K", "--json"],
            input: pipe.fileHandleForReading
        )
        try pipe.fileHandleForWriting.write(contentsOf: ramp(1_000_000))
        let line = put.waitForLine { ResumeTests.finishedBytes($0) > 0 }
        put.send(signal)
        let result = put.finish()
        #expect(line != nil, "\(result.output)")
        #expect(result.status == 128 + signal)
        #expect(result.diagnostics.contains("nothing was stored"))
        try pipe.fileHandleForWriting.close()
        #expect(try workplace.requests().contains { $0.operation == "InitiateMultipartUpload" })
        let uploads = try workplace.run("uploads", "oss://\(Workplace.bucket)")
        #expect(uploads.output.isEmpty, "\(uploads.output)")
        #expect(try workplace.run("get", Self.object, "-").status == 1)
    }

    @Test func `an upload that fails is aborted`() throws {
        let (workplace, _) = try made(
            1_000_000,
            faults: """
                [{"match": {"operation": "UploadPart", "part": 3},
                  "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
                """
        )
        let put = try workplace.shell("osssync put - \(Self.object) --part-size 100K < tree/in")
        #expect(put.status == 4, "\(put.diagnostics)")
        #expect(try workplace.run("uploads", "oss://\(Workplace.bucket)").output.isEmpty)
        let failed = try workplace.shell("osssync put - \(Self.object) < tree")
        #expect(failed.status == 5)
        #expect(failed.diagnostics.contains("standard input"))
    }

    @Test func `a lost answer to the last request is resolved`() throws {
        let (workplace, tree) = try made(
            1_000_000,
            faults: """
                [{"match": {"operation": "CompleteMultipartUpload"},
                  "effect": {"close": {"when": "after", "how": "rst"}}}]
                """
        )
        let put = try workplace.shell("osssync put - \(Self.object) --part-size 100K < tree/in")
        #expect(put.status == 0, "\(put.diagnostics)")
        try workplace.clearFaults()
        #expect(try workplace.run("get", Self.object, tree.path + "/out").status == 0)
        #expect(tree.content("out") == ramp(1_000_000))
    }

    @Test func `nothing is replaced unasked, and what makes no sense is refused`() throws {
        let (workplace, _) = try made(1_000)
        #expect(try workplace.shell("osssync put - \(Self.object) < tree/in").status == 0)
        let refused = try workplace.shell("echo other | osssync put - \(Self.object)")
        #expect(refused.status == 3)
        #expect(refused.diagnostics.contains("already exists and was not replaced"))
        let forced = try workplace.shell("echo other | osssync put - \(Self.object) --force")
        #expect(forced.status == 0)
        #expect(try workplace.run("get", Self.object, "-").output == "other\n")
        let nameless = try workplace.run("put", "-", "oss://\(Workplace.bucket)/dumps/")
        #expect(nameless.status == 2)
        #expect(nameless.diagnostics.contains("standard input has no name"))
        let mixed = try workplace.run("get", Self.object, "-", "--json")
        #expect(mixed.status == 2)
        #expect(mixed.output.isEmpty)
        let missing = try workplace.run("get", Self.object + "x", "-")
        #expect(missing.status == 1)
        let message = "osssync: there is no object '\(Self.object)x' (request "
        #expect(missing.diagnostics.hasPrefix(message))
    }
}
