internal import OSSSync

/// Reads a command line by the tables of commands and options.
///
/// Options may stand before, between and after the other arguments; `--` ends them. The last
/// of two values of one option counts, but for patterns and headers, where each does.
struct ArgumentParser {
    private var positionals: [String] = []
    private var values: [Option: String] = [:]
    private var counts: [Option: Int] = [:]
    /// The patterns of what to skip, in the order given.
    private var patterns: [FilterArgument] = []
    private var headers: [String] = []
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

    private mutating func collect(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                positionals += rest
                return
            } else if argument == "--version" || argument == "-V" {
                asksForVersion = true
            } else if argument.utf8.starts(with: "--".utf8) {
                try collectLong(argument, &rest)
            } else if argument.utf8.first == UInt8(ascii: "-"), argument.utf8.count > 1 {
                try collectShort(argument, &rest)
            } else {
                positionals.append(argument)
            }
        }
    }

    private mutating func collectLong(
        _ argument: String,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        let sign = argument.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = String(argument[..<(sign ?? argument.endIndex)])
        guard let row = OptionTable.row(named: name.dropFirst(2)) else {
            if name == "--durability" { throw .removedDurability }
            throw unknownOption(name)
        }
        let value = sign.map { String(argument[argument.utf8.index(after: $0)...]) }
        try accept(row, as: row.name, value: value, &rest)
    }

    private mutating func collectShort(
        _ argument: String,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        var letters = argument.dropFirst()
        while let letter = letters.popFirst() {
            let name = "-\(letter)"
            guard let row = OptionTable.row(short: letter, of: likelyCommand) else {
                throw unknownOption(name)
            }
            // -j8: what follows the letter is its value.
            if row.value != .none, !letters.isEmpty {
                return try accept(row, as: name, value: String(letters), &rest)
            }
            try accept(row, as: name, value: nil, &rest)
        }
    }

    private mutating func accept(
        _ row: OptionSpecification,
        as name: String,
        value: String?,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        typed.append((row.option, name))
        guard row.value != .none else {
            guard value == nil else { throw .unexpectedValue(name) }
            counts[row.option, default: 0] += 1
            return
        }
        if case .optional = row.value {
            values[row.option] = value ?? ""
            return
        }
        guard let value = value ?? rest.popFirst() else { throw .missingValue(name) }
        if case .choice(let words) = row.value, !words.contains(value) {
            throw .badValue(
                option: name,
                value: String(terminalSafe: value),
                expected: "expected one of " + words.joined(separator: ", ")
            )
        }
        if let pattern = FilterArgument(row.option, value) {
            patterns.append(pattern)
        } else if row.option == .header {
            headers.append(value)
        } else {
            if row.option == .backupDirectory, values[row.option] != nil {
                throw .badValue(
                    option: name,
                    value: String(terminalSafe: value),
                    expected: "it can be given once"
                )
            }
            values[row.option] = value
        }
    }

    /// Names the nearest option, of the command if it is known.
    private func unknownOption(_ name: String) -> UsageError {
        if let advice = PeerOptions.advice(on: name) {
            return .optionOfPeers(String(terminalSafe: name), advice: advice)
        }
        let known = likelyCommand.flatMap(CommandTable.row)?.options
        let names = OptionTable.rows.filter { known?.contains($0.option) ?? true }.map(\.name)
        let isLong = name.utf8.starts(with: "--".utf8)
        return .unknownOption(
            String(terminalSafe: name),
            suggestion: isLong ? Nearest.word(to: name, among: names + ["--version"]) : nil,
            command: likelyCommand
        )
    }

    private func interpret() throws(UsageError) -> Invocation {
        if asksForVersion { return .version }
        let asksForHelp = counts[.help, default: 0] > 0
        guard let first = positionals.first else {
            if asksForHelp || typed.isEmpty { return .help(nil) }
            throw .noCommand
        }
        if first == "version", positionals.count == 1 { return .version }
        guard let name = CommandName(rawValue: first), let command = CommandTable.row(name) else {
            throw Self.unknownCommand(first)
        }
        if name == .help { return .help(try subject(of: positionals.dropFirst())) }
        if asksForHelp { return .help(.command(name)) }
        for (option, typedName) in typed where !command.options.contains(option) {
            throw .optionOfOtherCommands(
                typedName,
                command: name,
                accepting: CommandTable.rows.filter { $0.options.contains(option) }.map(\.name)
            )
        }
        let arguments = Array(positionals.dropFirst())
        try check(arguments, of: command)
        var counts = counts
        // It changes nothing, either.
        if values[.savePlan] != nil { counts[.dryRun] = 1 }
        return .run(
            ParsedArguments(
                command: name,
                positionals: arguments,
                values: values,
                counts: counts,
                patterns: patterns,
                headers: headers
            )
        )
    }

    private func check(
        _ arguments: [String],
        of command: CommandSpecification
    ) throws(UsageError) {
        if command.isOfMirror {
            return try MirrorArguments.check(
                command.split(arguments).mirror,
                of: command,
                isUnlinking: counts[.unlink, default: 0] > 0
            )
        }
        let needed = command.arguments.prefix { !$0.isOptional }.count
        if arguments.count < needed {
            throw .missingArgument(command.arguments[arguments.count].name, command: command.name)
        }
        let isRepeated = command.arguments.last?.isRepeated == true
        if arguments.count > command.arguments.count, !isRepeated {
            throw .surplusArgument(
                String(terminalSafe: arguments[command.arguments.count]),
                command: command.name
            )
        }
        for (argument, row) in zip(arguments, command.arguments) where argument.isEmpty {
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
