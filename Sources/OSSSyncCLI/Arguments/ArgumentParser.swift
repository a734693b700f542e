internal import OSSSync

/// Reads a command line by the tables of commands and options.
///
/// Options may stand before, between and after the other arguments; `--` ends them. The last
/// of two values of one option counts, but for patterns, where each does.
struct ArgumentParser {
    private var positionals: [String] = []
    private var values: [Option: String] = [:]
    private var counts: [Option: Int] = [:]
    /// The patterns of what to leave alone, of which each counts.
    private var patterns: [FilterArgument] = []
    /// The options as they were typed, in order, for messages.
    private var typed: [(option: Option, name: String)] = []
    private var asksForVersion = false

    private init() {}

    /// Reads the arguments after the program's name.
    static func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        var parser = ArgumentParser()
        try parser.collect(arguments)
        return try parser.interpret()
    }

    private mutating func collect(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                positionals += rest
                return
            } else if argument == "--version" {
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
            throw .unknownOption(displayText(name), suggestion: Self.suggestion(for: name))
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
            guard let row = OptionTable.row(short: letter) else {
                throw .unknownOption(displayText(name), suggestion: nil)
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
        guard let value = value ?? rest.popFirst() else { throw .missingValue(name) }
        if case .choice(let words) = row.value, !words.contains(value) {
            throw .badValue(
                option: name,
                value: displayText(value),
                expected: "it is one of " + words.joined(separator: ", ")
            )
        }
        switch row.option {
        case .include, .exclude:
            patterns.append(FilterArgument(excludes: row.option == .exclude, pattern: value))
        default:
            values[row.option] = value
        }
    }

    private func interpret() throws(UsageError) -> Invocation {
        if asksForVersion { return .version }
        let asksForHelp = counts[.help, default: 0] > 0
        guard let first = positionals.first else {
            if asksForHelp { return .help(nil) }
            throw .noCommand
        }
        guard let name = CommandName(rawValue: first), let command = CommandTable.row(name) else {
            throw .unknownCommand(displayText(first))
        }
        if name == .help { return .help(try subject(of: positionals.dropFirst())) }
        if asksForHelp { return .help(name) }
        for (option, typedName) in typed where !command.options.contains(option) {
            throw .optionOfOtherCommands(
                typedName,
                command: name,
                accepting: CommandTable.rows.filter { $0.options.contains(option) }.map(\.name)
            )
        }
        let arguments = Array(positionals.dropFirst())
        let needed = command.arguments.prefix { !$0.isOptional }.count
        if arguments.count < needed {
            throw .missingArgument(command.arguments[arguments.count].name, command: name)
        }
        if arguments.count > command.arguments.count {
            throw .surplusArgument(
                displayText(arguments[command.arguments.count]),
                command: name
            )
        }
        for (argument, row) in zip(arguments, command.arguments) where argument.isEmpty {
            throw .missingArgument(row.name, command: name)
        }
        return .run(
            ParsedArguments(
                command: name,
                positionals: arguments,
                values: values,
                counts: counts,
                patterns: patterns
            )
        )
    }

    private func subject(of arguments: ArraySlice<String>) throws(UsageError) -> CommandName? {
        guard let text = arguments.first else { return nil }
        guard let name = CommandName(rawValue: text) else {
            throw .unknownCommand(displayText(text))
        }
        if arguments.count > 1 {
            throw .surplusArgument(displayText(arguments[arguments.startIndex + 1]), command: .help)
        }
        return name
    }

    /// The option whose name is nearest, if it is near.
    private static func suggestion(for name: String) -> String? {
        let distances = OptionTable.rows.map { row in
            (row.name, editDistance(Array(row.name.utf8), Array(name.utf8.prefix(40))))
        }
        guard let best = distances.min(by: { $0.1 < $1.1 }), best.1 <= 2 else { return nil }
        return best.0
    }
}

/// The number of bytes to insert, drop or replace to make one text from the other.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (leftIndex, leftByte) in left.enumerated() {
        var diagonal = row[0]
        row[0] = leftIndex + 1
        for (rightIndex, rightByte) in right.enumerated() {
            let replaced = diagonal + (leftByte == rightByte ? 0 : 1)
            diagonal = row[rightIndex + 1]
            row[rightIndex + 1] = min(replaced, min(diagonal, row[rightIndex]) + 1)
        }
    }
    return row[right.count]
}
