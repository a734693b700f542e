import Foundation
import Glibc
import Testing

@Suite("An interrupted transfer", .serialized)
struct ResumeTests {
    static let size = 48 << 20
    static let part = 4 << 20
    static let streams = 4

    /// Bytes that a program reports as finished in a progress line.
    static func finishedBytes(_ line: String) -> Int {
        guard line.contains("\"progress\""),
            let event = (try? JSONSerialization.jsonObject(with: Data(line.utf8)))
                as? [String: Any]
        else { return 0 }
        return event["bytes_finished"] as? Int ?? 0
    }

    /// Runs until the transfer is stuck at the fault, then ends the program with `signal`.
    static func interrupt(
        _ workplace: Workplace,
        _ arguments: [String],
        after bytes: Int,
        signal: Int32
    ) throws -> ProgramResult {
        let program = try workplace.start(arguments + ["--json"])
        let line = program.waitForLine { finishedBytes($0) >= bytes }
        program.send(signal)
        let result = program.finish()
        try #require(line != nil, "no progress: \(result.output) \(result.diagnostics)")
        return result
    }

    @Test(arguments: [SIGKILL, SIGINT, SIGTERM])
    func `download goes on where it stopped`(signal: Int32) throws {
        // Every range after the sixth stops in its middle, once.
        let workplace = try Workplace(
            faults: """
                [{"match": {"operation": "GetObject", "from": 7},
                  "effect": {"stall": {"at": \(Self.part / 2)}}}]
                """
        )
        let source = try workplace.makeDirectory("source")
        try source.write("big", ramp(Self.size))
        #expect(
            try workplace.run("push", source.path, workplace.remote, "--part-size", "4M").status
                == 0
        )
        let target = try workplace.makeDirectory("target")
        let pull = ["pull", target.path, workplace.remote, "--part-size", "4M"]
        let killed = try Self.interrupt(
            workplace,
            pull,
            after: 6 * Self.part + Self.part,
            signal: signal
        )
        #expect(killed.status == 128 + signal)
        #expect(!target.exists("big"))
        if signal != SIGKILL {
            // All of it is still to be done, and what came need not come again.
            #expect(killed.count("bytes_left") == Self.size)
            #expect(killed.count("bytes_kept") >= 6 * Self.part, "\(killed.output.suffix(600))")
            #expect(killed.count("bytes_kept") < Self.size)
        }
        let first = try workplace.requests().filter { $0.operation == "GetObject" }

        try workplace.clearFaults()
        let resumed = try workplace.run("pull", target.path, "--part-size", "4M", "--json")
        #expect(resumed.status == 0, "\(resumed.diagnostics)")
        #expect(resumed.count("bytes_resumed") > 0)
        #expect(resumed.count("bytes_left") + resumed.count("bytes_kept") == 0)
        #expect(target.content("big") == ramp(Self.size))
        let all = try workplace.requests().filter { $0.operation == "GetObject" }
        let sent = all.reduce(0) { $0 + $1.bytesSent }
        #expect(first.count < all.count)
        // What the server handed to the socket and the client never read counts too.
        #expect(sent <= Self.size + Self.streams * (4 << 20), "\(sent - Self.size) bytes again")
    }

    @Test(arguments: [SIGKILL, SIGINT])
    func `upload goes on where it stopped`(signal: Int32) throws {
        let workplace = try Workplace(
            faults: """
                [{"match": {"operation": "UploadPart", "from": 7},
                  "effect": {"stallUpload": {"at": \(Self.part / 2)}}}]
                """
        )
        let source = try workplace.makeDirectory("source")
        try source.write("big", ramp(Self.size))
        let push = ["push", source.path, workplace.remote, "--part-size", "4M"]
        let killed = try Self.interrupt(
            workplace,
            push,
            after: 6 * Self.part,
            signal: signal
        )
        #expect(killed.status == 128 + signal)
        try workplace.clearFaults()
        let requests = try workplace.requests {
            let resumed = try workplace.run("push", source.path, "--part-size", "4M", "--json")
            #expect(resumed.status == 0, "\(resumed.diagnostics)")
            #expect(resumed.count("bytes_resumed") >= 2 * Self.part)
        }
        #expect(requests.contains { $0.operation == "ListParts" })
        #expect(!requests.contains { $0.operation == "InitiateMultipartUpload" })
        let sent = requests.filter { $0.operation == "UploadPart" }
            .reduce(0) { $0 + $1.bytesReceived }
        #expect(sent <= Self.size - 6 * Self.part + Self.streams * Self.part)
        let target = try workplace.makeDirectory("target")
        #expect(try workplace.run("pull", target.path, workplace.remote).status == 0)
        #expect(target.content("big") == ramp(Self.size))
    }

    @Test func `a lost answer to complete is settled without sending again`() throws {
        let workplace = try Workplace(
            faults: """
                [{"match": {"operation": "CompleteMultipartUpload", "occurrence": 1},
                  "effect": {"close": {"when": "after", "how": "rst"}}}]
                """
        )
        let source = try workplace.makeDirectory("source")
        try source.write("big", ramp(9 << 20))
        let push = try workplace.run(
            "push",
            source.path,
            workplace.remote,
            "--part-size",
            "4M",
            "--json"
        )
        #expect(push.status == 0, "\(push.diagnostics)")
        let requests = try workplace.requests()
        #expect(requests.count { $0.operation == "CompleteMultipartUpload" } == 1)
        #expect(requests.count { $0.operation == "UploadPart" } == 3)
    }
}
