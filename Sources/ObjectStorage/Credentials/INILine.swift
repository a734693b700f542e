internal import SyncModel

/// One line of an ``INIDocument``.
struct INILine {
    enum Content {
        case section(String)
        case entry(INIDocument.Entry)
    }

    private let bytes: ArraySlice<UInt8>
    private let number: Int

    /// Nil if the line is not text.
    init?(_ line: ArraySlice<UInt8>, number: Int) {
        guard !line.contains(0), isValidUTF8([UInt8](line)) else { return nil }
        bytes = trimmed(line)
        self.number = number
    }

    /// Nil for a line that is blank or a comment.
    func content() throws(INIError) -> Content? {
        guard let first = bytes.first, !isCommentStart(first) else { return nil }
        if first == UInt8(ascii: "[") { return .section(try sectionName()) }
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else {
            throw .noEqualsSign(line: number)
        }
        let key = trimmed(bytes[..<equals])
        guard !key.isEmpty else { throw .emptyKey(line: number) }
        let value = try value(of: trimmed(bytes[(equals + 1)...]))
        return .entry(INIDocument.Entry(key: text(key), value: text(value), line: number))
    }

    private func sectionName() throws(INIError) -> String {
        guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else {
            throw .brokenSection(line: number)
        }
        let rest = trimmed(bytes[(close + 1)...])
        guard rest.isEmpty || isCommentStart(rest[rest.startIndex]) else {
            throw .brokenSection(line: number)
        }
        let name = ObjectStorage.sectionName([UInt8](bytes[(bytes.startIndex + 1)..<close]))
        guard !name.isEmpty else { throw .brokenSection(line: number) }
        return text(name)
    }

    private func value(of rest: ArraySlice<UInt8>) throws(INIError) -> [UInt8] {
        if rest.first == UInt8(ascii: "\"") { return try quotedValue(rest.dropFirst()) }
        var end = rest.startIndex
        while end < rest.endIndex {
            if isCommentStart(rest[end]), end == rest.startIndex || isBlank(rest[end - 1]) { break }
            end += 1
        }
        return [UInt8](trimmed(rest[..<end]))
    }

    private func quotedValue(_ rest: ArraySlice<UInt8>) throws(INIError) -> [UInt8] {
        var value: [UInt8] = []
        var index = rest.startIndex
        while index < rest.endIndex, rest[index] != UInt8(ascii: "\"") {
            var byte = rest[index]
            if byte == UInt8(ascii: "\\") {
                index += 1
                guard index < rest.endIndex, let escaped = unescaped(rest[index]) else {
                    throw .brokenQuotes(line: number)
                }
                byte = escaped
            }
            value.append(byte)
            index += 1
        }
        guard index < rest.endIndex else { throw .brokenQuotes(line: number) }
        let tail = trimmed(rest[(index + 1)...])
        guard tail.isEmpty || isCommentStart(tail[tail.startIndex]) else {
            throw .brokenQuotes(line: number)
        }
        return value
    }

    private func unescaped(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
        case UInt8(ascii: "n"): UInt8(ascii: "\n")
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "t"): UInt8(ascii: "\t")
        default: nil
        }
    }

    private func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: [UInt8](bytes), as: UTF8.self)
    }
}

/// The name of a section as it is asked for, of what stands between its brackets: words with one
/// blank between them, and what is quoted after the first word as it is, as in `profile "my own"`.
func sectionName(_ bytes: [UInt8]) -> [UInt8] {
    let all = trimmed(bytes[...])
    let first = all.prefix { !isBlank($0) }
    let rest = trimmed(all[first.endIndex...])
    if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
        rest.count > 2, rest.last == quote
    {
        return first + [0x20] + rest.dropFirst().dropLast()
    }
    return [UInt8](all.split(whereSeparator: isBlank(_:)).joined(separator: [0x20]))
}

/// True for what begins a comment.
func isCommentStart(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "#") || byte == UInt8(ascii: ";")
}

private func isBlank(_ byte: UInt8) -> Bool {
    byte.isBlank || byte == 0x0D
}

private func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return bytes
}
