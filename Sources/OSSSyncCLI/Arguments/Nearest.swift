/// Finds the known word that a misspelt one was most likely meant to be.
enum Nearest {
    private static let longestWord = 40
    private static let mostEdits = 2

    /// The word with the fewest edits, at most two; without one, the only word that begins with
    /// the text.
    static func word(to text: String, among words: [String]) -> String? {
        let typed = Array(text.utf8.prefix(longestWord))
        let distances = words.map { ($0, editDistance(Array($0.utf8), typed)) }
        // A word of three letters is two edits away from too many others.
        let limit = min(mostEdits, typed.count / 2)
        if let best = distances.min(by: { $0.1 < $1.1 }), best.1 <= limit { return best.0 }
        let longer = words.filter { $0.utf8.starts(with: typed) }
        return longer.count == 1 && typed.count > 2 ? longer[0] : nil
    }

    /// The number of bytes to insert, drop, replace or exchange with their neighbour to make one
    /// text from the other.
    private static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for (above, leftByte) in left.enumerated() {
            var row = [above + 1]
            for (before, rightByte) in right.enumerated() {
                var edits = rows[above][before] + (leftByte == rightByte ? 0 : 1)
                edits = min(edits, rows[above][before + 1] + 1, row[before] + 1)
                if above > 0, before > 0, leftByte == right[before - 1],
                    left[above - 1] == rightByte
                {
                    edits = min(edits, rows[above - 1][before - 1] + 1)
                }
                row.append(edits)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
