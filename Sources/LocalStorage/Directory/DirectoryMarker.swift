internal import SyncModel

/// What lies in a mirrored directory so that it is known again: its own name, and for each state
/// that mirrors it the number of the last run that changed something.
///
/// One line with the name, then a line for each state: its name and the number. A marker of one
/// line is of a directory whose states have not written a number yet.
package struct DirectoryMarker: Sendable, Hashable {
    private struct Line: Sendable, Hashable {
        let state: String
        let number: Int64
    }

    /// More states than anyone gives one directory; the one that wrote longest ago goes first.
    package static let maximumStates = 128
    private static let maximumNameLength = 255
    private static let maximumStateLength = 64
    /// What a marker can have at most, with room for longer names.
    static let maximumLength = 16_384

    /// The directory's own name, made once.
    package let name: String
    /// The newest last.
    private var lines: [Line] = []

    /// How many states mirror the directory.
    package var stateCount: Int { lines.count }

    package init(name: String) {
        self.name = name
    }

    /// Nil if there is no name; lines that say nothing sensible are passed over.
    init?(content: [UInt8]) {
        let end = UInt8(ascii: "\n")
        let name = displayText(content.prefix { $0 != end }.prefix(Self.maximumNameLength))
        guard !name.isEmpty else { return nil }
        self.name = name
        guard let last = content.lastIndex(of: end) else { return }
        // A line without its end may be half a number.
        for line in content[...last].split(separator: end).dropFirst() {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count == 2, words[0].utf8.count <= Self.maximumStateLength,
                let number = Int64(words[1]), number >= 0
            else { continue }
            setNumber(number, of: String(words[0]))
        }
    }

    /// The number of the last run of `state` that changed something; nil if it is not known.
    package func number(of state: String) -> Int64? {
        lines.first { $0.state == state }?.number
    }

    package mutating func setNumber(_ number: Int64, of state: String) {
        lines.removeAll { $0.state == state }
        lines.append(Line(state: state, number: number))
        lines.removeFirst(max(0, lines.count - Self.maximumStates))
    }

    var content: [UInt8] {
        let text = lines.map { "\($0.state) \($0.number)\n" }.joined()
        return [UInt8]("\(name)\n\(text)".utf8)
    }
}
