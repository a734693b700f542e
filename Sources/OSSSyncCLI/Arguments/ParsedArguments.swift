/// A command line that fits the table.
struct ParsedArguments: Sendable, Hashable {
    var command: CommandName
    var positionals: [String]
    /// The last value given of each option that takes one.
    var values: [Option: String]
    /// How often each option without a value was given.
    var counts: [Option: Int]
    /// The patterns given, in order.
    var patterns: [FilterArgument] = []
    /// The headers given, in order.
    var headers: [String] = []

    var mirror: MirrorArguments { MirrorArguments(split.mirror) }

    /// The number of a run, for a command that takes one.
    var run: String? { split.run }

    private var split: (mirror: [String], run: String?) {
        CommandTable.row(command)?.split(positionals) ?? (positionals, nil)
    }

    func has(_ option: Option) -> Bool { counts[option, default: 0] > 0 }

    /// These options as words of another command line, which may begin in another directory.
    func words(of options: [Option]) -> [String] {
        func words(_ option: Option, _ value: String) -> [String] {
            let row = OptionTable.row(named: option.rawValue)
            if case .optional? = row?.value {
                return ["--" + option.rawValue + (value.isEmpty ? "" : "=" + value)]
            }
            return [
                "--" + option.rawValue, row?.isPath(value) == true ? absolutePath(value) : value,
            ]
        }
        let plain = OptionTable.rows.map(\.option).filter(options.contains).flatMap { option in
            [String](repeating: "--" + option.rawValue, count: counts[option, default: 0])
                + (values[option].map { words(option, $0) } ?? [])
        }
        return plain + patterns.flatMap { words($0.typed.option, $0.typed.value) }
    }
}

/// One option of those whose order decides what is skipped.
enum FilterArgument: Sendable, Hashable {
    case exclude(String)
    case include(String)
    /// A file with patterns.
    case excludeFrom(String)
    /// The name of a file that excludes its directory; its place in the order means nothing.
    case excludeIfPresent(String)

    /// The option and its value.
    var typed: (option: Option, value: String) {
        switch self {
        case .exclude(let value): (.exclude, value)
        case .include(let value): (.include, value)
        case .excludeFrom(let value): (.excludeFrom, value)
        case .excludeIfPresent(let value): (.excludeIfPresent, value)
        }
    }

    /// Nil for other options.
    init?(_ option: Option, _ value: String) {
        switch option {
        case .exclude: self = .exclude(value)
        case .include: self = .include(value)
        case .excludeFrom: self = .excludeFrom(value)
        case .excludeIfPresent: self = .excludeIfPresent(value)
        default: return nil
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
    case optionOfOtherCommands(String, command: CommandName, accepting: [CommandName])
    case missingValue(String)
    case unexpectedValue(String)
    case missingArgument(String, command: CommandName)
    case surplusArgument(String, command: CommandName)
    case notARemote(String)
    case noMirror(command: CommandName)
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
        case .optionOfOtherCommands(let name, let command, let accepting):
            "'\(name)' is not an option of \(command.rawValue), only of "
                + accepting.map(\.rawValue).joined(separator: ", ")
        case .missingValue(let name): "'\(name)' needs a value"
        case .unexpectedValue(let name): "'\(name)' takes no value"
        case .missingArgument(let name, let command):
            "\(name) is missing; see 'osssync help \(command.rawValue)'"
        case .notARemote(let text):
            "'\(text)' is not a remote: use oss://BUCKET/PREFIX or s3://BUCKET/PREFIX"
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
