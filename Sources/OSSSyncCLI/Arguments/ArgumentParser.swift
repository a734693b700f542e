internal import OSSSync

/// Reads a command line by the tables of commands and options.
///
/// Options may stand before, between and after the other arguments; `--` ends them. The last
/// of two values of one option counts, but for patterns and headers, where each does.
struct ArgumentParser {
    private var arguments = ParsedArguments(command: .help, positionals: [])
    /// The options as they were typed, in order, for messages.
    private var typed: [(option: Option, name: String)] = []
    private var asksForVersion = false
    /// The command that is most likely meant, for messages about its options.
    private let likelyCommand: CommandName?

    private init(_ arguments: [String]) {
        likelyCommand = arguments.lazy.compactMap(CommandName.init).first
    }

    /// Reads the arguments after the program's name.
    static func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        var parser = ArgumentParser(arguments)
        try parser.collect(arguments)
        return try parser.interpret()
    }

    private mutating func collect(_ words: [String]) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                arguments.positionals += rest
                return
            } else if word == "--version" || word == "-V" {
                asksForVersion = true
            } else if word.utf8.starts(with: "--".utf8) {
                try collectLong(word, &rest)
            } else if word.utf8.first == UInt8(ascii: "-"), word.utf8.count > 1 {
                try collectShort(word, &rest)
            } else {
                arguments.positionals.append(word)
            }
        }
    }

    private mutating func collectLong(
        _ argument: String,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        let sign = argument.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = String(argument[..<(sign ?? argument.endIndex)])
        guard let option = Option.named(name) else {
            if name == "--durability" { throw .removedDurability }
            throw unknownOption(name)
        }
        let value = sign.map { String(argument[argument.utf8.index(after: $0)...]) }
        try accept(option, as: name, value: value, &rest)
    }

    private mutating func collectShort(
        _ argument: String,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        var letters = argument.dropFirst()
        while let letter = letters.popFirst() {
            let name = "-\(letter)"
            guard let option = Option.lettered(letter, of: likelyCommand) else {
                throw unknownOption(name)
            }
            // -j8: what follows the letter is its value.
            if option.value != .none, !letters.isEmpty {
                return try accept(option, as: name, value: String(letters), &rest)
            }
            try accept(option, as: name, value: nil, &rest)
        }
    }

    private mutating func accept(
        _ option: Option,
        as name: String,
        value: String?,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        typed.append((option, name))
        guard option.value != .none else {
            guard value == nil else { throw .unexpectedValue(name) }
            arguments.counts[option, default: 0] += 1
            // Of these two, the last one counts.
            if option == .emptyDirectories { arguments.counts[.noEmptyDirectories] = nil }
            if option == .noEmptyDirectories { arguments.counts[.emptyDirectories] = nil }
            return
        }
        if case .optional = option.value { return arguments.add(option, value ?? "") }
        guard let value = value ?? rest.popFirst() else { throw .missingValue(name) }
        if let expected = option.expectation(of: value) {
            throw .badValue(option: name, value: String(terminalSafe: value), expected: expected)
        }
        arguments.add(option, value)
    }

    /// Names the nearest option, of the command if it is known.
    private func unknownOption(_ name: String) -> UsageError {
        if let advice = PeerOptions.advice(on: name) {
            return .optionOfPeers(String(terminalSafe: name), advice: advice)
        }
        let command = likelyCommand.flatMap(CommandTable.row)
        let names = (command?.options ?? Option.all).map(\.name)
        let isLong = name.utf8.starts(with: "--".utf8)
        return .unknownOption(
            String(terminalSafe: name),
            suggestion: isLong ? Nearest.word(to: name, among: names + ["--version"]) : nil,
            command: likelyCommand
        )
    }

    private func interpret() throws(UsageError) -> Invocation {
        if asksForVersion { return .version }
        let asksForHelp = arguments.has(.help)
        guard let first = arguments.positionals.first else {
            if asksForHelp || typed.isEmpty { return .help(nil) }
            throw .noCommand
        }
        if first == "version", arguments.positionals.count == 1 { return .version }
        guard let name = CommandName(rawValue: first), let command = CommandTable.row(name) else {
            throw Self.unknownCommand(first)
        }
        if name == .help { return .help(try subject(of: arguments.positionals.dropFirst())) }
        if asksForHelp { return .help(.brief(name)) }
        for (option, typedName) in typed where !option.commands.contains(name) {
            throw .optionOfOtherCommands(
                typedName,
                command: name,
                accepting: CommandName.allCases.filter(option.commands.contains),
                alternative: option.alternative
            )
        }
        var arguments = arguments
        arguments.command = name
        arguments.positionals.removeFirst()
        try check(arguments.positionals, of: command)
        // It changes nothing, either.
        if arguments.values[.savePlan] != nil { arguments.counts[.dryRun] = 1 }
        return .run(arguments)
    }

    private func check(
        _ positionals: [String],
        of command: CommandSpecification
    ) throws(UsageError) {
        if command.isOfMirror {
            return try MirrorArguments.check(
                command.split(positionals).mirror,
                of: command,
                isUnlinking: arguments.has(.unlink)
            )
        }
        let needed = command.arguments.prefix { !$0.isOptional }.count
        if positionals.count < needed {
            throw .missingArgument(command.arguments[positionals.count].name, command: command.name)
        }
        let isRepeated = command.arguments.last?.isRepeated == true
        if positionals.count > command.arguments.count, !isRepeated {
            throw .surplusArgument(
                String(terminalSafe: positionals[command.arguments.count]),
                command: command.name
            )
        }
        for (argument, row) in zip(positionals, command.arguments) where argument.isEmpty {
            throw .missingArgument(row.name, command: command.name)
        }
    }

    private static func unknownCommand(_ text: String) -> UsageError {
        let names = CommandName.allCases.map(\.rawValue) + ["version"]
        return .unknownCommand(
            String(terminalSafe: text),
            suggestion: Nearest.word(to: text, among: names)
        )
    }

    private func subject(of arguments: ArraySlice<String>) throws(UsageError) -> HelpSubject? {
        guard let text = arguments.first else { return nil }
        if arguments.count > 1 {
            throw .surplusArgument(
                String(terminalSafe: arguments[arguments.startIndex + 1]),
                command: .help
            )
        }
        if let name = CommandName(rawValue: text) { return .command(name) }
        if let topic = HelpTopic(rawValue: text) { return .topic(topic) }
        let topics = HelpTopic.allCases.map(\.rawValue)
        if let topic = Nearest.word(to: text, among: topics) {
            throw .unknownTopic(String(terminalSafe: text), suggestion: topic)
        }
        throw Self.unknownCommand(text)
    }
}
