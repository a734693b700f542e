package import SyncModel
internal import SyncPlanner

/// A file of patterns that a user named, and what was read of it.
package struct PatternFile: Sendable, Hashable {
    let path: String
    let content: [UInt8]

    package init(path: String, content: [UInt8]) { (self.path, self.content) = (path, content) }
}

/// Which files and objects a run skips: patterns in gitignore syntax, in order; the last one that
/// matches a path decides.
///
/// Sizes and ages can be bounded as well.
///
/// Everything in an excluded directory is excluded, regardless of later patterns. What is excluded
/// is treated as if it were on neither side: it is neither transferred nor compared nor deleted.
public struct FileFilter: Sendable, Hashable {
    private struct Rule: Sendable, Hashable {
        let pattern: PathPattern
        let excludes: Bool
    }

    /// Why a pattern cannot be used.
    public struct InvalidPattern: Error, Hashable, Sendable {
        /// What is wrong, as the end of a sentence about the pattern.
        public let message: String

        /// Makes an error.
        public init(message: String) {
            self.message = message
        }
    }

    /// The last rules of a name that is fitted as a whole, in every directory.
    private struct LastRules: Sendable, Hashable {
        var any = -1
        var forDirectories = -1
    }

    /// Where each rule was written, such as `.osssyncignore:3`; two filters with the same rules are
    /// equal wherever those come from.
    private struct Origins: Sendable, Hashable {
        var texts: [String] = []
        /// What is said of lines that were passed over.
        var ignored: [String] = []
        var files: [PatternFile] = []

        static func == (left: Self, right: Self) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    private var rules: [Rule] = []
    private var rulesOfNames: [ArraySlice<UInt8>: LastRules] = [:]
    /// Those that are held against every path.
    private var otherRules: [Int] = []
    /// The patterns of the rules as they were given.
    private var texts: [[UInt8]] = []
    private var origins = Origins()
    /// Which sizes and ages are looked at, of what the patterns leave.
    public var bounds = FileBounds()
    /// By which files directories of this machine are left out, on both sides.
    package var tags = DirectoryTags()

    /// Excludes nothing.
    public init() {}

    /// True if nothing can be excluded.
    public var isEmpty: Bool { rules.isEmpty && bounds.isEmpty && tags.isEmpty }

    /// The files from which a user had patterns read.
    package var files: [PatternFile] {
        get { origins.files }
        set { origins.files = newValue }
    }

    /// True if there is a pattern.
    var hasPatterns: Bool { !rules.isEmpty }

    /// True if what is excluded now, and does not change, is excluded by the same filter later.
    ///
    /// Ages pass, and a file that marks its directory can go.
    var isLasting: Bool {
        bounds.minimumAge == nil && bounds.maximumAge == nil && tags.isEmpty
    }

    /// What two filters have in common that exclude the same.
    var text: [UInt8] {
        let lines = zip(rules, texts).map { rule, text in
            [UInt8(ascii: rule.excludes ? "-" : "+")] + text + [UInt8(ascii: "\n")]
        }
        let marks = tags.names.sorted().map { [UInt8]("/\($0)\n".utf8) }
        return lines.joined() + bounds.text + marks.joined()
            + (tags.recognizesCaches ? [UInt8(ascii: "/")] : [])
            + (tags.staysOnFileSystem ? [UInt8]("//".utf8) : [])
    }

    /// Excludes what the pattern fits, unless a later pattern includes it.
    ///
    /// - Throws: ``InvalidPattern`` if the pattern breaks the syntax.
    public mutating func exclude(_ pattern: String) throws(InvalidPattern) {
        try addArgument(pattern, excludes: true, origin: "--exclude")
    }

    /// Includes what the pattern fits, unless it lies in an excluded directory or a later pattern
    /// excludes it.
    ///
    /// - Throws: ``InvalidPattern`` if the pattern breaks the syntax.
    public mutating func include(_ pattern: String) throws(InvalidPattern) {
        try addArgument(pattern, excludes: false, origin: "--include")
    }

    private mutating func addArgument(
        _ pattern: String,
        excludes: Bool,
        origin: String
    ) throws(InvalidPattern) {
        do throws(PathPattern.Invalid) {
            try add([UInt8](pattern.utf8), excludes: excludes, origin: origin)
        } catch {
            throw InvalidPattern(message: error.message)
        }
    }

    private mutating func add(
        _ pattern: [UInt8],
        excludes: Bool,
        origin: String
    ) throws(PathPattern.Invalid) {
        append(Rule(pattern: try PathPattern(pattern), excludes: excludes))
        texts.append(pattern)
        origins.texts.append(origin)
    }

