internal import SyncModel

/// A configuration file of sections and `key = value` lines, as osssync, ossutil and the aws tools
/// write them.
///
/// `#` and `;` begin a comment at the start of a line or after a blank. A value in double quotes is
/// literal, with the escapes `\"`, `\\`, `\n`, `\r` and `\t`. Names of keys are equal if they
/// differ only in case, `-` and `_`.
package struct INIDocument: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        /// As it is written.
        package let key: String
        package let value: String
        /// From 1.
        package let line: Int
    }

    package struct Section: Sendable, Hashable {
        /// As it is written, with single spaces between words; empty for what comes before the
        /// first section.
        package let name: String
        /// From 1; 0 for what comes before the first section.
        package let line: Int
        package fileprivate(set) var entries: [Entry]

        /// The value of the last entry of that name.
        package subscript(key: String) -> String? {
            entry(key)?.value
        }

        package func entry(_ key: String) -> Entry? {
            let name = INIDocument.normalized(key)
            return entries.last { INIDocument.normalized($0.key) == name }
        }

        /// The value of the last entry that is written exactly so: for sections whose keys are the
        /// names of buckets.
        package func value(exactly key: String) -> String? {
            entries.last { $0.key == key }?.value
        }
    }

    /// What a key that is given twice in a section means.
    package enum DuplicateRule: Sendable {
        /// The last one counts, as in most tools.
        case lastCounts
        /// An error, but for keys of these names, of which each counts.
        case refused(except: Set<String>)
    }

    /// In the order of their first lines; a section given twice is one.
    package private(set) var sections: [Section] = []

    package init(parsing bytes: [UInt8], duplicates: DuplicateRule) throws(INIError) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if let first = lines.first, first.starts(with: mark) { lines[0] = first.dropFirst(3) }
        var current = sectionIndex("", line: 0)
        for (index, line) in lines.enumerated() {
            let number = index + 1
            guard let text = INILine(line, number: number) else { throw .notText(line: number) }
            switch try text.content() {
            case nil: continue
            case .section(let name): current = sectionIndex(name, line: number)
            case .entry(let entry):
                if case .refused(let except) = duplicates,
                    !except.contains(INIDocument.normalized(entry.key)),
                    let earlier = sections[current].entry(entry.key)
                {
                    throw .duplicate(key: entry.key, line: number, firstLine: earlier.line)
                }
                sections[current].entries.append(entry)
            }
        }
        sections.removeAll { $0.name.isEmpty && $0.entries.isEmpty }
    }

    package subscript(section name: String) -> Section? {
        sections.first { $0.name == name }
    }

    /// `value`, in quotes if it would be read differently without.
    package static func quoted(_ value: String) -> String {
        let needsQuotes =
            value.isEmpty
            || value.utf8.contains { byte in
                byte < 0x21 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                    || isCommentStart(byte)
            }
        guard needsQuotes else { return value }
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }

    /// A key's name in lower case without `-` and `_`.
    package static func normalized(_ key: String) -> String {
        let kept = key.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
        return String(decoding: kept.map(\.withoutCase), as: UTF8.self)
    }

    private mutating func sectionIndex(_ name: String, line: Int) -> Int {
        if let index = sections.firstIndex(where: { $0.name == name }) { return index }
        sections.append(Section(name: name, line: line, entries: []))
        return sections.count - 1
    }
}

/// Why a text is no configuration file; lines count from 1.
///
/// No case holds a value: it could be a secret.
package enum INIError: Error, Sendable, Hashable {
    case notText(line: Int)
    case noEqualsSign(line: Int)
    case emptyKey(line: Int)
    case brokenSection(line: Int)
    case brokenQuotes(line: Int)
    case duplicate(key: String, line: Int, firstLine: Int)

    package var message: String {
        switch self {
        case .notText(let line): "line \(line) is not UTF-8 text"
        case .noEqualsSign(let line): "line \(line) is neither '[section]' nor 'key = value'"
        case .emptyKey(let line): "line \(line) has no name before the '='"
        case .brokenSection(let line): "line \(line) begins with '[' but is not '[section]'"
        case .brokenQuotes(let line): "the quotes of line \(line) are not closed"
        case .duplicate(let key, let line, let firstLine):
            "line \(line) gives '\(displayText(key.utf8))' again, after line \(firstLine)"
        }
    }
}
