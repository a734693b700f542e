import Foundation
import Glibc
import Testing

@Suite("What a run shows while it works", .serialized)
struct LiveRunTests {
    private static let held = #"""
        [{"match": {"operation": "PutObject", "key": "mirror/new"}, "effect": {"hold": true}}]
        """#

    private let workplace: Workplace
    private let tree: Tree
    private var page: String { workplace.folder.appendingPathComponent("page.html").path }
    private var pageText: String { (try? String(contentsOfFile: page, encoding: .utf8)) ?? "" }

    /// A mirror with a new file, whose upload the server holds.
    init() throws {
        workplace = try Workplace()
        tree = try workplace.makeDirectory("tree")
        try tree.write("a", ramp(100))
        try #require(try workplace.run("push", tree.path, workplace.remote).status == 0)
        try tree.write("new", ramp(200))
        try workplace.setFaults(Self.held)
    }

    /// A push that is held, and a program that follows it and has shown something.
    private func followed() throws -> (push: RunningProgram, follower: RunningProgram) {
        let push = try workplace.start(["push", tree.path, "--json", "--html", page])
        try #require(push.waitForLine { $0.contains(#""key":"new""#) } != nil)
        let follower = try workplace.start(["status", "--follow", "--json", tree.path])
        try #require(follower.waitForLine { $0.contains(#""event":"progress""#) } != nil)
        return (push, follower)
    }

    @Test func `a run is followed to its end, in status, a terminal's lines and a page`() throws {
        let (push, follower) = try followed()
        let live = tree.path + "/.osssync/live"
        let mode = try FileManager.default.attributesOfItem(atPath: live)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let status = try workplace.run("status", tree.path)
        #expect(status.output.contains("of 200 B, "), "\(status.output)")
        let event = try workplace.run("status", "--json", tree.path).events.last
        let running = try #require(event?["running"] as? [String: Any])
        #expect(running["items"] as? Int == 1 && running["bytes"] as? Int == 200)
        #expect(pageText.contains("<h2>Running at ") && pageText.contains("the run was killed"))
        // A run that finds the directory taken leaves the page as it is.
        let locked = try workplace.run("push", tree.path, "--html", page)
        #expect(locked.status == 75 && pageText.contains("<h2>Running at "))
        let other = try workplace.makeDirectory("other")
        let refused = try workplace.run("push", other.path, workplace.remote + "2", "--html", page)
        #expect(refused.status == 2)
        #expect(refused.diagnostics.contains("it is the page of another mirror"))
        #expect(pageText.contains(#"http-equiv="refresh""#))
        #expect(pageText.contains("Last complete run"))

        // Ctrl-C ends the watching only.
        let second = try workplace.start(["status", "--follow", "--json", tree.path])
        try #require(second.waitForLine { $0.contains(#""event":"progress""#) } != nil)
        second.send(SIGINT)
        #expect(second.finish().status == 0)

        try workplace.clearFaults()
        #expect(push.finish().status == 0)
        let followed = follower.finish()
        #expect(followed.status == 0)
        #expect(followed.events.last?["event"] as? String == "past_run")
        #expect(followed.events.last?["outcome"] as? String == "complete")
        #expect(!FileManager.default.fileExists(atPath: live))
        #expect(!pageText.contains("refresh") && !pageText.contains("Running at"))
        #expect(pageText.contains("What run 2 transferred") && pageText.contains("2 items, 300 B"))
        let none = try workplace.run("status", "--follow", tree.path)
        #expect(none.output == "'\(tree.path)': no run is active\n" && none.status == 0)
    }

    @Test func `what a killed run showed misleads nobody, and the next run removes it`() throws {
        let (push, follower) = try followed()
        push.send(SIGKILL)
        _ = push.finish()
        let followed = follower.finish()
        #expect(followed.events.last?["running"] as? Bool == false)
        let live = tree.path + "/.osssync/live"
        #expect(FileManager.default.fileExists(atPath: live))
        let status = try workplace.run("status", tree.path)
        #expect(!status.output.contains("elapsed"), "\(status.output)")
        #expect(
            try workplace.run("status", "--follow", tree.path).output.contains("no run is active")
        )
        try workplace.clearFaults()
        #expect(try workplace.run("push", tree.path).status == 0)
        #expect(!FileManager.default.fileExists(atPath: live))
    }

    @Test func `a copy that a conflict made stays on the page until it is gone`() throws {
        try workplace.clearFaults()
        try #require(try workplace.run("push", tree.path).status == 0)
        let other = try workplace.makeDirectory("other")
        try #require(try workplace.run("pull", other.path, workplace.remote).status == 0)
        try tree.write("a", ramp(101))
        try other.write("a", ramp(102))
        try #require(try workplace.run("push", tree.path).status == 0)
        for status in [1, 0, 0] {
            let sync = try workplace.run("sync", "--delete", other.path, "--html", page)
            #expect(sync.status == status)
            #expect(pageText.contains("conflict copy</b> <bdi>a.conflict-"))
        }
        #expect(pageText.contains("3 items, 403 B, after run 4"))
        #expect(pageText.contains("<polyline points="))
        let names = try FileManager.default.contentsOfDirectory(atPath: other.path)
        for name in names where name.contains(".conflict-") {
            try FileManager.default.removeItem(atPath: other.path + "/" + name)
        }
        #expect(try workplace.run("sync", "--delete", other.path, "--html", page).status == 0)
        #expect(!pageText.contains("conflict copy"))
    }

    @Test func `a run that fails and a verify write the page, and a dry run does not`() throws {
        try workplace.clearFaults()
        let dry = try workplace.run("push", "-n", tree.path, "--html", page)
        #expect(dry.status == 0 && pageText.isEmpty)
        #expect(dry.diagnostics == "osssync: a dry run does not write --html\n")
        #expect(try workplace.run("push", tree.path, "--html", "").status == 2)
        // Nothing can be signed.
        let failed = try workplace.run(
            "push",
            tree.path,
            "--html",
            page,
            environment: ["OSS_ACCESS_KEY_SECRET": "wrong"]
        )
        #expect(failed.status == 4)
        #expect(pageText.contains("✗ Failed: ") && pageText.contains("1 of 1 day"))
        try tree.write("a", ramp(100, seed: 9))
        try #require(try workplace.run("push", tree.path).status == 0)
        #expect(try workplace.run("verify", tree.path, "--html", page).status == 0)
        #expect(pageText.contains("<th>Verified</th><td>complete 2"))
        let folder = try workplace.run("push", tree.path, "--html", tree.path + "/page.html")
        #expect(folder.status == 2 && folder.diagnostics.contains("it is in the mirror"))
        let follow = try workplace.run("status", "--follow", tree.path, "a")
        #expect(follow.status == 2)
    }
}
