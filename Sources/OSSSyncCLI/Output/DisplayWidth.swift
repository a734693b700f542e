/// The number of terminal columns a text takes: two for wide East Asian characters and most
/// pictographs, none for what combines with the character before.
func displayWidth(_ text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { $0 + displayWidth($1) }
}

/// The text in at most `width` columns, with `...` for what was cut out of its middle: a title is
/// at the front, the number of a part and the extension at the end.
func fitted(_ text: String, to width: Int) -> String {
    guard displayWidth(text) > width else { return text }
    guard width > 3 else { return String(repeating: ".", count: max(0, width)) }
    let scalars = text.unicodeScalars
    let front = prefix(of: scalars, within: (width - 3) / 2)
    let room = width - 3 - displayWidth(front)
    var back = prefix(of: scalars.reversed(), within: room)
    // What combines with a character that was cut would combine with the last dot.
    while let last = back.last, displayWidth(last) == 0 { back.removeLast() }
    var result = String.UnicodeScalarView(front)
    result.append(contentsOf: "...".unicodeScalars)
    result.append(contentsOf: back.reversed())
    return String(result)
}

/// The words of the text in lines of at most `width` columns; a longer word has one for itself.
func wrapped(_ text: String, to width: Int) -> [String] {
    text.split(separator: " ").reduce(into: [String]()) { lines, word in
        if let line = lines.last, displayWidth(line) + 1 + displayWidth(word) <= width {
            lines[lines.count - 1] += " " + word
        } else {
            lines.append(String(word))
        }
    }
}

/// The text with blanks after it, or before it, up to `width` columns.
func padded(_ text: String, to width: Int, isNumber: Bool = false) -> String {
    let blanks = String(repeating: " ", count: max(0, width - displayWidth(text)))
    return isNumber ? blanks + text : text + blanks
}

/// Those of the front that take at most `width` columns.
func prefix(
    of scalars: some Sequence<Unicode.Scalar>,
    within width: Int
) -> [Unicode.Scalar] {
    var taken = 0
    var result: [Unicode.Scalar] = []
    for scalar in scalars {
        taken += displayWidth(scalar)
        guard taken <= width else { break }
        result.append(scalar)
    }
    return result
}

func displayWidth(_ scalars: some Sequence<Unicode.Scalar>) -> Int {
    scalars.reduce(0) { $0 + displayWidth($1) }
}

private func displayWidth(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0x20..<0x7F: return 1
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
        return 2
    default:
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }
}
