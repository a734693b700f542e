internal import LocalStorage
internal import SyncModel

/// The options that exclude a name, ready to copy into a shell.
struct FilterHint {
    /// As the end of a message.
    let text: String

    /// Nil for a name that no pattern matches exactly, or that is too long to show.
    init?(_ key: ObjectKey, isFileOnly: Bool) {
        guard key.bytes.count <= 512 else { return nil }
        var pattern = "/"
        let names = key.bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isDirectory = key.isDirectoryMarker && names.count > 1
        let segments = isDirectory ? names.dropLast() : names[...]
        for (index, name) in segments.enumerated() {
            if index > 0 { pattern += "/" }
            pattern += Self.escaped(name)
        }
        if isDirectory { pattern += "/" }
        var filter = FileFilter()
        guard (try? filter.exclude(pattern)) != nil, filter.excludes(key) else { return nil }
        var options = "--exclude " + Self.quoted(pattern)
        // It must not match a directory of that name.
        if isFileOnly, !isDirectory { options += " --include " + Self.quoted(pattern + "/") }
        text = "; to exclude it: " + options
    }

    /// Of what a walk could not look at, and all beneath it.
    init?(_ issue: WalkIssue) {
        switch issue.reason {
        case .unreadableDirectory:
            self.init(ObjectKey(issue.path + [UInt8(ascii: "/")]), isFileOnly: false)
        case .unreadableEntry: self.init(ObjectKey(issue.path), isFileOnly: false)
        default: return nil
        }
    }

    /// What has a meaning in patterns gets a "\\", and what cannot be shown is any character.
    private static func escaped(_ name: ArraySlice<UInt8>) -> String {
        var text = ""
        var decoder = UTF8()
        var bytes = name.makeIterator()
        while true {
            switch decoder.decode(&bytes) {
            case .emptyInput: return text
            case .error: text += "?"
            case .scalarValue(let scalar):
                let shown = String(scalar)
                if displayText(shown.utf8) != shown, scalar != "\\" {
                    text += "?"
                } else {
                    if "*?[\\".unicodeScalars.contains(scalar) { text += "\\" }
                    text += shown
                }
            }
        }
    }

    private static func quoted(_ text: String) -> String {
        let end = "'\\''"
        return "'"
            + text.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: end) + "'"
    }
}
