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
    @Test func `the overview is the recorded one`() throws {
        try expectGolden(HelpText.overview(), "help.txt")
    }

    @Test(arguments: CommandName.allCases)
    func `the help of a command is the recorded one`(name: CommandName) throws {
        let row = try #require(CommandTable.row(name))
        try expectGolden(HelpText.command(row), "help-\(name.rawValue).txt")
    }

    @Test func `no line is wider than 80 columns`() {
        let texts = [HelpText.overview()] + CommandTable.rows.map(HelpText.command)
        for line in texts.flatMap({ $0.split(separator: "\n") }) {
            #expect(displayWidth(line) <= 80, "\(line)")
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
        let known = Set(OptionTable.rows.map(\.name))
        #expect(known.subtracting(written) == [])
        #expect(written.subtracting(known) == ["--version"])
        for command in CommandName.allCases {
            #expect(text.contains("| `osssync \(command.rawValue) "), "\(command)")
        }
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
