/// One pattern of names in the syntax of gitignore: `*.tmp`, `/build/`, `logs/**/*.[0-9]`.
///
/// `*` and `?` do not cross a "/", `**` between slashes stands for any number of directories. A
/// pattern with a "/" that is not its last byte is anchored at the root of the mirror, any other
/// one fits a name in every directory. A "/" at its end fits directories only. `//` fits an empty
/// name, which keys can have and files cannot. Comparison is by bytes; `?` and `[…]` stand for one
/// whole Unicode scalar. Classes such as `[[:digit:]]`, and the odd forms `***`, `a**/c`, `a\/b`
/// and `a[/]b`, mean what they mean to git.
package struct PathPattern: Sendable, Hashable {
    package enum Invalid: Error, Hashable, Sendable {
        case empty
        case unclosedBracket
        case danglingEscape

        package var message: String {
            switch self {
            case .empty: "it is empty"
            case .unclosedBracket: "a '[' in it has no ']'; use '\\[' for the character itself"
            case .danglingEscape: "it ends with a lone '\\'"
            }
        }
    }

    private enum Segment: Sendable, Hashable {
        /// `**`
        case anyDirectories
        case name([Token])
    }

    fileprivate enum Token: Sendable, Hashable {
        case byte(UInt8)
        /// `*`
        case anyText
        /// `?`
        case anyScalar
        case oneOf([ClosedRange<UInt32>], negated: Bool)
    }

    /// The segments of each way to match; more than one only for `a**/c`.
    private let ways: [[Segment]]
    package let isForDirectoriesOnly: Bool

    /// The name that the pattern fits in every directory, if it fits no other one.
    package var literalName: [UInt8]? {
        guard ways.count == 1, let segments = ways.first, segments.count == 2,
            segments[0] == .anyDirectories, case .name(let tokens) = segments[1]
        else { return nil }
        var name: [UInt8] = []
        for token in tokens {
            guard case .byte(let byte) = token else { return nil }
            name.append(byte)
        }
        return name
    }

    /// False if no name at all fits one of its segments.
    package var canMatch: Bool {
        !ways.joined().contains { segment in
            guard case .name(let tokens) = segment else { return false }
            return tokens.contains(.oneOf([], negated: false))
        }
    }

    /// The innermost directory that surely holds all that fits, with a "/" at its end; nil if that
    /// is the root.
    package var literalParent: [UInt8]? {
        var path: [UInt8] = []
        guard ways.count == 1 else { return nil }
        for segment in ways.joined().dropLast() {
            guard case .name(let tokens) = segment else { break }
            var name: [UInt8] = []
            for token in tokens {
                guard case .byte(let byte) = token else { return path.isEmpty ? nil : path }
                name.append(byte)
            }
            path += name + [UInt8(ascii: "/")]
        }
        return path.isEmpty ? nil : path
    }

    package init(_ text: some Sequence<UInt8>) throws(Invalid) {
        var bytes = [UInt8](text)[...]
        guard !bytes.isEmpty else { throw .empty }
        let slash = UInt8(ascii: "/")
        isForDirectoriesOnly = bytes.last == slash
        if isForDirectoriesOnly { bytes = bytes.dropLast() }
        let isAnchored = bytes.contains(slash)
        if bytes.first == slash { bytes = bytes.dropFirst() }
        guard !bytes.isEmpty else { throw .empty }
        let segments = try Self.segments(bytes)
        guard isAnchored else {
            ways = [segments.first == .anyDirectories ? segments : [.anyDirectories] + segments]
            return
        }
        if let (prefix, rest) = Self.literalBeforeStars(bytes) {
            // As git, which takes the literal beginning off before it looks at the rest:
            // `a**/c` fits what `ac` and what `a*/**/c` fit.
            let merged = prefix + (rest.isEmpty ? [UInt8(ascii: "*")] : rest.dropFirst())
            let deeper = prefix + "*/**".utf8 + rest
            ways = [try Self.segments(merged[...]), try Self.segments(deeper[...])]
        } else {
            ways = [segments]
        }
    }

    /// The literal beginning of a pattern such as `a**/c`, and what follows its stars: nothing, or
    /// a "/" and more; nil for any other pattern.
    private static func literalBeforeStars(
        _ bytes: ArraySlice<UInt8>
    ) -> (prefix: [UInt8], rest: [UInt8])? {
        let special = [UInt8]("*?[\\".utf8)
        let prefix = bytes.prefix { !special.contains($0) }
        let rest = bytes.dropFirst(prefix.count)
        let stars = rest.prefix { $0 == UInt8(ascii: "*") }.count
        guard let last = prefix.last, last != UInt8(ascii: "/"), stars > 1 else { return nil }
        let after = rest.dropFirst(stars)
        guard after.isEmpty || after.first == UInt8(ascii: "/") else { return nil }
        return ([UInt8](prefix), [UInt8](after))
    }

    /// True if the pattern fits this path; `names` are its segments from the root of the mirror.
    package func matches(_ names: [ArraySlice<UInt8>], isDirectory: Bool) -> Bool {
        var steps = Int.max
        return matches(names[...], isDirectory: isDirectory, steps: &steps)
    }

    /// The same, taking from `steps` what it costs; without a meaning once they are spent.
    package func matches(
        _ names: ArraySlice<ArraySlice<UInt8>>,
        isDirectory: Bool,
        steps: inout Int
    ) -> Bool {
        steps -= 1
        if isForDirectoriesOnly, !isDirectory { return false }
        for segments in ways where Self.matches(segments, names, &steps) { return true }
        return false
    }

    private static func matches(
        _ segments: [Segment],
        _ names: ArraySlice<ArraySlice<UInt8>>,
        _ steps: inout Int
    ) -> Bool {
        // After a mismatch only the last `**` can take one more directory: what the ones before
        // it took already fits in the shortest way.
        var segment = 0
        var name = names.startIndex
        var retry: (segment: Int, name: Int)?
        while name < names.endIndex, steps > 0 {
            steps -= 1
            if segment < segments.count {
                switch segments[segment] {
                case .anyDirectories:
                    // `a/**` is what lies in a, not a itself.
                    retry = (segment + 1, name)
                    segment += 1
                    if segment == segments.count { return true }
                    continue
                case .name(let tokens):
                    if matches(tokens, names[name], &steps) {
                        segment += 1
                        name += 1
                        continue
                    }
                }
            }
            guard let last = retry else { return false }
            retry = (last.segment, last.name + 1)
            segment = last.segment
            name = last.name + 1
        }
        return name == names.endIndex && segment == segments.count
    }
}

