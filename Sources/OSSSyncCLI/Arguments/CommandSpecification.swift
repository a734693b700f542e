/// One positional argument of a command, as its usage shows it: `DIR`, `[REMOTE]` or `[PATH...]`.
struct ArgumentSpecification: Sendable, ExpressibleByStringLiteral {
    static let directoryName = "DIR"
    static let remoteName = "REMOTE"
    static let pathName = "PATH"
    static let runName = "RUN"

    let usage: String

    init(stringLiteral usage: String) { self.usage = usage }

    var name: String { usage.filter { !["[", "]", "."].contains($0) } }

    var isOptional: Bool { usage.utf8.first == UInt8(ascii: "[") }

    /// True for the last one of a command, if it can be given several times.
    var isRepeated: Bool { usage.utf8.contains(UInt8(ascii: ".")) }
}

/// One row of the table from which parsing and help come.
struct CommandSpecification: Sendable {
    let name: CommandName
    let arguments: [ArgumentSpecification]
    /// One line, for the overview.
    let summary: String
    /// Paragraphs, for the command's own help; wrapped when shown.
    let discussion: [String]
    /// Command lines that work, each with what it does.
    let examples: [(line: String, meaning: String)]
    /// The help of options that mean something else here than their rows say.
    var optionHelp: [Option: String] = [:]

    /// Its options in the order of the help; of two with one letter the first has it.
    var options: [Option] {
        var letters: Set<Character> = []
        return Option.all.filter { $0.commands.contains(name) }.map { option in
            var option = option
            if let letter = option.letter, !letters.insert(letter).inserted { option.letter = nil }
            return option
        }
    }

    func help(of option: Option) -> String { optionHelp[option] ?? option.meaning }

    /// The same in a few words, for the short help and for the completions.
    func shortHelp(of option: Option) -> String {
        if optionHelp[option] == nil, let text = option.daily { return text }
        let text = help(of: option)
        let clause = text.prefix { $0 != ";" && $0 != "(" }
        return String(clause.last == " " ? clause.dropLast() : clause)
    }

    /// The options of the short help: those of daily use, and those of few commands.
    var dailyOptions: [Option] {
        options.filter { option in
            option.daily != nil
                || !option.isOfRun && !option.isPassedOn
                    && ![.output, .connection, .other].contains(option.group)
        }
    }

    /// True if it works on a directory and its remote, whose arguments ``MirrorArguments`` reads.
    var isOfMirror: Bool { takes(ArgumentSpecification.directoryName) }

    /// True if it does nothing without a PATH.
    var needsPath: Bool {
        arguments.contains { $0.name == ArgumentSpecification.pathName && !$0.isOptional }
    }

    /// Tells RUN, which is after DIR or a number in its place, from the other arguments.
    func split(_ positionals: [String]) -> (mirror: [String], run: String?) {
        guard takes(ArgumentSpecification.runName), let last = positionals.last else {
            return (positionals, nil)
        }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let isNumber = !last.isEmpty && last.utf8.allSatisfy(digits.contains)
        guard positionals.count == 2 || positionals.count == 1 && isNumber else {
            return (positionals, nil)
        }
        return ([String](positionals.dropLast()), last)
    }

    /// True if one of its arguments has this name.
    func takes(_ argument: String) -> Bool { arguments.contains { $0.name == argument } }

    var usage: String {
        (["osssync", name.rawValue] + (options.isEmpty ? [] : ["[OPTION...]"])
            + arguments.map(\.usage)).joined(separator: " ")
    }
}
