/// The help texts, made from the tables.
struct HelpText {
    /// The columns of a page that no terminal shows.
    static let standardWidth = 79
    /// Longer lines are hard to read.
    private static let greatestWidth = 100
    private static let smallestWidth = 40

    let width: Int

    /// The columns that a text has on this output.
    static func width(of stream: OutputStream) -> Int {
        guard stream.isTerminal else { return standardWidth }
        return max(smallestWidth, min(stream.size.columns - 1, greatestWidth))
    }

    /// The page of a command or a topic, or the overview.
    func text(_ subject: HelpSubject?) -> String {
        switch subject {
        case .command(let name): CommandTable.row(name).map(command) ?? overview()
        case .brief(let name): CommandTable.row(name).map(brief) ?? overview()
        case .topic(.manual): ManualPage.text()
        case .topic(let topic): self.topic(topic)
        case nil: overview()
        }
    }

    /// The overview of the commands: those of every day first.
    func overview() -> String {
        let others = CommandTable.rows.map(\.name).filter { name in
            !CommandTable.everyday.contains(name) && !CommandTable.ofScale.contains(name)
                && name != .help
        }
        func lines(_ names: [CommandName]) -> [String] {
            table(names.compactMap(CommandTable.row).map { ($0.name.rawValue, $0.summary) })
        }
        var text = wrap(CommandTable.introduction, indent: 0)
        text.append("")
        text += wrap("usage: osssync COMMAND [OPTION...] [DIR] [REMOTE] [PATH...]", indent: 0)
        text.append("")
        text += lines(CommandTable.everyday) + ["", "More:"] + lines(others) + [""]
        let topics = HelpTopic.allCases.map(\.rawValue).joined(separator: ", ")
        text += wrap(
            "'osssync COMMAND -h' shows a command on one screen, 'osssync help COMMAND' all of it, "
                + "'osssync help TOPIC' one of the topics \(topics).",
            indent: 0
        )
        return (text + [""]).joined(separator: "\n")
    }

    /// All help of one command.
    func command(_ row: CommandSpecification) -> String {
        page(row, of: OptionGroup.allCases)
    }

    /// The help of one command on a screen: all but the connection, or if that is too long, one
    /// line for each option of daily use.
    func brief(_ row: CommandSpecification) -> String {
        let note = wrap("'osssync help \(row.name.rawValue)' shows all.", indent: 0) + [""]
        let all = page(row, of: OptionGroup.allCases.filter { $0 != .connection })
        let isShort = all.utf8.count { $0 == UInt8(ascii: "\n") } + 2 <= Self.screen
        if isShort { return all + "\n" + note.joined(separator: "\n") }
        var lines = wrap("usage: " + row.usage, indent: 0)
        lines += wrap(capitalized(row.summary) + ".", indent: 0) + [""]
        let options = row.dailyOptions.map { ($0.shortUsage, row.shortHelp(of: $0)) }
        lines += table(options, isCut: true) + [""]
        for example in row.examples.prefix(3) {
            lines += ["  " + example.line] + wrap(example.meaning, indent: 6)
        }
        return (lines + [""] + note).joined(separator: "\n")
    }

    /// The lines that a short help has at most.
    static let screen = 45

    private func page(_ row: CommandSpecification, of groups: [OptionGroup]) -> String {
        var lines = wrap("usage: " + row.usage, indent: 0) + [""]
        lines += wrap(capitalized(row.summary) + ".", indent: 0)
        for paragraph in row.discussion {
            lines.append("")
            lines += wrap(paragraph, indent: 0)
        }
        for group in groups {
            let options = row.options.filter { $0.group == group }
            guard !options.isEmpty else { continue }
            lines += ["", group.rawValue + ":"]
            lines += table(options.map { ($0.usage, row.help(of: $0)) })
        }
        if !row.examples.isEmpty {
            lines += ["", "Examples:"]
            for example in row.examples {
                lines += ["  " + example.line] + wrap(example.meaning, indent: 6)
            }
        }
        return (lines + [""]).joined(separator: "\n")
    }

    private func topic(_ topic: HelpTopic) -> String {
        var lines: [String] = []
        for block in topic.blocks {
            if !lines.isEmpty { lines.append("") }
            switch block {
            case .paragraph(let text): lines += wrap(text, indent: 0)
            case .code(let code): lines += code.map { $0.isEmpty ? "" : "  " + $0 }
            case .rows(let rows): lines += table(rows.map { ($0.entry, $0.text) })
            }
        }
        return (lines + [""]).joined(separator: "\n")
    }

    /// Two columns; an entry that is too long for the first has its text on the next line.
    ///
    /// A text that is cut has one line.
    private func table(_ rows: [(entry: String, text: String)], isCut: Bool = false) -> [String] {
        // A narrow terminal has the text below its entry.
        let widest = width < 60 ? 4 : 28
        let column = min(widest, rows.map(\.entry.count).max() ?? 0) + 4
        return rows.flatMap { row in
            var text = wrap(row.text, indent: column)
            if isCut, text.count > 1 {
                let cut = HelpText(width: width - 4).wrap(row.text, indent: column)
                text = [cut[0] + " ..."]
            }
            let entry = "  " + row.entry
            guard entry.count + 2 <= column, let first = text.first else { return [entry] + text }
            let gap = String(repeating: " ", count: column - entry.count)
            return [entry + gap + first.drop { $0 == " " }] + text.dropFirst()
        }
    }

    private func wrap(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        return wrapped(text, to: width - indent).map { margin + $0 }
    }

    private func capitalized(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }
}