extension PathPattern {
    /// The segments between slashes; an escaped "/" is one, and one in a bracket is not.
    private static func segments(_ bytes: ArraySlice<UInt8>) throws(Invalid) -> [Segment] {
        var segments: [Segment] = []
        var rest = bytes
        while true {
            let (segment, isLast) = try segment(&rest)
            // Two `**` in a row mean what one means.
            if segment != .anyDirectories || segments.last != .anyDirectories {
                segments.append(segment)
            }
            if isLast { return segments }
        }
    }

    private static func segment(
        _ rest: inout ArraySlice<UInt8>
    ) throws(Invalid) -> (Segment, isLast: Bool) {
        var tokens: [Token] = []
        var stars = 0
        var isPlain = true
        func ended(isLast: Bool) -> (Segment, isLast: Bool) {
            (isPlain && stars > 1 ? .anyDirectories : .name(tokens), isLast)
        }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "*"):
                stars += 1
                if tokens.last != .anyText { tokens.append(.anyText) }
                continue
            case UInt8(ascii: "/"): return ended(isLast: false)
            case UInt8(ascii: "?"):
                tokens.append(.anyScalar)
            case UInt8(ascii: "["):
                tokens.append(try bracket(&rest))
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { throw .danglingEscape }
                if escaped == UInt8(ascii: "/") { return ended(isLast: false) }
                tokens.append(.byte(escaped))
            default:
                tokens.append(.byte(byte))
            }
            isPlain = false
        }
        return ended(isLast: true)
    }

    /// What stands between `[` and `]`; a `]` at the beginning is a member.
    private static func bracket(_ rest: inout ArraySlice<UInt8>) throws(Invalid) -> Token {
        var isNegated = false
        if rest.first == UInt8(ascii: "!") || rest.first == UInt8(ascii: "^") {
            isNegated = true
            rest = rest.dropFirst()
        }
        var ranges: [ClosedRange<UInt32>] = []
        var isFirst = true
        var hasUnknownClass = false
        while true {
            guard let first = rest.first else { throw .unclosedBracket }
            if first == UInt8(ascii: "]"), !isFirst {
                rest = rest.dropFirst()
                // git takes a class that it does not know for a pattern that fits nothing.
                return hasUnknownClass
                    ? .oneOf([], negated: false) : .oneOf(ranges, negated: isNegated)
            }
            isFirst = false
            if let name = className(rest) {
                rest = rest.dropFirst(name.count + 4)
                if let members = classes[String(decoding: name, as: UTF8.self)] {
                    ranges += members
                } else {
                    hasUnknownClass = true
                }
                continue
            }
            let low = try member(&rest)
            let next = rest.dropFirst()
            if rest.first == UInt8(ascii: "-"), let end = next.first, end != UInt8(ascii: "]") {
                rest = next
                let high = try member(&rest)
                // A range that runs backwards has no members.
                if low <= high { ranges.append(low...high) }
            } else if low != 0x2F {
                // No name has a "/".
                ranges.append(low...low)
            }
        }
    }

    /// The name of a class such as `[:digit:]` at the beginning; nil if there is none.
    private static func className(_ rest: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard rest.starts(with: "[:".utf8) else { return nil }
        let name = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "]") }
        guard name.endIndex < rest.endIndex, name.last == UInt8(ascii: ":") else { return nil }
        return name.dropLast()
    }

    /// The members of the classes of characters, which are ASCII, as git has them.
    private static let classes: [String: [ClosedRange<UInt32>]] = [
        "alnum": [0x30...0x39, 0x41...0x5A, 0x61...0x7A],
        "alpha": [0x41...0x5A, 0x61...0x7A],
        "blank": [0x09...0x09, 0x20...0x20],
        "cntrl": [0x00...0x1F, 0x7F...0x7F],
        "digit": [0x30...0x39],
        "graph": [0x21...0x7E],
        "lower": [0x61...0x7A],
        "print": [0x20...0x7E],
        "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E],
        "space": [0x09...0x0A, 0x0D...0x0D, 0x20...0x20],
        "upper": [0x41...0x5A],
        "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66],
    ]

    private static func member(_ rest: inout ArraySlice<UInt8>) throws(Invalid) -> UInt32 {
        if rest.first == UInt8(ascii: "\\") { rest = rest.dropFirst() }
        guard !rest.isEmpty else { throw .unclosedBracket }
        return takeScalar(&rest)
    }

    /// The next scalar, or the next byte as it is where the bytes are no UTF-8.
    private static func takeScalar(_ rest: inout ArraySlice<UInt8>) -> UInt32 {
        var decoder = UTF8()
        var bytes = rest.prefix(4).makeIterator()
        if case .scalarValue(let scalar) = decoder.decode(&bytes) {
            rest = rest.dropFirst(UTF8.width(scalar))
            return scalar.value
        }
        // Above every scalar, so that it equals none of them.
        return 0x11_0000 + UInt32(rest.popFirst() ?? 0)
    }

    /// One name against the tokens of one segment, in time linear in the name for each `*`.
    private static func matches(
        _ tokens: [Token],
        _ name: ArraySlice<UInt8>,
        _ steps: inout Int
    ) -> Bool {
        var token = 0
        var rest = name
        var retry: (token: Int, rest: ArraySlice<UInt8>)?
        while !rest.isEmpty, steps > 0 {
            steps -= 1
            if token < tokens.count {
                if tokens[token] == .anyText {
                    token += 1
                    retry = (token, rest)
                    continue
                }
                if take(tokens[token], from: &rest) {
                    token += 1
                    continue
                }
            }
            guard let last = retry else { return false }
            rest = last.rest.dropFirst()
            token = last.token
            retry = (last.token, rest)
        }
        return rest.isEmpty && tokens[token...].allSatisfy { $0 == .anyText }
    }

    private static func take(_ token: Token, from rest: inout ArraySlice<UInt8>) -> Bool {
        var after = rest
        let fits =
            switch token {
            case .byte(let byte): after.popFirst() == byte
            case .anyScalar: takeScalar(&after) != 0
            case .oneOf(let ranges, let isNegated):
                contains(ranges, takeScalar(&after)) != isNegated
            case .anyText: false
            }
        if fits { rest = after }
        return fits
    }

    private static func contains(_ ranges: [ClosedRange<UInt32>], _ scalar: UInt32) -> Bool {
        ranges.contains { $0.contains(scalar) }
    }
}
