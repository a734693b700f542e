/// The number of terminal columns a text takes: two for wide East Asian characters and most
/// pictographs, none for what combines with the character before.
func displayWidth(_ text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { $0 + displayWidth($1) }
}

/// The end of the text in at most `width` columns, with `...` for what was cut: the end of a key is
/// more specific than its beginning.
func fitted(_ text: String, to width: Int) -> String {
    guard displayWidth(text) > width else { return text }
    guard width > 3 else { return String(repeating: ".", count: max(0, width)) }
    var scalars: [Unicode.Scalar] = []
    var taken = 3
    for scalar in text.unicodeScalars.reversed() {
        let next = displayWidth(scalar)
        guard taken + next <= width else { break }
        taken += next
        scalars.append(scalar)
    }
    // What combines with a character that was cut would combine with the last dot.
    while let last = scalars.last, displayWidth(last) == 0 { scalars.removeLast() }
    var result = "..."
    result.unicodeScalars.append(contentsOf: scalars.reversed())
    return result
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
