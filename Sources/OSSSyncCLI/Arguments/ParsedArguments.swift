internal import OSSSync

/// A command line that fits the table.
struct ParsedArguments: Sendable, Hashable {
    var command: CommandName
    var positionals: [String]
    /// The last value given of each other option that takes one.
    var values: [Option: String] = [:]
    /// How often each option without a value was given.
    var counts: [Option: Int] = [:]
    /// Those of which each value counts, in the order given.
    var repeated: [Given] = []

    struct Given: Sendable, Hashable {
        let option: Option
        let value: String
    }

    init(command: CommandName, positionals: [String]) {
        (self.command, self.positionals) = (command, positionals)
    }

    /// Those of a run whose command line was kept, and what was typed beside; nil for another
    /// command, and one with other options than may be.
    init?(
        ofRun words: [String],
        and typed: Self,
        where mayBe: (Option) -> Bool = { _ in true }
    ) {
        guard case .run(let kept)? = try? ArgumentParser.parse(words),
            [CommandName].runs.contains(kept.command),
            kept.given.allSatisfy({ mayBe($0.option) })
        else { return nil }
        self = kept
        values.merge(typed.values) { $1 }
        counts.merge(typed.counts) { $1 }
    }

    var mirror: MirrorArguments { MirrorArguments(split.mirror) }

    /// The number of a run, for a command that takes one.
    var run: String? { split.run }

    private var split: (mirror: [String], run: String?) {
        CommandTable.row(command)?.split(positionals) ?? (positionals, nil)
    }

    /// True if the option is given, whatever its value; of those that repeat, always false.
    func has(_ option: Option) -> Bool {
        counts[option, default: 0] > 0 || values[option] != nil
    }

    mutating func add(_ option: Option, _ value: String) {
        if option.traits.contains(.repeats) {
            repeated.append(Given(option: option, value: value))
        } else {
            values[option] = value
        }
    }

    /// The options given, in the order of the table, and then those that repeat.
    var given: [Given] {
        Option.all.flatMap { option in
            let count = counts[option, default: 0]
            return [Given](repeating: Given(option: option, value: ""), count: count)
                + (values[option].map { [Given(option: option, value: $0)] } ?? [])
        } + repeated
    }

    /// Those of these options that were given, as words of another command line, which may begin in
    /// another directory.
    func words(_ isIncluded: (Option) -> Bool) -> [String] {
        given.filter { isIncluded($0.option) }.flatMap { given in
            let (option, value) = (given.option, given.value)
            return switch option.value {
            case .none: [option.name]
            case .optional: [option.name + (value.isEmpty ? "" : "=" + value)]
            case .choice, .text: [option.name, option.takesPath ? absolutePath(value) : value]
            }
        }
    }
}

/// What a command line asks for.
enum Invocation: Sendable, Hashable {
    case run(ParsedArguments)
    /// The overview, or the help of one command or topic.
    case help(HelpSubject?)
    case version
}

/// What `help` is asked about.
enum HelpSubject: Sendable, Hashable {
    case command(CommandName)
    /// The same on a screen.
    case brief(CommandName)
    case topic(HelpTopic)
}

/// A command line that cannot be understood; the exit status is 2.
enum UsageError: Error, Hashable {
    case noCommand
    case unknownCommand(String, suggestion: String?)
    case unknownTopic(String, suggestion: String)
    case unknownOption(String, suggestion: String?, command: CommandName?)
    case optionOfPeers(String, advice: String)
    case removedDurability
    case optionOfOtherCommands(
        String,
        command: CommandName,
        accepting: [CommandName],
        alternative: String? = nil
    )
    case missingValue(String)
    case unexpectedValue(String)
    case missingArgument(String, command: CommandName)
    case surplusArgument(String, command: CommandName)
    case notARemote(String)
    case noMirror(command: CommandName)
    /// The directory was linked, and has no link now; the text says so.
    case lostLink(String)
    case pathWithinMirror(String, command: CommandName, mirror: String)
    case remoteWithinMirror(String, command: CommandName, mirror: String)
    case badValue(option: String, value: String, expected: String)
    case badArgument(String, expected: String)
    case contradiction(String, String)
    case reversed(String, String)
    case missingCompanion(String, needs: String)
    case missingChoice(String, command: CommandName)
    case notUnicode(position: Int)
    case configuration(path: String, line: Int, reason: String)
    /// A stop signal came while a file of the command line was read.
    case interrupted

