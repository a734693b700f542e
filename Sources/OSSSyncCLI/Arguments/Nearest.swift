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

    /// The number of bytes to insert, drop or replace to make one text from the other.
    private static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (leftIndex, leftByte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = leftIndex + 1
            for (rightIndex, rightByte) in right.enumerated() {
                let replaced = diagonal + (leftByte == rightByte ? 0 : 1)
                diagonal = row[rightIndex + 1]
                row[rightIndex + 1] = min(replaced, min(diagonal, row[rightIndex]) + 1)
            }
        }
        return row[right.count]
    }
}
