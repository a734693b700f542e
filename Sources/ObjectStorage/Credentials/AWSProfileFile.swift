internal import SyncModel

/// One of the two files of the aws tools: sections of `key = value` lines, where a value that is
/// empty may be followed by indented lines with keys of its own.
struct AWSProfileFile {
    let file: ConfigurationFile
    /// Sections by name; a nested key is named `parent.key`.
    private var sections: [String: [String: String]] = [:]

    /// Nil if there is no such file.
    init?(path: String?) throws(CredentialsError) {
        guard let path, let file = try ConfigurationFile(path: path) else { return nil }
        try self.init(file)
    }

    init(_ file: ConfigurationFile) throws(CredentialsError) {
        self.file = file
        var section: String?
        var parent: String?
        for (index, line) in file.bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            .enumerated()
        {
            guard !line.contains(0), isValidUTF8([UInt8](line)) else {
                throw .invalid(source: file.path, reason: "line \(index + 1) is not UTF-8 text")
            }
            let isIndented = line.first?.isBlank == true
            let text = String(decoding: line, as: UTF8.self).trimmed
            guard let first = text.utf8.first, !isCommentStart(first) else { continue }
            if first == UInt8(ascii: "["), !isIndented {
                guard let end = text.firstIndex(of: "]") else {
                    throw .invalid(
                        source: file.path,
                        reason: "line \(index + 1) begins with '[' but is not '[section]'"
                    )
                }
                let name = text.utf8[text.utf8.index(after: text.startIndex)..<end]
                section = String(decoding: sectionName(Array(name)), as: UTF8.self)
                sections[section ?? "", default: [:]].merge([:]) { old, _ in old }
                parent = nil
                continue
            }
            guard let section, let equals = text.firstIndex(of: "=") else { continue }
            let key = text[..<equals].trimmed.lowercased()
            let value = Self.withoutComment(text[equals...].dropFirst().trimmed)
            if isIndented, let parent {
                sections[section, default: [:]][parent + "." + key] = value
            } else {
                sections[section, default: [:]][key] = value
                parent = value.isEmpty ? key : nil
            }
        }
    }

    /// The keys of a section; nil if there is none of that name.
    subscript(section name: String) -> [String: String]? { sections[name] }

    /// A comment within a line begins after a blank.
    private static func withoutComment(_ value: String) -> String {
        let bytes = Array(value.utf8)
        let comment = bytes.indices.first { index in
            isCommentStart(bytes[index]) && (index == 0 || bytes[index - 1].isBlank)
        }
        guard let comment else { return value }
        return String(decoding: bytes[..<comment], as: UTF8.self).trimmed
    }
}
