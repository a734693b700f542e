internal import OSSSync

/// An option of the command line: all that there is to say of it, in one row.
///
/// The rows are in `Option+Runs.swift` and `Option+Commands.swift`. The parser, the defaults of a
/// directory, saved plans, rounds, schedules, the help, the manual and the completions come from
/// them.
struct Option: Sendable {
    /// `--name`.
    let name: String
    var letter: Character?
    let value: OptionValue
    let group: OptionGroup
    let traits: [OptionTrait]
    /// The commands that accept it.
    private(set) var commands: [CommandName] = []
    /// Continues the sentence "this option …", without a full stop.
    private(set) var meaning = ""
    /// The same in a few words, for the short help; nil for an option of rare use.
    private(set) var daily: String?
    /// Why a task of a round refuses it; nil if it does not.
    private(set) var shardRefusal: String?
    /// What other commands have instead; nil if there is nothing.
    private(set) var alternative: String?
    private(set) var setters = Setters()

    /// Where its value goes, by the struct that keeps it; nil if only its command reads it.
    struct Setters: Sendable {
        var run: Setter<RunOptions>?
        var single: Setter<SingleOptions>?
        var connection: Setter<ConnectionOptions>?
        var output: Setter<OutputOptions>?
    }

    init(
        _ word: String,
        letter: Character? = nil,
        _ value: OptionValue,
        _ group: OptionGroup,
        _ traits: OptionTrait...
    ) {
        name = "--" + word
        self.letter = letter
        self.value = value
        self.group = group
        self.traits = traits
    }

    /// One without a value.
    init(
        _ word: String,
        letter: Character? = nil,
        _ group: OptionGroup,
        _ traits: OptionTrait...
    ) {
        name = "--" + word
        self.letter = letter
        value = .none
        self.group = group
        self.traits = traits
    }

    private func with<Value>(_ member: WritableKeyPath<Self, Value>, _ value: Value) -> Self {
        var option = self
        option[keyPath: member] = value
        return option
    }

    func of(_ commands: [CommandName]...) -> Self { with(\.commands, commands.flatMap(\.self)) }

    func help(_ meaning: String) -> Self { with(\.meaning, meaning) }

    func daily(_ text: String) -> Self { with(\.daily, text) }

    func refused(withShard reason: String) -> Self { with(\.shardRefusal, reason) }

    func refused(elsewhere alternative: String) -> Self { with(\.alternative, alternative) }

    func run(_ setter: Setter<RunOptions>) -> Self { with(\.setters.run, setter) }

    func single(_ setter: Setter<SingleOptions>) -> Self { with(\.setters.single, setter) }

    func connection(_ setter: Setter<ConnectionOptions>) -> Self {
        with(\.setters.connection, setter)
    }

    func output(_ setter: Setter<OutputOptions>) -> Self { with(\.setters.output, setter) }
}

/// What files and other command lines do with an option.
enum OptionTrait: Sendable {
    /// Saved plans and rounds keep it: it decides what is done, or which remote is meant.
    case kept
    /// No file can set it: it confirms one run, decides what is trusted, or names what is written
    /// or told, which a directory from somebody else must not.
    case typed
    /// Its value is a file or directory that is written, outside of DIR.
    case writes
    /// Each value counts, in the order given, and not only the last one.
    case repeats
}

/// What follows an option on the command line.
enum OptionValue: Sendable, Hashable, ExpressibleByStringLiteral {
    /// Nothing.
    case none
    /// One of these words.
    case choice([String])
    /// Any text, shown in the help by this word.
    case text(String)
    /// Nothing, or "=" and any text, shown in the help by this word.
    case optional(String)

    init(stringLiteral word: String) { self = .text(word) }

    /// One of the cases of a type.
    static func one<Choice: CaseIterable & RawRepresentable>(of type: Choice.Type) -> Self
    where Choice.RawValue == String {
        .choice(type.allCases.map(\.rawValue))
    }
}

/// The heading under which the help shows an option.
enum OptionGroup: String, CaseIterable, Sendable {
    case run = "Options"
    case filter = "Filters"
    case schedule = "Schedules"
    case shard = "Shards"
    case object = "Objects"
    case transfer = "Transfers"
    case output = "Output"
    case connection = "Connection and credentials"
    case other = "Other"
}

extension Option: Hashable {
    static func == (left: Self, right: Self) -> Bool { left.name == right.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Option {
    /// All options, in the order in which the help shows them.
    static let all =
        ofMirrors + ofSingleCommands + ofTransfers + ofMostCommands

    /// The name without dashes, as configuration files have it.
    var word: String { String(name.dropFirst(2)) }

    var isKept: Bool { traits.contains(.kept) }

    /// What the link of a directory records.
    var isOfLink: Bool { group == .connection && isKept }

    /// True if a run that is started later gets it as it was given.
    var isPassedOn: Bool {
        (isOfRun || commands.contains(.verify)) && commands.contains(.schedule)
            && ![.quiet, .stateDirectory, .help].contains(self)
    }

    var isOfRun: Bool { commands.contains(where: [CommandName].runs.contains) }

    /// True if its value is the path of a file or directory.
    var takesPath: Bool { value == "FILE" || value == "PATH" }

    /// True if its value is the next word.
    var needsValue: Bool {
        switch value {
        case .none, .optional: false
        case .choice, .text: true
        }
    }

    /// The words that its value can be; empty if it can be another text.
    var choices: [String] {
        if case .choice(let words) = value { return words }
        return []
    }

    /// What is expected instead of a value that is none of its words; nil if it is, or has none.
    func expectation(of value: String) -> String? {
        choices.isEmpty || choices.contains(value)
            ? nil : "expected one of " + choices.joined(separator: ", ")
    }

    /// `-q, --quiet` or `    --jobs N`, as the help shows it.
    var usage: String {
        let beginning = (letter.map { "-\($0), " } ?? "    ") + name
        switch value {
        case .none: return beginning
        case .choice(let words): return beginning + " " + words.joined(separator: "|")
        case .text(let word): return beginning + " " + word
        case .optional(let word): return beginning + "[=\(word)]"
        }
    }

    /// The same for the short help, which says less of long values.
    var shortUsage: String {
        guard usage.count > 26 else { return usage }
        let end = usage.lastIndex { $0 == " " || $0 == "[" } ?? usage.endIndex
        return usage[..<end] + (usage[end] == "[" ? "[=...]" : " ...")
    }

    static func named(_ name: String) -> Option? { all.first { $0.name == name } }

    /// A letter can be another option of one command than of all others.
    static func lettered(_ letter: Character, of command: CommandName?) -> Option? {
        command.flatMap(CommandTable.row)?.options.first { $0.letter == letter }
            ?? all.last { $0.letter == letter }
    }
}
