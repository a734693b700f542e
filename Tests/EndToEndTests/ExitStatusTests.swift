import Foundation
import Glibc
import Testing

@Suite("Exit statuses", .serialized)
struct ExitStatusTests {
    private static let noKeys = [
        "OSS_ACCESS_KEY_ID": "", "OSS_ACCESS_KEY_SECRET": "",
        "ALIBABA_CLOUD_ECS_METADATA_DISABLED": "true",
    ]

    @Test func `an endpoint that nobody answers at is 6`() throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        #expect(try workplace.run("init", tree.path, workplace.remote).status == 0)
        // Port 1 of this machine; no listener has it.
        let result = try workplace.run(
            "push",
            tree.path,
            "--json",
            environment: ["OSS_ENDPOINT": "http://127.0.0.1:1"]
        )
        #expect(result.status == 6, "\(result.diagnostics)")
        #expect(result.events.last?["event"] as? String == "error")
        #expect(result.events.last?["exit"] as? Int == 6)
        #expect(result.diagnostics.contains("127.0.0.1 port 1"))
    }

    @Test func `what is no object store is 6, too`() throws {
        let page = "<html><body>Please log in</body></html>"
        let workplace = try Workplace(
            faults: """
                [{"match": {"operation": "ListObjectsV2"},
                  "effect": {"body": "\(page)"}}]
                """
        )
        let tree = try workplace.makeDirectory("tree")
        let result = try workplace.run("pull", tree.path, workplace.remote)
        #expect(result.status == 6, "\(result.diagnostics)")
        #expect(result.diagnostics.contains("did not answer as an object store"))
    }

    @Test func `a bucket that does not exist is 2, refused keys are 4`() throws {
        let workplace = try Workplace()
        let wrong = try workplace.run("ls", "oss://no-such-bucket", "--json")
        #expect(wrong.status == 2, "\(wrong.diagnostics)")
        #expect(wrong.events.last?["exit"] as? Int == 2)
        #expect((wrong.events.last?["request_id"] as? String)?.isEmpty == false)
        let secret = ["OSS_ACCESS_KEY_SECRET": "another-canary"]
        let denied = try workplace.run("ls", workplace.remote, environment: secret)
        #expect(denied.status == 4)
        #expect(denied.diagnostics.contains("Check the access key"))
        let none = try workplace.run("ls", workplace.remote, environment: Self.noKeys)
        #expect(none.status == 4)
        #expect(none.diagnostics.contains("set OSS_ACCESS_KEY_ID and OSS_ACCESS_KEY_SECRET"))
        for output in [denied, none] {
            #expect(!(output.output + output.diagnostics).contains("canary"))
        }
    }

    @Test func `secrets that others can read are 2`() throws {
        let workplace = try Workplace()
        let home = try workplace.makeDirectory("home")
        let keys = """
            access-key-id = \(Workplace.keyID)
            access-key-secret = \(Workplace.keySecret)

            """
        for name in [".config/osssync/config", ".ossutilconfig"] {
            try home.write(name, Data(("[default]\n" + keys).utf8))
            let path = home.path + "/" + name
            try home.setMode(name, 0o644)
            let open = try workplace.run("ls", workplace.remote, environment: Self.noKeys)
            #expect(open.status == 2)
            #expect(
                open.diagnostics == "osssync: '\(path)' holds secrets and is open to other users; "
                    + "run: chmod 600 '\(path)'\n"
            )
            // What the message says to do mends it.
            try home.setMode(name, 0o600)
            let bucket = "oss://\(Workplace.bucket)"
            let mended = try workplace.run("ls", bucket, environment: Self.noKeys)
            #expect(mended.status == 0, "\(mended.diagnostics)")
            try home.remove(name)
        }
    }

    @Test func `profiles choose the account`() throws {
        let workplace = try Workplace()
        let home = try workplace.makeDirectory("home")
        try home.write(
            ".config/osssync/config",
            Data(
                """
                [profile right]
                access-key-id = \(Workplace.keyID)
                access-key-secret = \(Workplace.keySecret)
                [profile wrong]
                access-key-id = \(Workplace.keyID)
                access-key-secret = another-canary
                """.utf8
            )
        )
        try home.setMode(".config/osssync/config", 0o600)
        func list(_ profile: String, _ environment: [String: String]) throws -> Int32 {
            let arguments = ["ls", "oss://\(Workplace.bucket)", "--profile", profile]
            return try workplace.start(arguments, environment: environment).finish().status
        }
        #expect(try list("right", Self.noKeys) == 0)
        #expect(try list("right", ["OSS_ACCESS_KEY_SECRET": "other"]) == 0)
        #expect(try list("wrong", [:]) == 4)
        #expect(try list("typo", [:]) == 2)
    }

    @Test func `plain http beyond this machine is 2, before any request`() throws {
        let workplace = try Workplace()
        let result = try workplace.run(
            "ls",
            workplace.remote,
            environment: ["OSS_ENDPOINT": "http://oss.example.com"]
        )
        #expect(result.status == 2)
        #expect(result.diagnostics.contains("--insecure-http"))
    }

    /// Waits until SIGHUP, the first of all signals, does not end the process by itself.
    private static func waitForHandlers(of program: RunningProgram) throws {
        let path = "/proc/\(program.processID)/status"
        for _ in 0..<10_000 {
            let status = try String(contentsOfFile: path, encoding: .utf8)
            let caught = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
            if let digit = caught?.last?.hexDigitValue, digit & 1 == 1 { return }
            _ = poll(nil, 0, 1)
        }
        Issue.record("no handlers")
    }

    @Test(arguments: [["--files-from"], ["--exclude-from"]])
    func `a signal ends a run that waits for a list from a pipe`(option: [String]) throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        let fifo = workplace.folder.path + "/fifo"
        try #require(unsafe mkfifo(fifo, 0o600) == 0)
        let arguments = ["push", tree.path, workplace.remote] + option
        let waiting = try workplace.start(arguments + [fifo])
        try Self.waitForHandlers(of: waiting)
        waiting.send(SIGHUP)
        #expect(waiting.finish().status == 143)
        let input = Pipe()
        let reading = try workplace.start(
            ["push", tree.path, workplace.remote, "--files-from", "-"],
            input: input.fileHandleForReading
        )
        try Self.waitForHandlers(of: reading)
        reading.send(SIGHUP)
        #expect(reading.finish().status == 143)
    }

    @Test(arguments: [[SIGINT], [SIGTERM, SIGHUP, SIGTERM], [SIGINT, SIGTERM]])
    func `a second Ctrl-C ends the program at once, the same signal sent on does not`(
        signals: [Int32]
    ) throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        for index in 0..<1_000 {
            try tree.write("a rather long name, to fill a pipe sooner, \(index)", Data())
        }
        let push = try workplace.run("push", tree.path, workplace.remote, "--jobs", "16")
        #expect(push.status == 0, "\(push.diagnostics)")
        // A terminal that nothing reads from: the program cannot end by itself.
        let pipe = Pipe()
        let program = try RunningProgram(
            URL(filePath: "/usr/bin/python3"),
            ["-c", Self.onTerminal, BuiltProducts.osssync.path, "ls", workplace.remote, "--json"],
            environment: workplace.environment,
            output: pipe.fileHandleForWriting
        )
        _ = try pipe.fileHandleForReading.read(upToCount: 1)
        for signal in signals {
            program.send(signal)
            while try Self.isPending(program.processID) { sched_yield() }
            #expect(program.isRunning)
        }
        program.send(SIGINT)
        #expect(program.finish().status == 130)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a reader that does not read keeps no program from ending`(signal: Int32) throws {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        for index in 0..<1_000 {
            try tree.write("a rather long name, to fill a pipe sooner, \(index)", Data())
        }
        let push = try workplace.run("push", tree.path, workplace.remote, "--jobs", "16")
        #expect(push.status == 0, "\(push.diagnostics)")
        for command in [["ls", workplace.remote], ["push", "-n", "-v", "--checksum", tree.path]] {
            for index in 0..<1_000 {
                try tree.write("a rather long name, to fill a pipe sooner, \(index)", Data([1]))
            }
            let pipe = Pipe()
            let program = try workplace.start(
                command + ["--json"],
                output: pipe.fileHandleForWriting
            )
            _ = try pipe.fileHandleForReading.read(upToCount: 1)
            program.send(signal)
            #expect(program.finish().status == (signal == SIGINT ? 130 : 143))
        }
    }

    /// Becomes a program whose output is a terminal, of which one byte is read.
    private static let onTerminal = """
        import os, pty, sys
        master, terminal = pty.openpty()
        waiting, alive = os.pipe()
        if os.fork() == 0:
            os.close(alive)
            os.close(terminal)
            os.write(1, os.read(master, 1))
            os.read(waiting, 1)
            os._exit(0)
        os.set_inheritable(alive, True)
        os.dup2(terminal, 1)
        os.execv(sys.argv[1], sys.argv[1:])
        """

    /// True while a signal waits for the process to take it.
    private static func isPending(_ process: Int32) throws -> Bool {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        return status.split(separator: "\n").contains { line in
            (line.hasPrefix("SigPnd:") || line.hasPrefix("ShdPnd:"))
                && line.dropFirst("SigPnd:".count).contains { $0 != "0" && !$0.isWhitespace }
        }
    }
}
