import Foundation
import SyncTestSupport
import Testing

@Suite("What is told of runs", .serialized)
struct NotificationTests {
    private let workplace: Workplace
    private let tree: Tree

    init() throws {
        workplace = try Workplace()
        tree = try workplace.makeDirectory("tree")
        try tree.write("a", ramp(100))
        try #require(try workplace.run("push", tree.path, workplace.remote).status == 0)
    }

    private static func document(_ request: ScriptedRequest) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(request.body))
        return object as? [String: Any] ?? [:]
    }

    private func push(_ arguments: String...) throws -> ProgramResult {
        try workplace.start(["push", tree.path] + arguments).finish()
    }

    @Test func `the summary is posted when a run ends`() throws {
        let server = ScriptedServer { _, _ in [.response("204 No Content")] }
        defer { server.stop() }
        let url = server.url + "/hook?token=canary"
        try tree.write("b", ramp(300))
        #expect(try push("--notify-url", url).status == 0)
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.target == "/hook?token=canary")
        #expect(request["content-type"] == "application/json")
        let told = try Self.document(request)
        #expect(told["event"] as? String == "summary" && told["direction"] as? String == "push")
        #expect(told["transferred"] as? Int == 1 && told["bytes"] as? Int == 300)
        #expect(told["exit"] as? Int == 0 && told["error"] == nil)
        #expect(told["directory"] as? String == tree.path)
        #expect(told["remote"] as? String == workplace.remote + "/")
        // Neither a dry run nor a good one, if only failures are asked for.
        #expect(try push("--notify-url", url, "--dry-run").status == 0)
        #expect(try push("--notify-url", url, "--notify-on", "failure").status == 0)
        #expect(server.requests.count == 1)
    }

    @Test func `a run that fails is told, too`() throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        for (index, options) in [["--notify-on", "failure"], []].enumerated() {
            let failed = try workplace.start(
                ["push", tree.path, "--notify-url", server.url] + options,
                environment: ["OSS_ACCESS_KEY_SECRET": "wrong"]
            ).finish()
            #expect(failed.status == 4)
            let told = try Self.document(server.requests[index])
            #expect(told["exit"] as? Int == 4)
            #expect((told["error"] as? String)?.isEmpty == false)
        }
    }

    @Test func `so is one that cannot begin, and nothing is in step then`() throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let run = try push("--notify-url", server.url, "--exclude-from", "absent")
        #expect(run.status == 2)
        let event = try Self.document(try #require(server.requests.first))
        #expect(event["exit"] as? Int == 2)
        #expect(event["in_step"] as? Bool == false)
        #expect(event["plan_complete"] as? Bool == false)
    }

    @Test(arguments: ["exclude-from = /nowhere/patterns", "unknown = 1", "[unknown]", "x"])
    func `so is one whose configuration cannot be used, and its metrics say so`(
        line: String
    ) throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let (log, metrics) = (workplace.folder.path + "/log", workplace.folder.path + "/metrics")
        let configuration = tree.path + "/.osssync/config"
        let old = try String(contentsOfFile: configuration, encoding: .utf8)
        let options = ["--metrics-file", metrics, "--log-file", log]
        try (old + line + "\n").write(toFile: configuration, atomically: false, encoding: .utf8)
        for command in ["push", "verify"] {
            let run = try workplace.start(
                [command, tree.path, "--notify-url", server.url + "/{exit}"] + options
            ).finish()
            #expect(run.status == 2, "\(run.diagnostics)")
            #expect(server.requests.last?.target == "/2")
            let told = try Self.document(try #require(server.requests.last))
            #expect((told["error"] as? String)?.isEmpty == false)
            let name = command == "push" ? "last_run" : "verify"
            let figures = try String(contentsOfFile: metrics, encoding: .utf8)
            #expect(figures.contains("osssync_\(name)_exit_code") && figures.contains(" 2\n"))
            #expect(try !String(contentsOfFile: log, encoding: .utf8).isEmpty)
            try FileManager.default.removeItem(atPath: metrics)
        }
        #expect(server.requests.count == 2)
    }

    @Test func `an address that does not answer is a warning without its secret`() throws {
        let refusing = ScriptedServer { _, _ in [.response("500 Internal Server Error")] }
        let gone = ScriptedServer { _, _ in [.reset] }
        defer {
            refusing.stop()
            gone.stop()
        }
        for (server, reason) in [(refusing, "it answered with status 500"), (gone, "connection")] {
            let log = workplace.folder.path + "/log"
            let run = try push("--notify-url", server.url + "/canary", "--log-file", log, "-v")
            #expect(run.status == 0, "\(run.diagnostics)")
            #expect(run.diagnostics.contains("warning: could not notify '127.0.0.1': "))
            #expect(run.diagnostics.contains(reason), "\(run.diagnostics)")
            #expect(!(run.diagnostics + run.output).contains("canary"))
            #expect(try !String(contentsOfFile: log, encoding: .utf8).contains("canary"))
        }
        for (url, reason) in [
            ("http://example.com/canary", "it is plain http to another host"),
            ("http://127.0.0.1@example.com/canary", "expected an https URL"),
            ("ftp://example.com/canary", "expected an https URL"),
            (#"http://127.0.0.1\@example.com/canary"#, "expected an https URL"),
        ] {
            let refused = try push("--notify-url", url)
            #expect(refused.status == 2, "\(url)")
            #expect(refused.diagnostics.contains(reason), "\(refused.diagnostics)")
            #expect(!refused.diagnostics.contains("canary"))
        }
    }

    @Test func `a service that watches timers tells failures from successes by the address`() throws
    {
        // As healthchecks.io counts: `/0` is a success, as is an address without a status.
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let own = workplace.folder.path + "/own"
        try "[default]\nnotify-url = \(server.url)/uuid/{exit}?{state}&{exit}\n"
            .write(toFile: own, atomically: false, encoding: .utf8)
        #expect(try push("--config", own).status == 0)
        #expect(try push("--config", own, "--exclude-from", "absent").status == 2)
        let failing = ["push", tree.path, "--config", own, "--notify-on", "failure"]
        #expect(try workplace.start(failing).finish().status == 0)
        let wrong = ["OSS_ACCESS_KEY_SECRET": "wrong"]
        #expect(try workplace.start(failing, environment: wrong).finish().status == 4)
        let targets = ["/uuid/0?success&0", "/uuid/2?failure&2", "/uuid/4?failure&4"]
        #expect(server.requests.map(\.target) == targets)
        for mark in ["{exi}", "{", "{exit", "{EXIT}"] {
            let refused = try push("--notify-url", server.url + "/canary/" + mark)
            #expect(refused.status == 2 && !refused.diagnostics.contains("canary"), "\(mark)")
        }
        #expect(try push("--notify-url", "http://{exit}.localhost/").status == 2)
        #expect(server.requests.count == targets.count)
    }

    @Test func `the user's own configuration can have the address, that of DIR cannot`() throws {
        let server = ScriptedServer { _, _ in [.response("200 OK")] }
        defer { server.stop() }
        let own = workplace.folder.path + "/own"
        try "[default]\nnotify-url = \(server.url)/own\n"
            .write(toFile: own, atomically: false, encoding: .utf8)
        #expect(try push("--config", own).status == 0)
        #expect(server.requests.map(\.target) == ["/own"])
        let configuration = tree.path + "/.osssync/config"
        let old = try String(contentsOfFile: configuration, encoding: .utf8)
        try (old + "[push]\nnotify-url = \(server.url)/theirs\n")
            .write(toFile: configuration, atomically: false, encoding: .utf8)
        let refused = try push()
        #expect(refused.status == 2)
        #expect(
            refused.diagnostics.contains("'notify-url' can only be given on the command line")
        )
        #expect(server.requests.count == 1)
    }
}
