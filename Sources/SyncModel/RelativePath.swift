/// A path beneath the mirrored directory that is safe to create: made from a key, or refused.
///
/// Everything is compared by bytes: a "/" followed by a combining mark is one `Character`, and
/// `String` would not see the separator.
package struct RelativePath: Sendable, Hashable, Comparable {
    package static let maximumComponentLength = 255
    package static let maximumDepth = 512
    /// The state directory, of this mirror or of one that lies within it.
    package static let stateDirectoryName = ".osssync"
    /// For unfinished downloads and trash, where the state directory is a mount of its own.
    package static let workDirectoryName = ".osssync-work"
    /// What runs skip, at the top of the mirrored directory.
    package static let ignoreFileName = ".osssyncignore"
    /// Before the 32 hexadecimal digits in the name of a temporary file that lies beside what it
    /// becomes.
    package static let temporaryNamePrefix = ".osssync-"
    private static let temporaryNameDigits = 32
    /// The longest text of a link that Linux takes.
    package static let maximumLinkLength = 4095

    /// The components joined by "/", without a trailing one.
    package let bytes: [UInt8]
    /// True if the key ended in "/": it stands for a directory.
    package let isDirectory: Bool
    /// True if it stands for a symbolic link itself, whose key has the suffix.
    package let isLink: Bool
    /// True if it stands for the file that a symbolic link leads to.
    package let isFollowed: Bool
    /// True if its key fits no file name: see ``EscapedName``.
    package let isEscaped: Bool

    /// Maps a key, without the remote's prefix, to a path.
    ///
    /// - Throws: ``UnsafeKey`` with the reason, for every key that has no safe and unambiguous
    ///   place on disk.
    package init(key: ObjectKey) throws(UnsafeKey) {
        try self.init(key, allowsReserved: false)
    }

    /// The same where a key that a stored link would have is the path of that link, unless links
    /// are skipped.
    package init(key: ObjectKey, links: LinkPolicy) throws(UnsafeKey) {
        guard links == .store, key.isOfLink else {
            try self.init(key, allowsReserved: false)
            return
        }
        let content = try Self.contentOfLink(key)
        self.init(unchecked: [UInt8](content), isDirectory: false, isLink: true)
    }

    /// The same where a key that fits no file name has an escaped one, unless such are skipped.
    package init(key: ObjectKey, links: LinkPolicy, names: NamePolicy) throws(UnsafeKey) {
        guard names == .escape, Self.isEscaped(key, links: links) else {
            try self.init(key: key, links: links)
            return
        }
        self.init(escaping: key)
    }

    /// What lies at a path beneath the mirrored directory.
    package init(path: ObjectKey) throws(UnsafeKey) {
        guard let key = Self.escapedKey(ofPath: path.bytes) else {
            try self.init(key: path)
            return
        }
        self.init(escaping: key)
    }

    /// The key of a path with an escaped name; nil for any other path, also of a key that has a
    /// file of its own name.
    package static func escapedKey(
        ofPath path: some Collection<UInt8>,
        links: LinkPolicy = .skip
    ) -> ObjectKey? {
        EscapedName.key(ofPath: path).flatMap { isEscaped($0, links: links) ? $0 : nil }
    }

    /// True if the key stands for a directory.
    package static func isDirectory(_ key: ObjectKey) -> Bool {
        key.isDirectoryMarker && !isEscaped(key)
    }

    /// A directory of escaped names, at the top or of pieces; nil for any other path.
    package init?(escapedPlace path: [UInt8]) {
        guard EscapedName.holds(path: path) else { return nil }
        self.init(unchecked: path, isDirectory: true, isLink: false)
    }

    private init(escaping key: ObjectKey) {
        self.init(
            unchecked: EscapedName.path(of: key),
            isDirectory: false,
            isLink: false,
            isEscaped: true
        )
    }

    /// The path of a link that is followed.
    package init(following key: ObjectKey) throws(UnsafeKey) {
        let content = try Self.content(of: key, allowsReserved: false)
        self.init(
            unchecked: [UInt8](content),
            isDirectory: false,
            isLink: false,
            isFollowed: true
        )
    }

    /// Where a link at this path leads that has this text; nil for a place that is no safe path
    /// beneath the same directory.
    package func target(ofLink text: [UInt8]) -> RelativePath? {
        let slash = UInt8(ascii: "/")
        guard let first = text.first, first != slash, text.last != slash else { return nil }
        var names = bytes.split(separator: slash).dropLast().map { [UInt8]($0) }
        for name in text.split(separator: slash) where !name.elementsEqual(".".utf8) {
            if !name.elementsEqual("..".utf8) {
                names.append([UInt8](name))
            } else if names.popLast() == nil {
                return nil
            }
        }
        return try? RelativePath(key: ObjectKey(names.joined(separator: [slash])))
    }

    /// The same for a path within osssync's own state, which may have reserved names.
    package init(ownState key: ObjectKey) throws(UnsafeKey) {
        try self.init(key, allowsReserved: true)
    }

    /// True if the key has a path, which is not made.
    package static func isSafe(_ key: ObjectKey) -> Bool {
        do throws(UnsafeKey) {
            _ = try content(of: key, allowsReserved: false)
            return true
        } catch {
            return false
        }
    }

    /// True if the key fits no file name, and an escaped one stands for it.
    ///
    /// False for a key with a name of osssync's own, and for any other that no run may take.
    package static func isEscaped(_ key: ObjectKey, links: LinkPolicy = .skip) -> Bool {
        do throws(UnsafeKey) {
            if links == .store, key.isOfLink {
                _ = try contentOfLink(key)
            } else {
                _ = try content(of: key, allowsReserved: false)
            }
            return false
        } catch {
            // No store takes a key that is not UTF-8.
            return error.isEscapable && isValidUTF8(key.bytes)
                && !key.bytes.split(separator: UInt8(ascii: "/")).contains { isReserved($0) }
        }
    }

    private init(_ key: ObjectKey, allowsReserved: Bool) throws(UnsafeKey) {
        self.init(
            unchecked: [UInt8](try Self.content(of: key, allowsReserved: allowsReserved)),
            isDirectory: key.isDirectoryMarker,
            isLink: false
        )
    }

    private init(
        unchecked bytes: [UInt8],
        isDirectory: Bool,
        isLink: Bool,
        isFollowed: Bool = false,
        isEscaped: Bool = false
    ) {
        self.bytes = bytes
        self.isDirectory = isDirectory
        self.isLink = isLink
        self.isFollowed = isFollowed
        self.isEscaped = isEscaped
    }

    private static func content(
        of key: ObjectKey,
        allowsReserved: Bool
    ) throws(UnsafeKey) -> ArraySlice<UInt8> {
        guard !key.isEmpty else { throw .empty }
        let content = key.isDirectoryMarker ? key.bytes.dropLast() : key.bytes[...]
        try check(content, allowsReserved: allowsReserved)
        return content
    }

    private static func contentOfLink(_ key: ObjectKey) throws(UnsafeKey) -> ArraySlice<UInt8> {
        let content = key.bytes.dropLast(ObjectKey.linkSuffix.utf8.count)
        guard let last = content.last, last != UInt8(ascii: "/") else { throw .namelessLink }
        try check(content, allowsReserved: false)
        return content
    }

    private static func check(
        _ content: ArraySlice<UInt8>,
        allowsReserved: Bool
    ) throws(UnsafeKey) {
        var depth = 0
        var start = content.startIndex
        while true {
            var end = start
            while end < content.endIndex, content[end] != UInt8(ascii: "/") {
                guard content[end] != 0 else { throw .containsNUL }
                end += 1
            }
            let component = content[start..<end]
            switch component.count {
            case 0: throw depth == 0 ? .absolute : .emptyComponent
            case 1 where component.first == UInt8(ascii: "."): throw .dotComponent
            case 2 where component.allSatisfy { $0 == UInt8(ascii: ".") }: throw .dotComponent
            case (maximumComponentLength + 1)...: throw .componentTooLong(length: component.count)
            default: break
            }
            if !allowsReserved, isReserved(component) { throw .reserved }
            depth += 1
            guard depth <= maximumDepth else { throw .tooDeep }
            guard end < content.endIndex else { return }
            start = end + 1
        }
    }

    /// True for a name that belongs to osssync's own files, at any depth: that of the state
    /// directory, that of the directory of escaped names, and those of temporary files.
    ///
    /// Compared as the file system may compare: without regard to ASCII case, and as FAT does,
    /// which drops dots and blanks at the end and knows each long name by a short one, too. Other
    /// file systems also fold letters that are not ASCII, such as "ß" to "ss".
    package static func isReserved(_ component: some BidirectionalCollection<UInt8>) -> Bool {
        guard let first = component.first,
            first == UInt8(ascii: ".") || first | 0x20 == UInt8(ascii: "o") || first >= 0x80
        else { return false }
        guard component.contains(where: { $0 >= 0x80 }) else { return isReservedASCII(component) }
        return FoldedName.mayBeASCII(component) && isReservedASCII(FoldedName(component).bytes)
    }

    private static func isReservedASCII(
        _ component: some BidirectionalCollection<UInt8>
    ) -> Bool {
        let (first, dot) = (component.first, UInt8(ascii: "."))
        var name = component[...]
        while let last = name.last, last == dot || last == UInt8(ascii: " ") {
            name = name.dropLast()
        }
        if first != dot {
            return name.count > shortNamePrefix.utf8.count && begins(name, with: shortNamePrefix)
                && name.dropFirst(shortNamePrefix.utf8.count).allSatisfy(\.isHexadecimal)
        }
        if name.count == stateDirectoryName.utf8.count {
            return begins(name, with: stateDirectoryName)
        }
        for own in [EscapedName.directoryName, workDirectoryName]
        where name.count == own.utf8.count {
            return begins(name, with: own)
        }
        return name.count == temporaryNamePrefix.utf8.count + temporaryNameDigits
            && begins(name, with: temporaryNamePrefix)
            && name.dropFirst(temporaryNamePrefix.utf8.count).allSatisfy(\.isHexadecimal)
    }

    /// How FAT begins the short forms of these names.
    private static let shortNamePrefix = "osssyn~"

    private static func begins(_ name: some Collection<UInt8>, with start: String) -> Bool {
        zip(name, start.utf8).allSatisfy { $0.withoutCase == $1 }
    }

    /// The key, relative to the remote's prefix, that this path is mirrored under.
    package var key: ObjectKey {
        if isEscaped, let key = EscapedName.key(ofPath: bytes) { return key }
        if isLink { return ObjectKey(bytes).ofLink }
        return ObjectKey(isDirectory ? bytes + [UInt8(ascii: "/")] : bytes)
    }

    /// The directory that holds it, nil at the root.
    package var parent: RelativePath? {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return RelativePath(
            unchecked: [UInt8](bytes[..<slash]),
            isDirectory: true,
            isLink: false
        )
    }

    /// The last component.
    package var name: ArraySlice<UInt8> {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return bytes[...] }
        return bytes[(slash + 1)...]
    }

    /// The path as text that is safe to print.
    package var text: String {
        String(decoding: isDirectory ? bytes + [UInt8(ascii: "/")] : bytes, as: UTF8.self)
    }

    package var display: String { displayText(isDirectory ? bytes + [UInt8(ascii: "/")] : bytes) }

    package static func < (left: Self, right: Self) -> Bool { left.key < right.key }
}