    private mutating func append(_ rule: Rule) {
        if let name = rule.pattern.literalName {
            var last = rulesOfNames[name[...]] ?? LastRules()
            last.forDirectories = rules.count
            if !rule.pattern.isForDirectoriesOnly { last.any = rules.count }
            rulesOfNames[name[...]] = last
        } else {
            otherRules.append(rules.count)
        }
        rules.append(rule)
    }
}

extension FileFilter {
    /// Reads an ignore file; see ``add(ignoreFile:named:)``.
    init(
        ignoreFile: [UInt8],
        named name: String = RelativePath.ignoreFileName
    ) throws(InvalidPattern) {
        self.init()
        try add(ignoreFile: ignoreFile, named: name)
    }

    /// Adds the rules of a file in the syntax of gitignore: a pattern a line, "!" before one that
    /// includes, "#" before a comment.
    ///
    /// As git does, it ignores lines such as `/`, `!` and `\`, which name nothing; a run warns of
    /// them.
    ///
    /// - Parameters:
    ///   - ignoreFile: The content of the file.
    ///   - name: What messages call the file; safe to print.
    /// - Throws: ``InvalidPattern`` with the number of the line, from 1, and what is wrong with it;
    ///   the rules before it were added.
    public mutating func add(
        ignoreFile: [UInt8],
        named name: String
    ) throws(InvalidPattern) {
        var number = 0
        let newline = UInt8(ascii: "\n")
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let lines = ignoreFile.starts(with: mark) ? ignoreFile.dropFirst(3) : ignoreFile[...]
        for line in lines.split(separator: newline, omittingEmptySubsequences: false) {
            number += 1
            // Read as they are, such rules would hide nothing.
            guard !line.contains(0), !line.dropLast().contains(UInt8(ascii: "\r")) else {
                throw InvalidPattern(
                    message: "line \(number) contains a NUL or a carriage return; save it as UTF-8 "
                        + "text with a line feed at the end of each line"
                )
            }
            guard let (pattern, excludes) = Self.rule(line) else { continue }
            do throws(PathPattern.Invalid) {
                try add(pattern, excludes: excludes, origin: "\(name):\(number)")
            } catch .unclosedBracket {
                throw InvalidPattern(
                    message: "line \(number): " + PathPattern.Invalid.unclosedBracket.message
                )
            } catch {
                origins.ignored.append(
                    "the pattern '\(displayText(line))' in \(name):\(number) is ignored: "
                        + error.message
                )
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

    /// These rules, followed by those of `other`, which have the last word, and its bounds
    /// and tags.
    func followed(by other: FileFilter) -> FileFilter {
        var both = self
        for rule in other.rules { both.append(rule) }
        both.texts += other.texts
        both.origins.texts += other.origins.texts
        both.origins.ignored += other.origins.ignored
        both.origins.files += other.origins.files
        (both.bounds, both.tags) = (other.bounds, other.tags)
        return both
    }

    /// True if these rules hide everything that `other` hides: they are the same rules with more
    /// exclusions among them.
    func surelyHides(allOf other: FileFilter) -> Bool {
        var rest = other.rules[...]
        for rule in rules {
            if rule == rest.first {
                rest = rest.dropFirst()
            } else if !rule.excludes {
                return false
            }
        }
        return rest.isEmpty
    }

    /// What is surely not meant as it is written, as sentences without a full stop; at most ten.
    ///
    /// `directory` is the mirrored one, for patterns that begin with its path.
    func problems(directory: String) -> [String] {
        let root = [UInt8]((directory + "/").utf8)
        let first = rules.firstIndex(where: \.excludes) ?? rules.endIndex
        let found = rules.indices.lazy.compactMap { index -> String? in
            let (rule, text) = (rules[index], texts[index])
            let reason: String
            if !rule.pattern.canMatch {
                reason = "can never match: its '[…]' has no members"
            } else if let braces = Self.braces(text) {
                reason =
                    "has no alternatives: '\(displayText(braces))' is literal text; write a "
                    + "pattern for each, or '\\{' for a brace"
            } else if text.starts(with: "./".utf8) || text.starts(with: "../".utf8) {
                reason = "can never match: it begins at DIR; write a '/' for the '.'"
            } else if root.first == UInt8(ascii: "/"), text.starts(with: root) {
                let rest = displayText([UInt8](text.dropFirst(root.count - 1)))
                reason = "can never match: it begins at DIR; write '\(rest)'"
            } else if !rule.excludes, index < first {
                reason =
                    "has no effect: it includes again what earlier patterns exclude, and "
                    + "none does; see 'osssync help filters'"
            } else if !rule.excludes, let parent = rule.pattern.literalParent,
                excludes(ObjectKey(parent))
            {
                reason =
                    "can never match: '\(displayText(parent))' is excluded with "
                    + "everything in it"
            } else {
                return nil
            }
            return "the pattern '\(displayText(text))' \(reason)"
        }
        return Array((origins.ignored + found.prefix(10)).prefix(10))
    }

    /// What shells expand and patterns do not: `{a,b}`, but for escaped braces and those of a set.
    private static func braces(_ text: [UInt8]) -> ArraySlice<UInt8>? {
        var (isEscaped, isInSet, hasComma) = (false, false, false)
        var open: Int?
        for (index, byte) in text.enumerated() {
            if isEscaped {
                isEscaped = false
                continue
            }
            switch byte {
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "]"): isInSet = false
            case _ where isInSet: break
            case UInt8(ascii: "["): isInSet = true
            case UInt8(ascii: "{"): (open, hasComma) = (index, false)
            case UInt8(ascii: ","): hasComma = true
            case UInt8(ascii: "}"):
                if let open, hasComma { return text[open...index] }
                open = nil
            default: break
            }
        }
        return nil
    }

    /// True for what the patterns skip; the key of a directory ends with "/".
    ///
    /// One of several keys is asked for more cheaply through a ``FilterCursor``, with the same
    /// answer.
    package func excludes(_ key: ObjectKey) -> Bool {
        FilterCursor(self).classify(key) != .included
    }

    /// What the rules say of one path, given that no directory above it is excluded.
    ///
    /// Takes from `steps` what it costs; nil if they do not suffice.
    func excludes(
        _ names: ArraySlice<ArraySlice<UInt8>>,
        isDirectory: Bool,
        steps: inout Int
    ) -> Bool? {
        let decisive = decisiveRule(names, isDirectory: isDirectory, steps: &steps)
        return decisive.map { $0 < 0 ? false : rules[$0].excludes }
    }

    /// The rule that decides about one path, -1 if there is none.
    private func decisiveRule(
        _ names: ArraySlice<ArraySlice<UInt8>>,
        isDirectory: Bool,
        steps: inout Int
    ) -> Int? {
        guard let name = names.last else { return -1 }
        let last = rulesOfNames[name]
        var decisive = (isDirectory ? last?.forDirectories : last?.any) ?? -1
        for index in otherRules.reversed() {
            guard index > decisive else { break }
            let fits = rules[index].pattern.matches(
                names,
                isDirectory: isDirectory,
                steps: &steps
            )
            guard steps > 0 else { return nil }
            if fits { decisive = index }
        }
        return decisive
    }

    /// A rule that decided about a path.
    struct Ruling: Sendable, Hashable {
        /// The path, or the directory above it that is excluded with all it holds.
        let key: ObjectKey
        let excludes: Bool
        /// Where the rule is written and its pattern, such as `.osssyncignore:3 '*.mkv'`.
        let rule: String
    }

    /// The outermost excluded directory that holds a key or is it, with a "/" at its end; nil if
    /// there is none.
    func excludedDirectory(of key: ObjectKey) -> ObjectKey? {
        guard hasPatterns, let ruling = ruling(on: key), ruling.excludes else { return nil }
        return ruling.key.isDirectoryMarker ? ruling.key : nil
    }

    /// The rule that decides about a key, or about a directory above it; nil if none does.
    func ruling(on key: ObjectKey) -> Ruling? {
        let isDirectory = key.isDirectoryMarker
        let bytes = isDirectory ? key.bytes.dropLast() : key.bytes[...]
        let names = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var steps = FilterCursor.maximumSteps
        for depth in 1...names.count {
            let isWhole = depth == names.count
            let index = decisiveRule(
                names.prefix(depth),
                isDirectory: !isWhole || isDirectory,
                steps: &steps
            )
            guard let index, index >= 0, isWhole || rules[index].excludes else { continue }
            let above = ObjectKey(bytes[..<names[depth - 1].endIndex] + [UInt8(ascii: "/")])
            return Ruling(
                key: isWhole ? key : above,
                excludes: rules[index].excludes,
                rule: "\(origins.texts[index]) '\(displayText(texts[index]))'"
            )
        }
        return nil
    }
}
