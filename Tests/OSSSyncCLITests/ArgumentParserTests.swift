import Testing

@testable import OSSSyncCLI

@Suite("The command line")
struct ArgumentParserTests {
    private func parse(_ line: String...) throws(UsageError) -> Invocation {
        try ArgumentParser.parse(line)
    }

    private func arguments(_ line: String...) throws -> ParsedArguments {
        guard case .run(let arguments) = try ArgumentParser.parse(line) else {
            throw UsageError.noCommand
        }
        return arguments
    }

    @Test func `options stand before, between and after the other arguments`() throws {
        let expected = ParsedArguments(
            command: .pull,
            positionals: ["DIR", "oss://b/p"],
            values: [.jobs: "4"],
            counts: [.dryRun: 1]
        )
        #expect(try arguments("-n", "pull", "--jobs", "4", "DIR", "oss://b/p") == expected)
        #expect(try arguments("pull", "DIR", "oss://b/p", "--dry-run", "--jobs=4") == expected)
        #expect(try arguments("pull", "DIR", "-nj4", "oss://b/p") == expected)
        #expect(try arguments("--jobs", "9", "pull", "DIR", "oss://b/p", "-nj", "4") == expected)
    }

    @Test func `two dashes end the options`() throws {
        let parsed = try arguments("pull", "--", "--delete")
        #expect(parsed.positionals == ["--delete"])
        #expect(!parsed.has(.delete))
    }

    @Test func `a single dash is an argument`() throws {
        #expect(try arguments("pull", "-").positionals == ["-"])
    }

    @Test func `short flags add up`() throws {
        #expect(try arguments("push", "-vv", "D").counts[.verbose] == 2)
        #expect(try arguments("push", "-v", "D", "--verbose").counts[.verbose] == 2)
    }

    @Test func `the value of an option may be empty and may begin with a dash`() throws {
        #expect(try arguments("pull", "D", "--profile=").values[.profile] == "")
        #expect(try arguments("pull", "D", "--profile", "-x").values[.profile] == "-x")
    }

    @Test func `help and version need nothing else`() throws {
        #expect(try parse("--version") == .version)
        #expect(try parse("--help") == .help(nil))
        #expect(try parse("help") == .help(nil))
        #expect(try parse("help", "pull") == .help(.pull))
        #expect(try parse("pull", "-h") == .help(.pull))
    }

    @Test(arguments: [
        ([], "a command is missing; see 'osssync help'"),
        (["-v"], "a command is missing; see 'osssync help'"),
        (["pul"], "there is no command 'pul'; see 'osssync help'"),
        (["help", "x\u{1B}[2J"], "there is no command 'x\\x1B[2J'; see 'osssync help'"),
        (["pull", "--delte", "D"], "there is no option '--delte'; did you mean '--delete'?"),
        (["pull", "--frobnicate"], "there is no option '--frobnicate'; see 'osssync help'"),
        (["pull", "-x"], "there is no option '-x'; see 'osssync help'"),
        (
            ["status", "--force", "D"],
            "'--force' is not an option of status, only of pull, push, sync, get, put"
        ),
        (["ls", "-n", "oss://b"], "'-n' is not an option of ls, only of pull, push, sync"),
        (["pull", "D", "--jobs"], "'--jobs' needs a value"),
        (["pull", "D", "--json=yes"], "'--json' takes no value"),
        (["pull"], "DIR is missing; see 'osssync help pull'"),
        (["init", "D"], "REMOTE is missing; see 'osssync help init'"),
        (["pull", ""], "DIR is missing; see 'osssync help pull'"),
        (["status", "D", "E"], "'E' is one argument too many; see 'osssync help status'"),
        (["help", "pull", "x"], "'x' is one argument too many; see 'osssync help help'"),
        (
            ["pull", "D", "--durability", "slow"],
            "'slow' is no value for '--durability': it is one of full, fast"
        ),
    ])
    func `a mistake is answered with what to do`(line: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try ArgumentParser.parse(line) }
        #expect(error?.message == message)
    }

    @Test func `no option takes a secret`() {
        for row in OptionTable.rows {
            #expect(!row.name.contains("secret") && !row.name.contains("token"))
            #expect(!row.name.contains("key") && !row.name.contains("password"))
        }
    }

    @Test func `every option has one row, and every row belongs to a command`() {
        #expect(OptionTable.rows.map(\.option).count == Option.allCases.count)
        #expect(Set(OptionTable.rows.map(\.option)) == Set(Option.allCases))
        #expect(Set(CommandTable.rows.flatMap(\.options)) == Set(Option.allCases))
        #expect(CommandTable.rows.map(\.name) == CommandName.allCases)
        let letters = OptionTable.rows.compactMap(\.short)
        #expect(Set(letters).count == letters.count)
    }
}
