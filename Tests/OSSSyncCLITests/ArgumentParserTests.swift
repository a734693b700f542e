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

    @Test func `a run that saves a plan is a dry run, and a plan has options of its own`() throws {
        let saving = try arguments("push", "--save-plan", "x.plan", "DIR")
        #expect(saving.has(.dryRun) && saving.values[.savePlan] == "x.plan")
        #expect(try arguments("apply", "-q", "x.plan").positionals == ["x.plan"])
        #expect(throws: UsageError.missingArgument("FILE", command: .apply)) { try parse("apply") }
        #expect(throws: UsageError.self) { try parse("apply", "--delete", "x.plan") }
        #expect(throws: UsageError.self) { try parse("status", "--save-plan", "x.plan", "DIR") }
        // What only one run confirms or trusts, no file can.
        for option in [Option.rebind, .insecureHTTP, .caFile, .config, .logFile, .notifyURL] {
            #expect(!option.isKept)
        }
        #expect(!Option.savePlan.isPassedOn)
    }

    @Test func `options stand before, between and after the other arguments`() throws {
        var expected = ParsedArguments(command: .pull, positionals: ["DIR", "oss://b/p"])
        (expected.values, expected.counts) = ([.jobs: "4"], [.dryRun: 1])
        #expect(try arguments("-n", "pull", "--jobs", "4", "DIR", "oss://b/p") == expected)
        #expect(try arguments("pull", "DIR", "oss://b/p", "--dry-run", "--jobs=4") == expected)
        #expect(try arguments("pull", "DIR", "-nj4", "oss://b/p") == expected)
        #expect(try arguments("--jobs", "9", "pull", "DIR", "oss://b/p", "-nj", "4") == expected)
    }

    @Test func `a remote is told by its beginning, wherever it stands`() throws {
        for line in [["pull", "oss://b/p", "D"], ["pull", "D", "oss://b/p"]] {
            let mirror = try ArgumentParser.parse(line).arguments?.mirror
            #expect(mirror?.remote == "oss://b/p")
            #expect(mirror?.paths == ["D"])
        }
        #expect(try arguments("push").mirror == MirrorArguments([]))
        #expect(try arguments("cancel", "D", "x").mirror.paths == ["D", "x"])
        #expect(try arguments("init", "--unlink").mirror.paths == [])
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
        #expect(try parse("help", "pull") == .help(.command(.pull)))
        #expect(try parse("pull", "-h") == .help(.brief(.pull)))
        #expect(try parse("help", "exit-codes") == .help(.topic(.exitCodes)))
        #expect(try parse() == .help(nil))
        #expect(try parse("-h") == .help(nil))
        #expect(try parse("ls", "--help", "-h") == .help(.brief(.ls)))
        #expect(try parse("ls", "oss://b", "-h") != .help(.command(.ls)))
        #expect(try parse("-V") == .version)
        #expect(try parse("version") == .version)
    }

    @Test(arguments: [
        (["-v"], "a command is missing; see 'osssync help'"),
        (["pul"], "unknown command 'pul'; did you mean 'pull'? see 'osssync help pull'"),
        (["versoin"], "unknown command 'versoin'; did you mean 'version'? see 'osssync help'"),
        (["xy"], "unknown command 'xy'; see 'osssync help'"),
        (["help", "x\u{1B}[2J"], "unknown command 'x\\x1B[2J'; see 'osssync help'"),
        (
            ["help", "filter"],
            "no help for 'filter'; did you mean 'filters'? see 'osssync help'"
        ),
        (
            ["pull", "--delte", "D"],
            "unknown option '--delte'; did you mean '--delete'? see 'osssync help pull'"
        ),
        (
            ["--dry", "pull", "D"],
            "unknown option '--dry'; did you mean '--dry-run'? see 'osssync help pull'"
        ),
        (["pull", "--frobnicate"], "unknown option '--frobnicate'; see 'osssync help pull'"),
        (["--frobnicate"], "unknown option '--frobnicate'; see 'osssync help'"),
        (["pull", "-x"], "unknown option '-x'; see 'osssync help pull'"),
        (
            ["status", "--force", "D"],
            "'--force' is not an option of status, only of pull, push, sync, watch, get, put, "
                + "restore, undo, schedule"
        ),
        (
            ["ls", "-n", "oss://b"],
            "'-n' is not an option of ls, only of pull, push, sync, shard, free, trash, restore, "
                + "undo"
        ),
        (["pull", "D", "--jobs"], "'--jobs' needs a value"),
        (["pull", "D", "--json=yes"], "'--json' takes no value"),
        (["init"], "DIR is missing; see 'osssync help init'"),
        (["init", "oss://b/p"], "DIR is missing; see 'osssync help init'"),
        (
            ["init", "D", "b/p"],
            "'b/p' is not a remote: use oss://BUCKET/PREFIX or s3://BUCKET/PREFIX"
        ),
        (
            ["pull", "D", "https://b/p?secret"],
            "'https://b/p' is not a remote: use oss://BUCKET/PREFIX or s3://BUCKET/PREFIX"
        ),
        (
            ["pull", "oss://b/p", "D", "oss://b/q"],
            "unexpected argument 'oss://b/q'; see 'osssync help pull'"
        ),
        (["status", "oss://b"], "unexpected argument 'oss://b'; see 'osssync help status'"),
        (
            ["init", "--unlink", "D", "oss://b"],
            "unexpected argument 'oss://b'; see 'osssync help init'"
        ),
        (["ls"], "REMOTE|DIR is missing; see 'osssync help ls'"),
        (["init", "D"], "REMOTE is missing; see 'osssync help init'"),
        (["pull", ""], "DIR is missing; see 'osssync help pull'"),
        (["doctor", "D", "E"], "unexpected argument 'E'; see 'osssync help doctor'"),
        (["cancel", "D", "E", "F"], "unexpected argument 'F'; see 'osssync help cancel'"),
        (["restore"], "PATH is missing; see 'osssync help restore'"),
        (["help", "pull", "x"], "unexpected argument 'x'; see 'osssync help help'"),
        (["push", "D", "--transfers", "4"], "unknown option '--transfers'; use '-j' instead"),
        (["push", "D", "--dryrun"], "unknown option '--dryrun'; use '-n' instead"),
        (
            ["push", "D", "--include-from", "f"],
            "unknown option '--include-from'; use '--exclude-from' instead, with patterns that "
                + "begin with '!'; see 'osssync help filters'"
        ),
        (
            ["pull", "D", "--delete-during"],
            "unknown option '--delete-during'; use '--delete' instead"
        ),
        (
            ["push", "-r", "D"],
            "unknown option '-r'; omit it: directories are always mirrored recursively"
        ),
        (
            ["push", "D", "--update"],
            "unknown option '--update'; omit it: changes are detected by comparing both sides with "
                + "the last run, and --on-conflict decides if both changed"
        ),
        (
            ["push", "D", "--exclude-larger-than", "1G"],
            "unknown option '--exclude-larger-than'; use '--max-size' instead"
        ),
        (
            ["pull", "D", "--durability", "full"],
            "'--durability' was removed: every run now waits for the disk, as with 'full'; omit it"
        ),
    ])
    func `a mistake is answered with what to do`(line: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try ArgumentParser.parse(line) }
        #expect(error?.message == message)
    }

    @Test(arguments: [
        ("stats", "status"), ("cancle", "cancel"), ("compl", "completions"), ("x", nil),
        ("pu", "put"), ("", nil), ("synchronize", nil), ("doctro", "doctor"),
        ("puhs", "push"), ("plul", "pull"),
    ])
    func `the nearest word is the one with the fewest edits`(text: String, word: String?) {
        #expect(Nearest.word(to: text, among: CommandName.allCases.map(\.rawValue)) == word)
    }

    @Test func `no option takes a secret`() {
        for row in Option.all {
            #expect(!row.name.contains("secret") && !row.name.contains("token"))
            // A place where one is.
            let isOfPlace = row.name.hasSuffix("-file") || row.name.hasSuffix("-command")
            #expect(!row.name.contains("key") && (!row.name.contains("password") || isOfPlace))
        }
    }

    @Test func `every option has one row, and every row belongs to a command`() {
        #expect(Set(Option.all).count == Option.all.count)
        for option in Option.all {
            #expect(!option.commands.isEmpty && !option.meaning.isEmpty, "\(option.name)")
            #expect(Set(option.commands).count == option.commands.count, "\(option.name)")
        }
        #expect(CommandTable.rows.map(\.name) == CommandName.allCases)
        for command in CommandTable.rows {
            let letters = command.options.compactMap(\.letter)
            #expect(Set(letters).count == letters.count)
        }
        let letters = Option.all.compactMap(\.letter).filter { $0 != "h" }
        #expect(Set(letters).count == letters.count)
    }

    @Test func `every option of a run is in a plan, or has no part in what is done`() {
        let left = Set(
            Option.all.filter {
                $0.isOfRun && !$0.isKept && $0.group != .connection
            }
        )
        // Refused with --save-plan, or --files-from, whose paths the plan has.
        let refused: Set<Option> = [
            .asOf, .rebind, .restore, .savePlan, .dryRun, .filesFrom, .shard, .round,
        ]
        #expect(
            left.subtracting(refused) == [
                .ifLocked, .jobs, .bandwidthLimit, .maximumTransfer, .maximumDuration, .progress,
                .color, .jsonInterval, .logFile, .metricsFile, .html, .notifyURL, .notifyOn, .json,
                .quiet, .verbose, .help,
            ]
        )
    }
}

extension Invocation {
    fileprivate var arguments: ParsedArguments? {
        if case .run(let arguments) = self { return arguments }
        return nil
    }
}
