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
