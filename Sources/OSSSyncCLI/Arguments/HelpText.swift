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
        case .topic(.manual): ManualPage.text()
        case .topic(let topic): self.topic(topic)
        case nil: overview()
        }
    }

    /// The overview of all commands.
    func overview() -> String {
        let names = CommandTable.rows.map { row in
            ([row.name.rawValue] + row.arguments.map(\.usage)).joined(separator: " ")
        }
        var lines = wrap(
            "osssync mirrors a directory and a bucket prefix, in either direction or both, and "
                + "resumes interrupted transfers.",
            indent: 0
        )
        lines.append("")
        lines += wrap("usage: osssync COMMAND [OPTION...] ARGUMENT...", indent: 0)
        lines += ["", "Commands:"]
        lines += table(zip(names, CommandTable.rows.map(\.summary)).map { ($0, $1) })
        lines += ["", "Topics:"]
        lines += table(HelpTopic.allCases.map { ($0.rawValue, $0.summary) })
        lines.append("")
        lines += wrap(CommandTable.note, indent: 0)
        lines += wrap(
            "'osssync help COMMAND' shows the options of a command, 'osssync help TOPIC' a topic, "
                + "'osssync --version' the version.",
            indent: 0
        )
        lines.append("")
        return lines.joined(separator: "\n")
    }

    /// The help of one command.
    func command(_ row: CommandSpecification) -> String {
        var lines = wrap("usage: " + row.usage, indent: 0) + [""]
        lines += wrap(capitalized(row.summary) + ".", indent: 0)
        for paragraph in row.discussion {
            lines.append("")
            lines += wrap(paragraph, indent: 0)
        }
        for group in OptionGroup.allCases where group != .connection {
            let options = row.options.filter { $0.group == group }
            guard !options.isEmpty else { continue }
            lines += ["", group.rawValue + ":"]
            lines += table(options.map { ($0.usage, row.help(of: $0)) })
        }
        if row.options.contains(.profile) {
            lines.append("")
            lines += wrap(CommandTable.connectionNote, indent: 0)
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
    private func table(_ rows: [(entry: String, text: String)]) -> [String] {
        // A narrow terminal has the text below its entry.
        let widest = width < 60 ? 4 : 28
        let column = min(widest, rows.map(\.entry.count).max() ?? 0) + 4
        return rows.flatMap { row in
            let text = wrap(row.text, indent: column)
            let entry = "  " + row.entry
            guard entry.count + 2 <= column, let first = text.first else { return [entry] + text }
            let gap = String(repeating: " ", count: column - entry.count)
            return [entry + gap + first.drop { $0 == " " }] + text.dropFirst()
        }
    }

    private func wrap(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(margin + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [margin + line]
    }

    private func capitalized(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }
}
