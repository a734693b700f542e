/// The help texts, made from the tables.
enum HelpText {
    private static let width = 80

    /// The overview of all commands.
    static func overview() -> String {
        let names = CommandTable.rows.map { row in
            ([row.name.rawValue] + row.arguments.map(\.usage)).joined(separator: " ")
        }
        var lines = [
            "osssync mirrors between a directory and a bucket prefix, in either",
            "direction or both, and goes on where it was interrupted.",
            "",
            "usage: osssync COMMAND [OPTION...] ARGUMENT...",
            "",
            "Commands:",
        ]
        lines += table(zip(names, CommandTable.rows.map(\.summary)).map { ($0, $1) })
        lines += [
            "",
            "REMOTE is oss://BUCKET or oss://BUCKET/PREFIX, or the same with s3://.",
            "'osssync help COMMAND' shows the options of a command, 'osssync --version' the",
            "version.",
            "",
        ]
        return lines.joined(separator: "\n")
    }

    /// The help of one command.
    static func command(_ row: CommandSpecification) -> String {
        var lines = ["usage: " + row.usage, ""]
        lines += wrap(capitalized(row.summary) + ".", indent: 0)
        for paragraph in row.discussion {
            lines.append("")
            lines += wrap(paragraph, indent: 0)
        }
        for group in OptionGroup.allCases {
            let rows = OptionTable.rows.filter {
                $0.group == group && row.options.contains($0.option)
            }
            guard !rows.isEmpty else { continue }
            lines += ["", group.rawValue + ":"]
            lines += table(rows.map { ($0.usage, $0.help) })
        }
        if !row.examples.isEmpty {
            lines += ["", "Examples:"]
            for example in row.examples {
                lines += ["  " + example.line] + wrap(example.meaning, indent: 6)
            }
        }
        return (lines + [""]).joined(separator: "\n")
    }

    /// Two columns; an entry that is too long for the first has its text on the next line.
    private static func table(_ rows: [(entry: String, text: String)]) -> [String] {
        let column = min(28, rows.map(\.entry.count).max() ?? 0) + 4
        return rows.flatMap { row in
            let text = wrap(row.text, indent: column)
            let entry = "  " + row.entry
            guard entry.count + 2 <= column, let first = text.first else { return [entry] + text }
            let gap = String(repeating: " ", count: column - entry.count)
            return [entry + gap + first.drop { $0 == " " }] + text.dropFirst()
        }
    }

    private static func wrap(_ text: String, indent: Int) -> [String] {
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

    private static func capitalized(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }
}
