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

    func has(_ option: Option) -> Bool { counts[option, default: 0] > 0 }
}

/// One `--include` or `--exclude`.
struct FilterArgument: Sendable, Hashable {
    var excludes: Bool
    var pattern: String
}

/// What a command line asks for.
enum Invocation: Sendable, Hashable {
    case run(ParsedArguments)
    /// The overview, or the help of one command.
    case help(CommandName?)
    case version
}

/// A command line that cannot be understood; the exit status is 2.
enum UsageError: Error, Hashable {
    case noCommand
    case unknownCommand(String)
    case unknownOption(String, suggestion: String?)
    case optionOfOtherCommands(String, command: CommandName, accepting: [CommandName])
    case missingValue(String)
    case unexpectedValue(String)
    case missingArgument(String, command: CommandName)
    case surplusArgument(String, command: CommandName)
    case badValue(option: String, value: String, expected: String)
    case badArgument(String, expected: String)
    case contradiction(String, String)
    case notUnicode(position: Int)

    /// Ends with what to do; texts that were typed are escaped by whoever made the case.
    var message: String {
        switch self {
        case .noCommand: "a command is missing; see 'osssync help'"
        case .unknownCommand(let name): "there is no command '\(name)'; see 'osssync help'"
        case .unknownOption(let name, let suggestion):
            suggestion.map { "there is no option '\(name)'; did you mean '\($0)'?" }
                ?? "there is no option '\(name)'; see 'osssync help'"
        case .optionOfOtherCommands(let name, let command, let accepting):
            "'\(name)' is not an option of \(command.rawValue), only of "
                + accepting.map(\.rawValue).joined(separator: ", ")
        case .missingValue(let name): "'\(name)' needs a value"
        case .unexpectedValue(let name): "'\(name)' takes no value"
        case .missingArgument(let name, let command):
            "\(name) is missing; see 'osssync help \(command.rawValue)'"
        case .surplusArgument(let text, let command):
            "'\(text)' is one argument too many; see 'osssync help \(command.rawValue)'"
        case .badValue(let option, let value, let expected):
            "'\(value)' is no value for '\(option)': \(expected)"
        case .badArgument(let value, let expected): "'\(value)' cannot be used here: \(expected)"
        case .contradiction(let first, let second):
            "'\(first)' and '\(second)' cannot be given together"
        case .notUnicode(let position):
            "argument \(position) is not valid UTF-8; such names cannot be given as arguments"
        }
    }
}
