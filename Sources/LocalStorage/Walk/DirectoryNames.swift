internal import SyncModel

/// The names of one directory in key order, in one block of memory however many they are.
///
/// A directory sorts as its name and "/", because that is how the keys beneath it begin: `a-b`
/// comes before `a/…`, and `a/…` before `a0`.
struct DirectoryNames: Sendable {
    struct Element: Sendable {
        /// Where the name begins; it ends before a NUL.
        let start: Int
        let length: Int
        let isDirectory: Bool
        /// The first eight bytes of the sorting key, which decide most comparisons.
        fileprivate let head: UInt64
    }

    private(set) var elements: [Element] = []
    /// True if the directory has no name, also none that was dropped.
    private(set) var isOfEmptyDirectory = true
    /// False if names that are there may have been dropped.
    private(set) var areAll = true
    private var storage: [UInt8] = []

    /// Reads the names in `directory`.
    init(of directory: OpenDirectory) throws(LocalError) {
        try self.init(of: directory, prefix: [], within: .all)
    }

    /// The same without those beneath which no key of `ranges` can be; `prefix` is the directory's
    /// path with a "/" at its end, or empty.
    init(
        of directory: OpenDirectory,
        prefix: [UInt8],
        within ranges: KeyRanges
    ) throws(LocalError) {
        var unknown: [Int] = []
        let takesAll = ranges.cover(prefix: ObjectKey(prefix))
        areAll = takesAll
        try unsafe directory.calls.names(in: directory.descriptor) { name, type in
            isOfEmptyDirectory = false
            if !takesAll {
                let path = unsafe prefix + name
                let isFile = type != .directory && ranges.contains(ObjectKey(path))
                let isMet =
                    type == .directory || type == .unknown
                    ? ranges.meets(prefix: ObjectKey(path + [UInt8(ascii: "/")])) : false
                guard isFile || isMet else { return }
            }
            if type == .unknown { unknown.append(elements.count) }
            unsafe append(name, isDirectory: type == .directory)
        }
        // A file system that does not say what its entries are is asked for each.
        for index in unknown {
            let element = elements[index]
            let status = try directory.status(of: name(of: element))
            guard status?.kind == .directory else { continue }
            elements[index] = makeElement(element.start, element.length, isDirectory: true)
        }
        sort()
    }

    /// Of names that are at hand, for tests.
    init(_ names: [(name: [UInt8], isDirectory: Bool)]) {
        for (name, isDirectory) in names {
            unsafe name.withUnsafeBufferPointer { unsafe append($0, isDirectory: isDirectory) }
        }
        sort()
    }

    private mutating func append(_ name: UnsafeBufferPointer<UInt8>, isDirectory: Bool) {
        let start = storage.count
        unsafe storage.append(contentsOf: name)
        storage.append(0)
        elements.append(makeElement(start, name.count, isDirectory: isDirectory))
    }

    private func makeElement(_ start: Int, _ length: Int, isDirectory: Bool) -> Element {
        var head: UInt64 = 0
        for index in 0..<8 {
            head <<= 8
            if index < length {
                head |= UInt64(storage[start + index])
            } else if index == length, isDirectory {
                head |= UInt64(UInt8(ascii: "/"))
            }
        }
        return Element(start: start, length: length, isDirectory: isDirectory, head: head)
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
            return next(left) < next(right)
        }
    }

    /// For system calls, without a copy.
    func name(of element: Element) -> PathBytes {
        PathBytes(sharing: storage, from: element.start)
    }

    func bytes(of element: Element) -> ArraySlice<UInt8> {
        storage[element.start..<(element.start + element.length)]
    }
}
