import Foundation
import Testing

/// The directory of a command, and what its own configuration says.
@Suite("The directory of a command", .serialized)
struct DirectoryTests {
    private let workplace: Workplace
    private let tree: Tree
    private var configuration: String { tree.path + "/.osssync/config" }

    init() throws {
        workplace = try Workplace()
        tree = try workplace.makeDirectory("tree")
        try tree.write("a/b/x", Data("x".utf8))
        let linked = try workplace.run("init", tree.path, workplace.remote)
        try #require(linked.status == 0, "\(linked.diagnostics)")
    }

    private func append(_ text: String) throws {
        let old = try String(contentsOfFile: configuration, encoding: .utf8)
        try (old + text).write(toFile: configuration, atomically: false, encoding: .utf8)
    }

    @Test func `is the mirror that holds the current one`() throws {
        for place in ["tree", "tree/a/b"] {
            let status = try workplace.shell("cd \(place); osssync status")
            #expect(status.status == 0, "\(status.diagnostics)")
            #expect(status.output.contains("push would: upload 1 item"))
        }
        let pushed = try workplace.shell("cd tree/a; osssync push")
        #expect(pushed.status == 0, "\(pushed.diagnostics)")
        let outside = try workplace.shell("osssync pull")
        #expect(outside.status == 2)
        #expect(outside.diagnostics.contains("the current directory is not in a mirror"))
        // A mirror within a mirror is the nearer one.
        let inner = "osssync init tree/a/b \(workplace.remote)/inner"
        #expect(try workplace.shell(inner).status == 0)
        let nearer = try workplace.shell("cd tree/a/b; osssync status")
        #expect(nearer.output.contains("mirror/inner/"), "\(nearer.output)")
    }

