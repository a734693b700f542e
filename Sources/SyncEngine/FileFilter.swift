internal import SyncModel
internal import SyncPlanner

/// Which files and objects a run leaves alone: patterns in the syntax of gitignore, in order; the
/// last one that fits a path decides.
///
/// What lies in an excluded directory is excluded, whatever later patterns say. What is excluded
/// is as if it were on neither side: it is neither transferred nor compared nor deleted.
public struct FileFilter: Sendable, Hashable {
    private struct Rule: Sendable, Hashable {
        let pattern: PathPattern
        let excludes: Bool
    }

    /// Why a pattern cannot be used.
    public struct InvalidPattern: Error, Hashable, Sendable {
        /// What is wrong, as the end of a sentence about the pattern.
        public let message: String
    }

    private var rules: [Rule] = []
    /// The patterns as they were given, a line each.
    private(set) var text: [UInt8] = []

    /// Excludes nothing.
    public init() {}

    /// True if nothing can be excluded.
    public var isEmpty: Bool { rules.isEmpty }

    /// Excludes what the pattern fits, unless a later pattern includes it.
    ///
    /// - Throws: ``InvalidPattern`` if the pattern breaks the syntax.
    public mutating func exclude(_ pattern: String) throws(InvalidPattern) {
        try add([UInt8](pattern.utf8), excludes: true)
    }

    /// Includes what the pattern fits, unless it lies in an excluded directory or a later pattern
    /// excludes it.
    ///
    /// - Throws: ``InvalidPattern`` if the pattern breaks the syntax.
    public mutating func include(_ pattern: String) throws(InvalidPattern) {
        try add([UInt8](pattern.utf8), excludes: false)
    }

    private mutating func add(_ pattern: [UInt8], excludes: Bool) throws(InvalidPattern) {
        do {
            rules.append(Rule(pattern: try PathPattern(pattern), excludes: excludes))
        } catch {
            throw InvalidPattern(message: error.message)
        }
        text += [UInt8(ascii: excludes ? "-" : "+")] + pattern + [UInt8(ascii: "\n")]
    }
}

extension FileFilter {
    /// Reads an ignore file: a pattern a line, "!" before one that includes, "#" before a comment.
    ///
    /// - Throws: The number of the line, from 1, and what is wrong with it.
    init(ignoreFile: [UInt8]) throws(InvalidPattern) {
        var number = 0
        let newline = UInt8(ascii: "\n")
        for line in ignoreFile.split(separator: newline, omittingEmptySubsequences: false) {
            number += 1
            guard let (pattern, excludes) = Self.rule(line) else { continue }
            do throws(InvalidPattern) {
                try add(pattern, excludes: excludes)
            } catch {
                throw InvalidPattern(message: "line \(number): " + error.message)
            }
        }
    }

    /// Nil for a line that says nothing.
    private static func rule(_ line: ArraySlice<UInt8>) -> (pattern: [UInt8], excludes: Bool)? {
        var line = line
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        if line.first == UInt8(ascii: "#") { return nil }
        // Blanks at the end do not count unless they are escaped.
        while line.last == UInt8(ascii: " "), line.dropLast().last != UInt8(ascii: "\\") {
            line = line.dropLast()
        }
        guard !line.isEmpty else { return nil }
        guard line.first == UInt8(ascii: "!") else { return ([UInt8](line), true) }
        return ([UInt8](line.dropFirst()), false)
    }

    /// These rules, followed by those of `other`, which have the last word.
    func followed(by other: FileFilter) -> FileFilter {
        var both = self
        both.rules += other.rules
        both.text += other.text
        return both
    }

    /// True for what runs leave alone; the key of a directory ends with "/".
    func excludes(_ key: ObjectKey) -> Bool {
        guard !rules.isEmpty else { return false }
        let isDirectory = key.isDirectoryMarker
        let bytes = isDirectory ? key.bytes.dropLast() : key.bytes[...]
        let names = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for depth in 1..<max(1, names.count) {
            if excludes([ArraySlice<UInt8>](names.prefix(depth)), isDirectory: true) { return true }
        }
        return excludes(names, isDirectory: isDirectory)
    }

    private func excludes(_ names: [ArraySlice<UInt8>], isDirectory: Bool) -> Bool {
        for rule in rules.reversed()
        where rule.pattern.matches(names, isDirectory: isDirectory) {
            return rule.excludes
        }
        return false
    }
}
