import OSSSync
import SyncEngine
import Testing

@testable import OSSSyncCLI

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What follows from the rows of the options without being said in any of them.
@Suite("The table of options")
struct OptionTableTests {
    private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(3).joined(separator: "/")
    /// Of which each option takes one.
    private static let values = [
        "3", "3M", "3d", "3d ago", "wait", "kms:x", "Content-Type: x", root + "/.gitignore",
    ]

    private struct Given {
        let option: Option
        let line: [String]
        let run: RunOptions

        /// Nil for a value that the option does not take.
        init?(_ option: Option, _ value: String) {
            self.option = option
            let direction = option.commands.contains(.push) ? "push" : "pull"
            line = [direction, option.name] + (option.needsValue ? [value] : [])
            guard case .run(let arguments)? = try? ArgumentParser.parse(line),
                let run = try? RunOptions(arguments)
            else { return nil }
            self.run = run
        }
    }

    /// Each option of runs with a value that is not its default.
    private static let given = Option.all.filter { $0.isOfRun && $0.setters.run != nil }
        .compactMap { option in
            (option.choices.suffix(1) + values).lazy.compactMap { Given(option, $0) }.first
        }

    @Test func `every option of a run can be given a value`() {
        let all = Option.all.filter { $0.isOfRun && $0.setters.run != nil }
        #expect(Self.given.map(\.option) == all)
    }

    @Test func `what a plan keeps, the processes of a round have in common`() {
        let standard = RunOptions.standard.deciding.map(\.value)
        // Parts may have another size in each process, and a plan is not of the past.
        for given in Self.given where ![.partSize, .asOf].contains(given.option) {
            let option = given.option
            let decides = option.isKept && option.shardRefusal == nil
            #expect((given.run.deciding.map(\.value) != standard) == decides, "\(option.name)")
        }
    }

    @Test func `what a plan keeps comes back from its command line`() throws {
        for given in Self.given where given.option.isKept {
            guard case .run(let typed) = try ArgumentParser.parse(given.line) else { continue }
            let words = [given.line[0]] + typed.words(\.isKept)
            guard case .run(let saved) = try ArgumentParser.parse(words) else { continue }
            #expect(try RunOptions(saved) == given.run, "\(given.option.name)")
        }
    }

    /// What these lines of `DIR/.osssync/config` stand for.
    private static func defaults(_ text: String) throws -> DirectoryDefaults {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let state = folder.appending(path: ".osssync")
        try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: state.appending(path: "config"))
        let configuration = try #require(
            try DirectoryConfiguration(directory: folder.path(), stateDirectory: nil)
        )
        return try DirectoryDefaults(configuration, of: folder.path())
    }

    @Test func `what one command switches off is off, whatever all commands have`() throws {
        let defaults = try Self.defaults(
            "[mirror]\nrestore = 3\nchecksum = yes\n[pull]\nrestore = no\nchecksum = no\n"
        )
        let pull = ParsedArguments(command: .pull, positionals: [])
        #expect(try RunOptions(defaults.filling(pull)).restoreDays == nil)
        #expect(try !RunOptions(defaults.filling(pull)).comparesContent)
        #expect(try RunOptions(defaults.filling(pull, as: .sync)).restoreDays == 3)
    }

    @Test(arguments: ["yes", "deleted", "extra", "excluded"])
    func `a command without deletions has none of those that all commands have`(
        deletions: String
    ) throws {
        let defaults = try Self.defaults("[mirror]\ndelete = \(deletions)\n[push]\ndelete = no\n")
        let (push, pull) = (
            try RunOptions(defaults.filling(ParsedArguments(command: .push, positionals: []))),
            try RunOptions(defaults.filling(ParsedArguments(command: .pull, positionals: [])))
        )
        #expect(!push.deletesKnown && !push.deletesExtra && !push.deletesExcluded)
        #expect(pull.deletesKnown)
        var typed = ParsedArguments(command: .push, positionals: [])
        typed.values[.delete] = "extra"
        #expect(try RunOptions(defaults.filling(typed)).deletesExtra)
    }

    @Test(arguments: ["json-interval = x", "color = x", "jobs = x", "max-delete = x"])
    func `a value that no run takes is named with its line`(line: String) throws {
        let error = #expect(throws: UsageError.self) {
            try Self.defaults("[mirror]\n\n\(line)\n")
        }
        guard case .configuration(_, line: 3, _) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    // MARK: - The manual

    /// A table of all options, as `docs/cli.md` has it.
    private static var table: String {
        let rows = Option.all.map { option in
            let usage = String(option.usage.drop { $0 == " " }).replacing("|", with: "\\|")
            let names = usage.split(separator: ", ").map { "`\($0)`" }.joined(separator: ", ")
            return "| \(names) | \(commands(option)) | \(meaning(option)) |"
        }
        return (["| option | of | meaning |", "|---|---|---|"] + rows).joined(separator: "\n")
    }

    private static func commands(_ option: Option) -> String {
        let missing = [CommandName].connected.filter { !option.commands.contains($0) }
        let names = { (commands: [CommandName]) in commands.map { "`\($0.rawValue)`" } }
        if missing.isEmpty { return "all" }
        if missing.count < 5 { return "all but " + names(missing).joined(separator: ", ") }
        let isOfAll = [CommandName].runners.allSatisfy(option.commands.contains)
        let others = option.commands.filter { !isOfAll || ![CommandName].runners.contains($0) }
        return ((isOfAll ? ["runs"] : []) + names(others)).joined(separator: ", ")
    }

    /// The help, with what it is in commands that mean something else.
    private static func meaning(_ option: Option) -> String {
        var others: [(commands: [String], help: String)] = []
        for command in CommandTable.rows {
            guard let help = command.optionHelp[option] else { continue }
            let name = "`\(command.name.rawValue)`"
            if let index = others.firstIndex(where: { $0.help == help }) {
                others[index].commands.append(name)
            } else {
                others.append(([name], help))
            }
        }
        let texts =
            [option.meaning] + others.map { $0.commands.joined(separator: ", ") + ": " + $0.help }
        return texts.joined(separator: "; ").replacing("|", with: "\\|")
            .replacing(/--[a-z][a-z-]*/) { "`\($0.output)`" }
    }

    @Test func `the manual has the table of the options`() throws {
        let path = Self.root + "/docs/cli.md"
        let manual = try String(contentsOfFile: path, encoding: .utf8)
        let (start, end) = ("<!-- options -->\n", "\n<!-- end of options -->")
        let from = try #require(manual.firstRange(of: start)).upperBound
        let to = try #require(manual.firstRange(of: end)).lowerBound
        if ProcessInfo.processInfo.environment["OSSSYNC_UPDATE_GOLDEN"] == "1" {
            let text = manual[..<from] + Self.table + manual[to...]
            try String(text).write(toFile: path, atomically: false, encoding: .utf8)
            Issue.record("the table of docs/cli.md was rewritten")
            return
        }
        #expect(String(manual[from..<to]) == Self.table)
    }
}