    /// A value of an option that it does not take.
    static func badValue(_ option: Option, _ value: String, _ expected: String) -> Self {
        .badValue(option: option.name, value: String(terminalSafe: value), expected: expected)
    }

    /// Ends with what to do; the code that makes the case escapes the user's text.
    var message: String {
        switch self {
        case .noCommand: "a command is missing; see 'osssync help'"
        case .unknownCommand(let name, let suggestion):
            "unknown command '\(name)'; " + Self.question(suggestion) + "see 'osssync help"
                + (suggestion.map { $0 == "version" ? "'" : " \($0)'" } ?? "'")
        case .unknownTopic(let name, let suggestion):
            "no help for '\(name)'; " + Self.question(suggestion) + "see 'osssync help'"
        case .unknownOption(let name, let suggestion, let command):
            "unknown option '\(name)'; " + Self.question(suggestion) + "see 'osssync help"
                + (command.map { " \($0.rawValue)'" } ?? "'")
        case .optionOfPeers(let name, let advice): "unknown option '\(name)'; \(advice)"
        case .removedDurability:
            "'--durability' was removed: every run now waits for the disk, as with 'full'; omit it"
        case .optionOfOtherCommands(let name, let command, let accepting, let alternative):
            "'\(name)' is not an option of \(command.rawValue), only of "
                + accepting.map(\.rawValue).joined(separator: ", ")
                + (alternative.map { "; " + $0 } ?? "")
        case .missingValue(let name): "'\(name)' needs a value"
        case .unexpectedValue(let name): "'\(name)' takes no value"
        case .missingArgument(let name, let command):
            "\(name) is missing; see 'osssync help \(command.rawValue)'"
        case .notARemote(let text):
            "'\(text)' is not a remote: use oss://BUCKET/PREFIX or s3://BUCKET/PREFIX"
        case .lostLink(let text): text
        case .noMirror(let command):
            "DIR is missing, and the current directory is not in a mirror; see "
                + "'osssync help \(command.rawValue)'"
        case .pathWithinMirror(let text, let command, let mirror):
            "'\(text)' is inside the mirror '\(mirror)', and \(command.rawValue) cannot be limited "
                + "to a path; specify the mirror, or a REMOTE to create a separate mirror"
        case .remoteWithinMirror(let text, let command, let mirror):
            "'\(text)' is inside the mirror '\(mirror)'; to limit the command to this path, run "
                + "'osssync \(command.rawValue) \(text)' without REMOTE; to create a separate "
                + "mirror, run 'osssync init \(text) REMOTE' first"
        case .surplusArgument(let text, let command):
            "unexpected argument '\(text)'; see 'osssync help \(command.rawValue)'"
        case .badValue(let option, let value, let expected):
            "invalid value '\(value)' for '\(option)': \(expected)"
        case .badArgument(let value, let expected): "'\(value)' cannot be used here: \(expected)"
        case .contradiction(let first, let second):
            "'\(first)' and '\(second)' cannot be used together"
        case .missingCompanion(let name, let other): "'\(name)' requires '\(other)'"
        case .reversed(let least, let most): "\(least) is larger than \(most)"
        case .missingChoice(let names, let command):
            "\(names) is missing; see 'osssync help \(command.rawValue)'"
        case .interrupted: "interrupted before anything was done"
        case .configuration(let path, let line, let reason):
            "'\(path)', line \(line): \(reason)"
        case .notUnicode(let position):
            "argument \(position) is not valid UTF-8; such names cannot be given as arguments"
        }
    }

    private static func question(_ suggestion: String?) -> String {
        suggestion.map { "did you mean '\($0)'? " } ?? ""
    }
}
