internal import OSSSync

/// The manual page `osssync(1)`, made from the tables of commands and options and the topics.
///
/// `mandoc -Tlint` has nothing to say of it (`Tests/Packages/run`).
enum ManualPage {
    /// The day of the release that the page describes.
    private static let date = "2026-11-27"
    /// The longest line of text, in bytes.
    private static let lineLength = 80

    /// The page in the language of roff's `man` macros.
    static func text() -> String {
        var lines = [
            ".TH OSSSYNC 1 \(date) \"osssync \(OSSSyncVersion.text)\" \"User Commands\"",
            ".SH NAME",
            "osssync \\- mirror a directory and a bucket prefix",
            ".SH SYNOPSIS",
        ]
        for (index, row) in CommandTable.rows.enumerated() {
            if index > 0 { lines.append(".br") }
            lines.append(".B " + escaped("osssync \(row.name.rawValue)"))
            lines += filled(row.usage.split(separator: " ").dropFirst(2).joined(separator: " "))
        }
        lines.append(".SH DESCRIPTION")
        lines += filled(
            "osssync mirrors a directory and a bucket prefix, in either direction or both, and "
                + "resumes interrupted transfers."
        )
        lines += filled(CommandTable.note)
        lines.append(".SH COMMANDS")
        for row in CommandTable.rows { lines += command(row) }
        lines.append(".SH OPTIONS")
        for group in OptionGroup.allCases where group != .connection {
            lines.append(".SS " + group.rawValue)
            for row in Option.all where row.group == group { lines += option(row) }
        }
        for topic in HelpTopic.allCases where topic != .manual {
            lines += section(".SH " + topic.rawValue.uppercased(), topic.blocks.map(text(of:)))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A heading and what follows it, which begins no paragraph: the heading does.
    private static func section(_ heading: String, _ blocks: [[String]]) -> [String] {
        let lines = blocks.flatMap(\.self)
        return [heading] + (lines.first == ".PP" ? Array(lines.dropFirst()) : lines)
    }

    private static func command(_ row: CommandSpecification) -> [String] {
        var blocks = ([sentence(row.summary)] + row.discussion).map { [".PP"] + filled($0) }
        if !row.options.isEmpty {
            let own = row.options.filter { $0.group != .connection }
            let names = own.map(\.name).joined(separator: ", ")
            let others = own.count < row.options.count ? "; and those of the connection." : "."
            blocks.append([".PP"] + filled("Options: \(names)\(others)"))
        }
        for example in row.examples {
            blocks.append([".TP", ".B " + escaped(example.line)] + filled(example.meaning))
        }
        return section(".SS " + escaped(row.usage), blocks)
    }

    private static func option(_ row: Option) -> [String] {
        let usage = row.usage.drop { $0 == " " }
        var lines = [".TP", ".B " + escaped(String(usage))] + filled(row.meaning)
        for command in CommandTable.rows {
            guard let help = command.optionHelp[row] else { continue }
            lines += [".br"] + filled("\(command.name.rawValue): \(help)")
        }
        return lines
    }

    private static func text(of block: HelpTopic.Block) -> [String] {
        switch block {
        case .paragraph(let text): [".PP"] + filled(text)
        case .code(let code): [".PP", ".nf", ".RS"] + code.map(escaped) + [".RE", ".fi"]
        case .rows(let rows):
            rows.flatMap { row in
                let entry = String(row.entry.drop { $0 == " " })
                return [".TP", ".B " + escaped(entry)] + filled(row.text)
            }
        }
    }

    /// The text in lines of at most `lineLength` bytes, which roff joins again.
    private static func filled(_ text: String) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ").map({ escapedWithin(String($0)) }) {
            if let line = lines.last, line.utf8.count + 1 + word.utf8.count <= lineLength {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append(atStart(word))
            }
        }
        return lines
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + "."
    }

    /// The text, of which roff takes nothing for its own.
    private static func escaped(_ text: String) -> String { atStart(escapedWithin(text)) }

    private static func escapedWithin(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "…": result += "..."
            default: result.append(character)
            }
        }
        return result
    }

    /// What begins a line, which roff must not take for a request.
    private static func atStart(_ text: String) -> String {
        text.first == "." || text.first == "'" ? "\\&" + text : text
    }
}
