/// Splits a configured command into its words as a shell would, without being one.
///
/// Blanks separate words; single and double quotes and the backslash keep them together. What only
/// a shell could do is refused rather than passed on as text.
func commandWords(_ command: String) throws(CredentialsError) -> [String] {
    var words: [String] = []
    var word: [UInt8]?
    var quote: UInt8?
    var isEscaped = false
    for byte in command.utf8 {
        // Also behind a backslash: a program would be given the word up to it.
        guard byte != 0 else {
            throw .processFailed(reason: "was not started: its command has a NUL byte")
        }
        if isEscaped {
            word = (word ?? []) + [byte]
            isEscaped = false
            continue
        }
        switch (byte, quote) {
        case (UInt8(ascii: "\\"), nil), (UInt8(ascii: "\\"), UInt8(ascii: "\"")):
            isEscaped = true
        case (let byte, let open?) where byte == open: quote = nil
        case (UInt8(ascii: "'"), nil), (UInt8(ascii: "\""), nil):
            quote = byte
            word = word ?? []
        case (UInt8(ascii: " "), nil), (UInt8(ascii: "\t"), nil), (UInt8(ascii: "\n"), nil):
            if let finished = word { words.append(String(decoding: finished, as: UTF8.self)) }
            word = nil
        case (_, nil) where isShellSyntax(byte),
            (UInt8(ascii: "$"), UInt8(ascii: "\"")), (UInt8(ascii: "`"), UInt8(ascii: "\"")):
            let character = Character(Unicode.Scalar(byte))
            throw .processFailed(
                reason: "was not started: its command has '\(character)', and osssync runs "
                    + "it without a shell; put the command into a script"
            )
        default: word = (word ?? []) + [byte]
        }
    }
    guard quote == nil, !isEscaped else {
        throw .processFailed(reason: "was not started: the quotes of its command are not closed")
    }
    if let finished = word { words.append(String(decoding: finished, as: UTF8.self)) }
    guard !words.isEmpty else {
        throw .processFailed(reason: "was not started: its command is empty")
    }
    return words
}

private func isShellSyntax(_ byte: UInt8) -> Bool {
    "|&;<>()$`*?[]#~!{}".utf8.contains(byte)
}
