import Foundation
import Testing

@Suite("What an account has")
struct AccountTests {
    private let workplace: Workplace
    private let tree: Tree

    init() throws {
        workplace = try Workplace()
        tree = try workplace.makeDirectory("tree")
        try tree.write("a", ramp(10))
        // Where the list of mirrors is.
        _ = try workplace.makeDirectory("home")
        try #require(try workplace.run("push", tree.path, workplace.remote).status == 0)
    }

    @Test func `mirrors tell whether both sides were equal after the last run of the whole`()
        throws
    {
        func isInStep() throws -> Bool? {
            try workplace.run("mirrors", "--json").events.first?["in_step"] as? Bool
        }
        #expect(try isInStep() == true)
        try tree.write("later", ramp(3))
        try #require(try workplace.run("pull", tree.path).status == 0)
        #expect(try isInStep() == false)
        // What a limited run finds says nothing of the rest.
        try #require(try workplace.run("push", tree.path, "later").status == 0)
        #expect(try isInStep() == false)
        try #require(try workplace.run("push", tree.path).status == 0)
        #expect(try isInStep() == true)
    }

    @Test func `a first run is listed while it works, and a directory that is gone is forgotten`()
        throws
    {
        let second = try workplace.makeDirectory("second")
        try second.write("held", ramp(10))
        try workplace.setFaults(
            #"[{"match": {"operation": "PutObject"}, "effect": {"hold": true}}]"#
        )
        let push = try workplace.start(["push", second.path, workplace.remote + "2", "--json"])
        try #require(push.waitForLine { $0.contains(#""key":"held""#) } != nil)
        func states() throws -> [String] {
            try workplace.run("mirrors", "--json").events.compactMap { $0["state"] as? String }
        }
        #expect(try states() == ["complete", "running"])
        try workplace.clearFaults()
        #expect(push.finish().status == 0)

        try FileManager.default.removeItem(atPath: second.path)
        #expect(try states() == ["complete", "gone"])
        let all = try workplace.run("status", "--all")
        #expect(all.status == 1 && all.diagnostics.contains("osssync mirrors --forget"))
        let forgotten = try workplace.run("mirrors", "--forget", second.path + "/")
        #expect(forgotten.output == "forgot '\(second.path)/'\n")
        #expect(try states() == ["complete"])
        #expect(try workplace.run("mirrors", "--forget", second.path).status == 1)
        let own = try workplace.run("mirrors", "--forget", tree.path)
        #expect(own.output.contains("its next run adds it again"))
        #expect(try states().isEmpty)
    }

    @Test func `a run that was refused says why in the log, and not how little it did`() throws {
        for index in 0..<12 { try tree.write("f\(index)", ramp(5)) }
        try #require(try workplace.run("push", tree.path).status == 0)
        for index in 0..<12 { try FileManager.default.removeItem(atPath: tree.path + "/f\(index)") }
        #expect(try workplace.run("push", "--delete", "--max-delete", "3", tree.path).status == 3)
        let line = try workplace.run("log", tree.path).output.split(separator: "\n").last ?? ""
        #expect(line.contains("  refused  "), "\(line)")
        #expect(line.contains(": ") && !line.contains("0 transferred"), "\(line)")
    }

    @Test func `the program is scheduled by the name by which it was called`() throws {
        let text = try workplace.shell(
            """
            mkdir upgradable; ln -s "$(command -v osssync)" upgradable/osssync
            upgradable/osssync schedule --push --every 1h --format cron '\(tree.path)'
            PATH="$PWD/upgradable:$PATH"
            osssync schedule --push --every 1h --format cron '\(tree.path)'
            """
        ).output
        let program = workplace.folder.path + "/upgradable/osssync"
        #expect(text.components(separatedBy: program).count == 3, "\(text)")
    }
}
