internal import SyncModel

/// The names of one directory in key order, in one block of memory however many they are.
///
/// A directory sorts as its name and "/", because that is how the keys beneath it begin: `a-b`
/// comes before `a/…`, and `a/…` before `a0`. Where links are stored, one has two elements: the
/// place of its own name, and that of its key.
struct DirectoryNames: Sendable {
    struct Element: Sendable {
        /// Where the name begins; it ends before a NUL.
        let start: Int
        let length: Int
        let isDirectory: Bool
        /// True if the directory says that it is a symbolic link.
        let isLink: Bool
        /// True if the directory says that it is not a file, directory or link.
        var isSpecial = false
        /// True for the key of a stored link, whose name has the suffix.
        let isLinkKey: Bool
        /// The first eight bytes of the sorting key, which decide most comparisons.
        fileprivate let head: UInt64
    }

    private(set) var elements: [Element] = []
    /// True if the directory has no name, also none that was dropped.
    private(set) var isOfEmptyDirectory = true
    /// False if names that are there may have been dropped.
    private(set) var areAll = true
    /// True if it may be the state of a mirror: one has a file of this name.
    private(set) var mayBeState = false
    private var storage: [UInt8] = []

    private static let stateMark = [UInt8](IdentityFile.name.utf8)

    /// Reads the names in `directory`.
    init(of directory: OpenDirectory) throws(LocalError) {
        try self.init(of: directory, prefix: [], within: .all, links: .skip)
    }

    /// The same without those beneath which no key of `ranges` can be; `prefix` is the directory's
    /// path with a "/" at its end, or empty.
    init(
        of directory: OpenDirectory,
        prefix: [UInt8],
        within ranges: KeyRanges,
        links: LinkPolicy
    ) throws(LocalError) {
        var unknown: [Int] = []
        var perhapsLinks: [[UInt8]] = []
        let linkSuffix = [UInt8](ObjectKey.linkSuffix.utf8)
        let takesAll = ranges.cover(prefix: ObjectKey(prefix))
        areAll = takesAll
        try unsafe directory.calls.names(in: directory.descriptor) { name, type in
            isOfEmptyDirectory = false
            if name.count == Self.stateMark.count, unsafe name.elementsEqual(Self.stateMark) {
                mayBeState = true
            }
            let mayBeLink = links == .store && (type == .link || type == .unknown)
            if mayBeLink,
                unsafe takesAll || ranges.contains(ObjectKey(prefix + name + linkSuffix))
            {
                if type == .link {
                    unsafe append(name, isDirectory: false, isLink: true, suffix: linkSuffix)
                } else {
                    unsafe perhapsLinks.append([UInt8](name))
                }
            }
            if !takesAll {
                let path = unsafe prefix + name
                let isFile = type != .directory && ranges.contains(ObjectKey(path))
                let isMet =
                    type == .directory || type == .unknown
                    ? ranges.meets(prefix: ObjectKey(path + [UInt8(ascii: "/")])) : false
                guard isFile || isMet else { return }
            }
            if type == .unknown { unknown.append(elements.count) }
            unsafe append(name, isDirectory: type == .directory, isLink: type == .link)
            elements[elements.count - 1].isSpecial = type == .special
        }
        // A file system that does not say what its entries are is asked for each.
        for index in unknown {
            let element = elements[index]
            let status = try directory.status(of: name(of: element))
            elements[index] = makeElement(
                element.start,
                element.length,
                isDirectory: status?.kind == .directory,
                isLink: status?.kind == .special(.symbolicLink)
            )
            if case .special? = status?.kind { elements[index].isSpecial = true }
        }
        for name in perhapsLinks {
            let status = try directory.status(of: PathBytes(name))
            guard status?.kind == .special(.symbolicLink) else { continue }
            unsafe name.withUnsafeBufferPointer {
                unsafe append($0, isDirectory: false, isLink: true, suffix: linkSuffix)
            }
        }
        sort()
    }

    /// Of names that are at hand, for tests.
    init(_ names: [(name: [UInt8], isDirectory: Bool)]) {
        for (name, isDirectory) in names {
            unsafe name.withUnsafeBufferPointer {
                unsafe append($0, isDirectory: isDirectory, isLink: false)
            }
        }
        sort()
    }

    /// With a `suffix`, the name sorts as if it had that; the name for calls follows.
    private mutating func append(
        _ name: UnsafeBufferPointer<UInt8>,
        isDirectory: Bool,
        isLink: Bool,
        suffix: [UInt8] = []
    ) {
        let start = storage.count
        unsafe storage.append(contentsOf: name)
        storage.append(contentsOf: suffix)
        storage.append(0)
        let length = name.count + suffix.count
        elements.append(
            makeElement(
                start,
                length,
                isDirectory: isDirectory,
                isLink: isLink,
                isLinkKey: !suffix.isEmpty
            )
        )
        guard !suffix.isEmpty else { return }
        unsafe storage.append(contentsOf: name)
        storage.append(0)
    }

    private func makeElement(
        _ start: Int,
        _ length: Int,
        isDirectory: Bool,
        isLink: Bool,
        isLinkKey: Bool = false
    ) -> Element {
        var head: UInt64 = 0
        for index in 0..<8 {
            head <<= 8
            if index < length {
                head |= UInt64(storage[start + index])
            } else if index == length, isDirectory {
                head |= UInt64(UInt8(ascii: "/"))
            }
        }
        return Element(
            start: start,
            length: length,
            isDirectory: isDirectory,
            isLink: isLink,
            isLinkKey: isLinkKey,
            head: head
        )
    }

    private mutating func sort() {
        let storage = storage
        let bytes = storage.span
        elements.sort { left, right in
            if left.head != right.head { return left.head < right.head }
            let shared = min(left.length, right.length)
            var index = min(8, shared)
            while index < shared {
                let a = bytes[left.start + index]
                let b = bytes[right.start + index]
                if a != b { return a < b }
                index += 1
            }
            // One name begins with the other; at its end stands "/" if it is a directory's.
            func next(_ element: Element) -> UInt8 {
                if shared < element.length { return bytes[element.start + shared] }
                return element.isDirectory ? UInt8(ascii: "/") : 0
            }
            let (a, b) = (next(left), next(right))
            // A file with a link's key comes first: it refuses that key.
            return a == b ? !left.isLinkKey && right.isLinkKey : a < b
        }
    }

    /// For system calls, without a copy.
    func name(of element: Element) -> PathBytes {
        let start = element.start + (element.isLinkKey ? element.length + 1 : 0)
        return PathBytes(sharing: storage, from: start)
    }

    /// Without what only the key has.
    func ownBytes(of element: Element) -> ArraySlice<UInt8> {
        bytes(of: element).dropLast(element.isLinkKey ? ObjectKey.linkSuffix.utf8.count : 0)
    }

    func bytes(of element: Element) -> ArraySlice<UInt8> {
        storage[element.start..<(element.start + element.length)]
    }
}