    @Test func `is told from a path within it`() throws {
        for path in ["tree/a", "tree/a/b/x", "tree/not/there", "tree/a/../a/b"] {
            let result = try workplace.shell("osssync doctor \(path)")
            #expect(result.status == 2, "\(path): \(result.diagnostics)")
            #expect(result.diagnostics.contains("cannot be limited to a path"))
        }
        let requests = try workplace.requests {
            for line in ["pull tree/a", "push -n tree/new/one", "sync tree/a/../a"] {
                let refused = try workplace.shell("osssync \(line) \(workplace.remote)/own")
                #expect(refused.status == 2, "\(line)")
                #expect(refused.diagnostics.contains("inside the mirror '\(tree.path)'; to limit"))
            }
            let here = try workplace.shell("cd tree/a; osssync pull . \(workplace.remote)/own")
            #expect(
                here.diagnostics == "osssync: '.' is inside the mirror '\(tree.path)'; to limit "
                    + "the command to this path, run 'osssync pull .' without REMOTE; to create "
                    + "a separate mirror, run 'osssync init . REMOTE' first\n"
            )
        }
        #expect(requests.isEmpty, "\(requests)")
        #expect(!tree.exists("a/.osssync"))
        // A directory that was linked on purpose is one of its own.
        let own = "osssync init tree/a/b \(workplace.remote)/own; cd tree/a/b"
        let push = try workplace.shell("\(own); osssync push -n . \(workplace.remote)/own")
        #expect(push.status == 0 && push.output.contains("would upload x"), "\(push.diagnostics)")
        try tree.remove("a/b/.osssync")
        let cancelled = try workplace.shell("cd tree/a; osssync cancel b/x")
        #expect(cancelled.status == 0, "\(cancelled.diagnostics)")
    }

    @Test func `is found above by its marker if the state is elsewhere`() throws {
        try tree.remove(".osssync")
        let first = "osssync push --state-dir state tree \(workplace.remote)"
        #expect(try workplace.shell(first).status == 0)
        let later = try workplace.shell("cd tree/a; osssync push --state-dir ../../state")
        #expect(later.status == 0, "\(later.diagnostics)")
        #expect(!FileManager.default.fileExists(atPath: configuration))
        try "[push]\nexclude = *\n[mirror]\nunknown = 1\n"
            .write(toFile: tree.path + "/../state/config", atomically: false, encoding: .utf8)
        let broken = try workplace.shell("cd tree; osssync push --state-dir ../state")
        #expect(broken.status == 2)
        #expect(broken.diagnostics.contains("'../state/config', line 4"), "\(broken.diagnostics)")
    }

    @Test func `has defaults for the options of runs`() throws {
        try tree.write("skipped.tmp", Data("t".utf8))
        try tree.write("kept.tmp", Data("k".utf8))
        try append("exclude = *.tmp\nquiet = yes\n[push]\ninclude = kept.tmp\nquiet = no\n")
        let pushed = try workplace.run("push", tree.path, "-v")
        #expect(pushed.status == 0, "\(pushed.diagnostics)")
        let listed = try workplace.run("ls", workplace.remote)
        #expect(listed.output.contains("mirror/kept.tmp"))
        #expect(!listed.output.contains("skipped.tmp"))
        // Typed patterns come last.
        let typed = try workplace.run("push", tree.path, "--include", "*.tmp")
        #expect(typed.status == 0, "\(typed.diagnostics)")
        #expect(try workplace.run("ls", workplace.remote).output.contains("skipped.tmp"))
        let status = try workplace.run("status", tree.path)
        #expect(status.diagnostics.contains("the filters of [push]"), "\(status.diagnostics)")
    }

    /// The mirror above has a state of its own.
    @Test func `is what was given if the state is elsewhere, also inside another mirror`() throws {
        let own = "\(workplace.remote)/own"
        let linked = try workplace.shell("osssync init --state-dir state tree/a \(own)")
        #expect(linked.status == 0, "\(linked.diagnostics)")
        let push = try workplace.shell("osssync push --state-dir state tree/a")
        #expect(push.status == 0, "\(push.diagnostics)")
        let listed = try workplace.run("ls", own).output
        #expect(listed.contains("/own/b/x") && !listed.contains("/own/a/"), "\(listed)")
    }

    @Test func `has deletions only for the direction that says so`() throws {
        try tree.write("y", Data("y".utf8))
        #expect(try workplace.run("push", tree.path).status == 0)
        try tree.remove("y")
        try append("[push]\ndelete = yes\nmax-delete = 0\n")
        let status = try workplace.run("status", tree.path)
        let wouldHold = "push would: hold back the deletion of 1 item"
        #expect(status.output.contains(wouldHold), "\(status.output)")
        #expect(status.output.contains("pull would: download 1 item"), "\(status.output)")
        let held = try workplace.run("push", tree.path)
        #expect(held.status == 3, "the limit of the file counts: \(held.diagnostics)")
        let done = try workplace.run("push", tree.path, "--max-delete", "1")
        #expect(done.status == 0, "\(done.diagnostics)")
        #expect(!(try workplace.run("ls", workplace.remote).output.contains("mirror/y")))
    }

    @Test(arguments: [
        ("jbos = 4", "unknown name 'jbos'; did you mean 'jobs'?"),
        ("secret = x", "unknown name 'secret'"),
        ("delete-extra = yes", "unknown name 'delete-extra'; use '--delete=extra' instead"),
        ("jobs = many", "invalid value 'many' for '--jobs': expected a number from 1 to 256"),
        ("on-conflict = win", "invalid value 'win' for '--on-conflict'"),
        ("delete = maybe", "invalid value 'maybe' for '--delete'"),
        ("exclude = \"\"", "invalid value '' for '--exclude'"),
        ("rebind = yes", "'rebind' can only be given on the command line"),
        ("config = evil", "'config' can only be given on the command line"),
        ("insecure-http = yes", "'insecure-http' can only be given on the command line"),
        ("log-file = /tmp/x", "'log-file' can only be given on the command line"),
        ("[pull]\nregion = x", "'region' belongs in [mirror]"),
        ("[pul]", "unknown section [pul]; expected [mirror], [pull], [push] or [sync]"),
    ])
    func `refuses a line that it does not know`(lines: String, reason: String) throws {
        try append(lines + "\n")
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        let number = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        for command in ["pull", "status"] {
            let result = try workplace.run(command, tree.path)
            #expect(result.status == 2, "\(result.diagnostics)")
            let expected = "'\(configuration)', line \(number): \(reason)"
            #expect(result.diagnostics.contains(expected), "\(result.diagnostics)")
        }
    }

    @Test func `keeps region and endpoint, so that a timer needs no environment`() throws {
        let nowhere = ["OSS_ENDPOINT": "", "OSS_REGION": ""]
        try append("jobs = 3 # mine\n")
        let again = try workplace.run("init", tree.path, workplace.remote)
        #expect(again.status == 0, "\(again.diagnostics)")
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        #expect(
            text == """
                # Written by osssync init; see osssync help configuration.
                [mirror]
                remote = \(workplace.remote)/
                region = cn-test-1
                endpoint = \(workplace.url)
                jobs = 3 # mine

                """
        )
        #expect(!text.contains(Workplace.keyID) && !text.contains(Workplace.keySecret))
        #expect(try workplace.run("push", tree.path, environment: nowhere).status == 0)
    }

    @Test func `is unlinked and linked again without losing anything`() throws {
        #expect(try workplace.run("push", tree.path).status == 0)
        try append("[push]\ndelete = no\n")
        let noKeys = ["OSS_ACCESS_KEY_ID": "", "OSS_ACCESS_KEY_SECRET": ""]
        let requests = try workplace.requests {
            let ended = try workplace.run("init", "--unlink", tree.path, environment: noKeys)
            #expect(ended.status == 0, "\(ended.diagnostics)")
            #expect(ended.output == "unlinked '\(tree.path)' from \(workplace.remote)/\n")
        }
        #expect(requests.isEmpty)
        #expect(try String(contentsOfFile: configuration, encoding: .utf8).contains("[push]"))
        let unlinked = try workplace.run("pull", tree.path)
        #expect(unlinked.status == 2)
        #expect(unlinked.diagnostics.contains("is not linked with a remote"))
        #expect(try workplace.run("init", "--unlink", tree.path).status == 2)
        let back = try workplace.run("push", tree.path, workplace.remote, "--json")
        #expect(back.count("unchanged") == 1, "\(back.output)")

        // Another remote is confirmed where it is linked.
        let other = "oss://\(Workplace.bucket)/other"
        let refused = try workplace.run("init", tree.path, other)
        #expect(refused.status == 3)
        #expect(try workplace.run("init", "--rebind", tree.path, other).status == 0)
        #expect(try workplace.run("push", tree.path).status == 0)
    }

    @Test func `is not unlinked while a run holds it`() throws {
        try workplace.setFaults(
            """
            [{"match": {"operation": "ListObjectsV2"}, "effect": {"hold": true}}]
            """
        )
        let run = try workplace.start(["pull", tree.path, "--json"])
        #expect(run.waitForLine { $0.contains("\"start\"") } != nil)
        let held = try workplace.run("init", "--unlink", tree.path)
        #expect(held.status == 75, "\(held.diagnostics)")
        #expect(FileManager.default.fileExists(atPath: configuration))
        try workplace.clearFaults()
        #expect(run.finish().status == 0)
    }

    @Test func `is linked after writing was tried, if that is wanted`() throws {
        let requests = try workplace.requests {
            let checked = try workplace.run("init", "--check-write", tree.path, workplace.remote)
            #expect(checked.status == 0, "\(checked.diagnostics)")
        }
        #expect(
            requests.map(\.operation)
                == [
                    "ListObjectsV2", "ListObjectsV2", "HeadObject", "InitiateMultipartUpload",
                    "AbortMultipartUpload",
                ]
        )
        #expect(try workplace.run("uploads", workplace.remote).output.isEmpty)
        try workplace.setFaults(
            """
            [{"match": {"operation": "InitiateMultipartUpload"},
              "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}]
            """
        )
        let path = workplace.folder.appendingPathComponent("readable").path
        let denied = try workplace.run("init", "--check-write", path, workplace.remote)
        #expect(denied.status == 4, "\(denied.diagnostics)")
        #expect(!FileManager.default.fileExists(atPath: path), "nothing was linked")
    }
}
