internal import OSSSync

/// The manual page `osssync(1)`, made from the tables of commands and options and the topics.
enum ManualPage {
    /// The page in the language of roff's `man` macros.
    static func text() -> String {
        var lines = [
            ".TH OSSSYNC 1 \"\" \"osssync \(escaped(OSSSyncVersion.text))\" \"User Commands\"",
            ".SH NAME",
            "osssync \\- mirror a directory and a bucket prefix",
            ".SH SYNOPSIS",
        ]
        for row in CommandTable.rows {
            lines += [".B " + escaped("osssync \(row.name.rawValue)")]
            lines += [escaped(row.usage.split(separator: " ").dropFirst(2).joined(separator: " "))]
            lines += [".br"]
        }
        lines += [".SH DESCRIPTION"]
        lines += [
            "osssync mirrors a directory and a bucket prefix, in either direction or both, and "
                + "resumes interrupted transfers."
        ]
        lines += [escaped(CommandTable.note)]
        lines.append(".SH COMMANDS")
        for row in CommandTable.rows { lines += command(row) }
        lines.append(".SH OPTIONS")
        for group in OptionGroup.allCases where group != .connection {
            lines.append(".SS " + group.rawValue)
            for row in Option.all where row.group == group { lines += option(row) }
        }
        for topic in HelpTopic.allCases where topic != .manual {
            lines.append(".SH " + topic.rawValue.uppercased())
            for block in topic.blocks { lines += text(of: block) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func command(_ row: CommandSpecification) -> [String] {
        var lines = [".SS " + escaped(row.usage)]
        for paragraph in [sentence(row.summary)] + row.discussion {
            lines += [".PP", escaped(paragraph)]
        }
        if !row.options.isEmpty {
            let own = row.options.filter { $0.group != .connection }
            let names = own.map(\.name).joined(separator: ", ")
            let others = own.count < row.options.count ? "; and those of the connection." : "."
            lines += [".PP", escaped("Options: \(names)\(others)")]
        }
        for example in row.examples {
            lines += [".TP", ".B " + escaped(example.line), escaped(example.meaning)]
        }
        return lines
    }

    private static func option(_ row: Option) -> [String] {
        let usage = row.usage.drop { $0 == " " }
        var lines = [".TP", ".B " + escaped(String(usage)), escaped(row.meaning)]
        for command in CommandTable.rows {
            guard let help = command.optionHelp[row] else { continue }
            lines += [".br", escaped("\(command.name.rawValue): \(help)")]
        }
        return lines
    }

    private static func text(of block: HelpTopic.Block) -> [String] {
        switch block {
        case .paragraph(let text): [".PP", escaped(text)]
        case .code(let code): [".PP", ".nf", ".RS"] + code.map(escaped) + [".RE", ".fi"]
        case .rows(let rows):
            rows.flatMap { row in
                let entry = String(row.entry.drop { $0 == " " })
                return [".TP", ".B " + escaped(entry), escaped(row.text)]
            }
        }
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + "."
    }

    /// The text, of which roff takes nothing for its own.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "…": result += "..."
            default: result.append(character)
            }
        }
        return result.first == "." || result.first == "'" ? "\\&" + result : result
    }
}
