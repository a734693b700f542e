extension INIDocument {
    /// The text with the keys of one section replaced; comments and all other lines stay.
    ///
    /// A section that is missing is added. The values are written in their order; nil removes a
    /// key. Fails for a text that cannot be parsed.
    package static func text(
        _ text: [UInt8],
        setting values: [(key: String, value: String?)],
        in section: String
    ) throws(INIError) -> [UInt8] {
        let names = Set(values.map { normalized($0.key) })
        let written = values.compactMap { key, value in
            value.map { [UInt8]("\(key) = \(quoted($0))".utf8) }
        }
        let newline = UInt8(ascii: "\n")
        var lines: [[UInt8]] = []
        var (isInside, place) = (false, Int?.none)
        let old = text.last == newline ? text.dropLast() : text[...]
        let pieces =
            old.isEmpty ? [] : old.split(separator: newline, omittingEmptySubsequences: false)
        for (index, piece) in pieces.enumerated() {
            guard let line = INILine(piece, number: index + 1) else {
                throw .notText(line: index + 1)
            }
            switch try line.content() {
            case .section(let name): isInside = name == section
            case .entry(let entry) where isInside && names.contains(normalized(entry.key)):
                continue
            case .entry, nil: break
            }
            lines.append([UInt8](piece))
            if isInside, place == nil { place = lines.count }
        }
        if let place {
            lines.insert(contentsOf: written, at: place)
        } else if !written.isEmpty {
            if !lines.isEmpty { lines.append([]) }
            lines += [[UInt8]("[\(section)]".utf8)] + written
        }
        return lines.isEmpty ? [] : [UInt8](lines.joined(separator: [newline])) + [newline]
    }
}
