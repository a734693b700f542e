import OSSSync
import Testing

@testable import OSSSyncCLI

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Help")
struct HelpTests {
    private let help = HelpText(width: HelpText.standardWidth)

    @Test func `the overview is the recorded one`() throws {
        try expectGolden(help.overview(), "help.txt")
    }

    @Test(arguments: CommandName.allCases)
    func `the help of a command is the recorded one`(name: CommandName) throws {
        let row = try #require(CommandTable.row(name))
        try expectGolden(help.command(row), "help-\(name.rawValue).txt")
    }

    @Test(arguments: CommandName.allCases)
    func `the short help of a command is on one screen`(name: CommandName) throws {
        let row = try #require(CommandTable.row(name))
        let lines = help.brief(row).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.dropLast().count <= 45 && lines.allSatisfy { $0.count <= 79 })
        #expect(lines.contains { $0.hasSuffix("'osssync help \(name.rawValue)' shows all.") })
    }

    @Test(arguments: [CommandName.pull, .push, .sync, .schedule])
    func `the short help of a run is the recorded one`(name: CommandName) throws {
        let row = try #require(CommandTable.row(name))
        try expectGolden(help.brief(row), "brief-\(name.rawValue).txt")
    }

    @Test func `the overview is on one screen, with a line for each command`() {
        let lines = help.overview().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.dropLast().count <= 40)
        for row in CommandTable.rows where row.name != .help {
            let count = lines.count { $0.hasPrefix("  \(row.name.rawValue) ") }
            #expect(count == (CommandTable.ofScale.contains(row.name) ? 0 : 1), "\(row.name)")
        }
    }

    @Test func `the help of a command has each of its options`() {
        for row in CommandTable.rows {
            let text = help.command(row)
            for option in row.options { #expect(text.contains(option.usage), "\(option.name)") }
        }
    }

    @Test(arguments: HelpTopic.allCases.filter { $0 != .manual })
    func `the help of a topic is the recorded one`(topic: HelpTopic) throws {
        try expectGolden(help.text(.topic(topic)), "help-\(topic.rawValue).txt")
    }

    /// A command, an option and a value of each; shells and `mandoc` check the whole.
    @Test(arguments: [
        (
            "bash",
            [
                "complete -F _osssync osssync",
                "        pull:*|restore:*|free:*|verify:*) _osssync_paths || compopt -o default ;;",
                "        --links) mapfile -t COMPREPLY < <(compgen -W 'skip follow store' -- "
                    + "\"$cur\"); return ;;",
            ]
        ),
        (
            "zsh",
            [
                "#compdef osssync",
                "        'pull:download what changed in the bucket to the directory'",
                #"                '*--delete[delete what was deleted on the other side]' \"#,
            ]
        ),
        (
            "fish",
            [
                "complete -c osssync -n '__fish_seen_subcommand_from pull restore free verify' "
                    + "-a '(__osssync_paths)'",
                "complete -c osssync -n '__fish_seen_subcommand_from pull' -l delete "
                    + "-d 'delete what was deleted on the other side'",
                "complete -c osssync -n '__fish_seen_subcommand_from pull' -l links "
                    + "-x -a 'skip follow store' -d 'skip, follow or store symbolic links'",
            ]
        ),
        (
            "man",
            [
                ".SH NAME", #"osssync \- mirror a directory and a bucket prefix"#,
                #".B osssync pull"#,
            ]
        ),
    ])
    func `what is generated has its lines`(name: String, lines: [String]) {
        let text = ShellCompletions(rawValue: name)?.script ?? help.text(.topic(.manual))
        let found = Set(text.split(separator: "\n").map(String.init))
        for line in lines { #expect(found.contains(line), "\(line)") }
    }

    @Test(arguments: [40, 60, 79, 100])
    func `no line is wider than the terminal`(width: Int) {
        let help = HelpText(width: width)
        let topics = HelpTopic.allCases.filter { $0 != .manual }
        let texts =
            [help.overview()] + CommandTable.rows.map(help.command)
            + topics.map { help.text(.topic($0)) }
        for line in texts.flatMap({ $0.split(separator: "\n") }) {
            // A narrow terminal breaks what is indented: an option with its value, a command line.
            let mayBreak = width < HelpText.standardWidth && line.hasPrefix("  ")
            #expect(displayWidth(line) <= width || mayBreak, "\(line)")
        }
    }

    @Test func `the options of the help are those of the manual`() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let path = root.joined(separator: "/") + "/docs/cli.md"
        let manual = try String(contentsOfFile: path, encoding: .utf8)
        let text = manual.prefix(
            upTo: try #require(manual.firstRange(of: "## The embedded")).lowerBound
        )
        let written = Set(text.matches(of: /--[a-z][a-z0-9-]*/).map { String($0.output) })
        let known = Set(Option.all.map(\.name))
        #expect(known.subtracting(written) == [])
        #expect(written.subtracting(known) == ["--version"])
        for command in CommandName.allCases {
            #expect(text.contains("| `osssync \(command.rawValue) "), "\(command)")
        }
        for topic in HelpTopic.allCases { #expect(text.contains("`\(topic.rawValue)`")) }
    }

    @Test func `the examples of the help can be parsed`() throws {
        for example in CommandTable.rows.flatMap(\.examples) {
            let words = example.line.split(separator: " ").map(String.init)
            #expect(words.first == "osssync")
            guard case .run(let arguments) = try ArgumentParser.parse(Array(words.dropFirst()))
            else {
                Issue.record("\(example.line) runs nothing")
                continue
            }
            _ = try RunOptions(arguments)
        }
    }
}
