internal import OSSSync

/// A message with the directory in place of DIR in each command of osssync that it names, so that
/// the command can be copied as it stands.
func namingDirectory(_ directory: String?, in message: String) -> String {
    guard let directory, let name = commandWord(directory), message.hasPart("osssync ") else {
        return message
    }
    var isCommand = false
    let words = message.split(separator: " ", omittingEmptySubsequences: false).map { word in
        if word.hasSuffix("osssync") {
            isCommand = true
            return String(word)
        }
        guard isCommand else { return String(word) }
        let end = word.firstIndex { "';,)<\n".contains($0) }
        isCommand = end == nil
        return word[..<(end ?? word.endIndex)] == "DIR" ? name + word.dropFirst(3) : String(word)
    }
    return words.joined(separator: " ")
}

/// A text as one word of a command that stands in single quotes; nil if a shell would change it
/// there.
func commandWord(_ text: String) -> String? {
    let special = "'\"$`\\!*?[]<>|&;(){}#"
    guard !text.isEmpty, String(terminalSafe: text) == text, !text.contains(where: special.contains)
    else { return nil }
    return text.contains(" ") || text.hasPrefix("~") ? "\"\(text)\"" : text
}
