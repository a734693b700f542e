/// The names of transfers, each in at most `width` columns, such that neighbours can be told apart.
///
/// Directories are left out first, then the middle of the name. Names that would look the same show
/// what each has of its own, and leave out what they share.
func distinctNames(_ keys: [String], width: Int) -> [String] {
    var names = keys.map { shortened($0, to: width) }
    for name in Set(names) {
        let alike = keys.indices.filter { names[$0] == name }
        let texts = alike.map { [Unicode.Scalar](keys[$0].unicodeScalars) }
        for (index, own) in zip(alike, texts) {
            let others = texts.filter { $0 != own }
            let start = others.map { equalCount($0, own) }.min()
            let end = others.map { equalCount($0.reversed(), own.reversed()) }.min()
            guard let start, let end else { continue }
            names[index] = fitted(own, to: width, keeping: start..<max(start, own.count - end))
        }
    }
    return names
}

/// The path with as many of its last directories as there is room for.
private func shortened(_ path: String, to width: Int) -> String {
    guard displayWidth(path) > width else { return path }
    var rest = path[...]
    while let slash = rest.firstIndex(of: "/"), slash != rest.indices.last {
        rest = rest[rest.index(after: slash)...]
        if displayWidth(rest) + 4 <= width { return ".../" + rest }
    }
    return fitted(String(rest), to: width)
}

/// The text in at most `width` columns, with the words of which `range` is a part.
private func fitted(_ text: [Unicode.Scalar], to width: Int, keeping range: Range<Int>) -> String {
    func isWord(_ index: Int) -> Bool {
        text[index].properties.isAlphabetic || text[index].properties.numericType != nil
            || displayWidth([text[index]]) == 0
    }
    var (start, end) = (range.lowerBound, range.upperBound)
    while start > max(0, range.lowerBound - longestWord), isWord(start - 1) { start -= 1 }
    while end < min(text.count, range.upperBound + longestWord), isWord(end) { end += 1 }
    let front = width - 3
    var left = front - displayWidth(text[start...])
    guard left < 0 else {
        // There is room for some of what is before.
        while start > 0, left >= displayWidth([text[start - 1]]) {
            start -= 1
            left -= displayWidth([text[start]])
        }
        return (start > 0 ? "..." : "") + string(text[start...])
    }
    let kept = prefix(of: text[start..<end], within: front - 3)
    let rest = text[start...].dropFirst(kept.count)
    let back = prefix(of: rest.reversed(), within: front - 3 - displayWidth(kept)).reversed()
    return (start > 0 ? "..." : "") + string(kept) + "..." + string(back)
}

private let longestWord = 12

private func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
}

/// How many elements both begin with.
private func equalCount(
    _ first: some Sequence<Unicode.Scalar>,
    _ second: some Sequence<Unicode.Scalar>
) -> Int {
    zip(first, second).prefix { $0 == $1 }.count
}
