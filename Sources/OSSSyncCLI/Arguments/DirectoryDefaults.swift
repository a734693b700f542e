internal import OSSSync

/// The defaults of options that `DIR/.osssync/config` has: in `[mirror]` for every command, in
/// `[pull]`, `[push]` and `[sync]` for one.
struct DirectoryDefaults: Sendable {
    private static let common = "mirror"

    private let path: String
    private let common: [Default]
    private let own: [CommandName: [Default]]

    /// One line that was understood.
    fileprivate struct Default: Sendable {
        let option: Option
        /// Empty for an option that needs none; nil if it is switched off.
        let value: String?
    }

    /// Reads and checks all lines, whichever command they are for; paths are relative to DIR.
    ///
    /// With `skipsErrors`, lines that cannot be used are left out.
    init(
        _ configuration: DirectoryConfiguration,
        of directory: String,
        skipsErrors: Bool = false
    ) throws(UsageError) {
        path = configuration.path
        var common: [Default] = []
        var own: [CommandName: [Default]] = [:]
        for section in configuration.sections {
            let command = CommandName(rawValue: section.name)
            guard section.name == Self.common || command.map([CommandName].runs.contains) == true
            else {
                if skipsErrors { continue }
                throw .configuration(
                    path: String(terminalSafe: path),
                    line: section.entries.first.map { min($0.line, section.line) } ?? section.line,
                    reason: Self.unknownSection(section.name)
                )
            }
            for entry in section.entries where !entry.isOfLink {
                let known: Default
                do throws(UsageError) {
                    known = try Self.read(entry, of: command, path: path, directory: directory)
                } catch {
                    if skipsErrors { continue }
                    throw error
                }
                if section.name == Self.common { common.append(known) }
                if let command { own[command, default: []].append(known) }
            }
        }
        (self.common, self.own) = (common, own)
    }

    private static func unknownSection(_ name: String) -> String {
        let known = "expected [mirror], [pull], [push] or [sync]"
        return name.isEmpty
            ? "the line is before the first section; \(known)"
            : "unknown section [\(String(terminalSafe: name))]; \(known)"
    }

    /// The options that a line can set.
    private static let settable = Option.all.filter { option in
        option != .help && !option.traits.contains(.typed) && option.isOfRun
    }

    private static func read(
        _ entry: DirectoryConfiguration.Entry,
        of command: CommandName?,
        path: String,
        directory: String
    ) throws(UsageError) -> Default {
        func problem(_ reason: String) -> UsageError {
            .configuration(path: String(terminalSafe: path), line: entry.line, reason: reason)
        }
        let name = String(entry.key.lowercased().map { $0 == "_" ? "-" : $0 })
        guard let option = settable.first(where: { $0.word == name }) else {
            if Option.named("--" + name)?.traits.contains(.typed) == true {
                throw problem("'\(name)' can only be given on the command line")
            }
            let nearest = Nearest.word(to: name, among: settable.map(\.word))
            let advice =
                PeerOptions.advice(on: "--" + name) ?? nearest.map { "did you mean '\($0)'?" }
            throw problem(
                "unknown name '\(String(terminalSafe: entry.key))'"
                    + (advice.map { "; \($0)" } ?? "")
            )
        }
        if let command, !option.commands.contains(command) {
            throw problem("'\(name)' is not an option of \(command.rawValue)")
        }
        if option.isOfLink { throw problem("'\(name)' belongs in [mirror]") }
        var value: String? = entry.value
        let word = entry.value.lowercased()
        if option.value == .none {
            guard let isOn = switches[word] else { throw problem("'\(name)' is 'yes' or 'no'") }
            value = isOn ? "" : nil
        } else if case .optional = option.value, let isOn = words[word] {
            value = isOn ? "" : nil
        } else if option.takesPath, entry.value.utf8.first != UInt8(ascii: "/") {
            value = directory + "/" + entry.value
        }
        let known = Default(option: option, value: value)
        do throws(UsageError) {
            try check(known)
        } catch {
            if case .interrupted = error { throw error }
            throw problem(error.message)
        }
        return known
    }

    private static let words = [
        "yes": true, "true": true, "on": true, "no": false, "false": false, "off": false,
    ]
    private static let switches = words.merging(["1": true, "0": false]) { $1 }

    /// Refuses a value that the command line would refuse, too.
    private static func check(_ known: Default) throws(UsageError) {
        if let value = known.value, let expected = known.option.expectation(of: value) {
            throw .badValue(known.option, value, expected)
        }
        var arguments = ParsedArguments(command: .pull, positionals: [])
        arguments.add([known])
        _ = try RunOptions(arguments)
        _ = try ConnectionOptions(arguments)
        _ = try OutputOptions(arguments)
    }

    /// True if a direction has filters of its own, which a command on all of them cannot apply.
    func hasOwnFilters(_ command: CommandName) -> Bool {
        own[command, default: []].contains { known in
            known.option.group == .filter && known.option.commands.contains(.status)
        }
    }

    /// The arguments with the defaults of what was not typed; patterns come before typed ones.
    ///
    /// The options and the section of `command` count, by default of the one that was typed.
    func filling(
        _ typed: ParsedArguments,
        as command: CommandName? = nil,
        except isLeftOut: (Option) -> Bool = { _ in false }
    ) -> ParsedArguments {
        let command = command ?? typed.command
        var filled = ParsedArguments(command: typed.command, positionals: typed.positionals)
        filled.add(
            (common + own[command, default: []]).filter {
                $0.option.commands.contains(command) && !isLeftOut($0.option)
            }
        )
        // The one typed overrides its opposite.
        let opposites: [(Option, Option)] = [
            (.verbose, .quiet), (.quiet, .verbose), (.emptyDirectories, .noEmptyDirectories),
            (.asOf, .restore), (.savePlan, .restore),
        ]
        for (option, opposite) in opposites where typed.has(option) {
            (filled.counts[opposite], filled.values[opposite]) = (nil, nil)
        }
        filled.values.merge(typed.values) { $1 }
        filled.counts.merge(typed.counts) { $1 }
        filled.repeated += typed.repeated
        return filled
    }
}

extension ParsedArguments {
    fileprivate mutating func add(_ defaults: [DirectoryDefaults.Default]) {
        for known in defaults {
            if known.option.value == .none {
                counts[known.option] = known.value.map { _ in 1 }
                if known.option == .emptyDirectories {
                    counts[.noEmptyDirectories] = known.value == nil ? 1 : nil
                }
            } else if let value = known.value {
                add(known.option, value)
            } else {
                values[known.option] = nil
            }
        }
    }
}