/// Why a key has no place on disk.
package enum UnsafeKey: Error, Hashable, Sendable {
    case empty
    /// Begins with "/": its first segment is empty.
    case absolute
    case emptyComponent
    /// A segment "." or "..".
    case dotComponent
    case containsNUL
    case componentTooLong(length: Int)
    case tooDeep
    /// Is the suffix of a stored link without a name before it.
    case namelessLink
    /// Has a segment `.osssync`, `.osssync-names` or `.osssync-work`, or one with the name of a
    /// temporary file.
    case reserved

    /// True for a key that an escaped name can stand for.
    package var isEscapable: Bool {
        switch self {
        case .empty, .reserved, .namelessLink: false
        case .absolute, .emptyComponent, .dotComponent, .containsNUL, .componentTooLong, .tooDeep:
            true
        }
    }

    package var message: String {
        switch self {
        case .empty: "the key is empty"
        case .absolute: "the key begins with '/', which would be an absolute path"
        case .emptyComponent: "the key has an empty segment ('//'), which a directory cannot hold"
        case .dotComponent:
            "the key has a '.' or '..' segment, which could lead outside the directory"
        case .containsNUL: "the key has a NUL byte, which no file name can hold"
        case .componentTooLong(let length):
            "a segment of the key has \(length) bytes, and a file name can have 255"
        case .tooDeep: "the key has more than \(RelativePath.maximumDepth) segments"
        case .namelessLink: "the key is that of a stored link, and has no name for it"
        case .reserved:
            "'.osssync', '\(EscapedName.directoryName)', '\(RelativePath.workDirectoryName)', and "
                + "'.osssync-' with 32 hexadecimal digits, are reserved for osssync's own files"
        }
    }
}
