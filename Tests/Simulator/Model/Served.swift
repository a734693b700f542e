internal import SyncModel

/// What the listings of one run showed: where they were whole, and what was not in them.
struct Served {
    private struct Page {
        let after: ObjectKey?
        /// Nil for the end of all keys.
        let through: ObjectKey?
        /// What the keys that were asked for begin with.
        let prefix: ObjectKey
        let keys: Set<ObjectKey>
    }

    private var pages: [Page] = []

    mutating func add(
        _ prefix: ObjectKey,
        after: ObjectKey?,
        through: ObjectKey?,
        _ keys: [ObjectKey]
    ) {
        pages.append(Page(after: after, through: through, prefix: prefix, keys: Set(keys)))
    }

    /// True if every key that begins with `prefix` lies in the range of some page, or in a
    /// directory that is left out, whose other keys nobody needs to ask for.
    func isComplete(_ prefix: ObjectKey, leavingOut isLeftOut: (ObjectKey) -> Bool) -> Bool {
        var reached: ObjectKey?
        var isBegun = false
        for page in pages.filter({ $0.prefix == prefix }).sorted(by: {
            Self.precedes($0.after, $1.after)
        }) {
            if let after = page.after {
                guard isBegun, let end = reached else { return false }
                let isSeen = after <= end || Self.isInside(end, after, isLeftOut)
                guard isSeen else { return false }
            }
            isBegun = true
            guard let through = page.through else { return true }
            reached = reached.map { max($0, through) } ?? through
        }
        return false
    }

    /// True if all keys between two lie in a directory that is left out: what is asked for next
    /// lies behind the last of them, or is where the part of another listing begins.
    private static func isInside(
        _ first: ObjectKey,
        _ last: ObjectKey,
        _ isLeftOut: (ObjectKey) -> Bool
    ) -> Bool {
        first.bytes.indices.contains { index in
            first.bytes[index] == UInt8(ascii: "/")
                && last.hasPrefix(ObjectKey([UInt8](first.bytes[...index])))
                && isLeftOut(ObjectKey([UInt8](first.bytes[..<index])))
        }
    }

    /// Nil is the start.
    private static func precedes(_ left: ObjectKey?, _ right: ObjectKey?) -> Bool {
        guard let right else { return false }
        return left.map { $0 < right } ?? true
    }

    var isEmpty: Bool { pages.allSatisfy(\.keys.isEmpty) }

    /// True if a page came that would have had the key and did not.
    func lacks(_ key: ObjectKey) -> Bool {
        pages.contains { page in
            key.hasPrefix(page.prefix) && page.after.map { $0 < key } ?? true
                && page.through.map { key <= $0 } ?? true && !page.keys.contains(key)
        }
    }

    func shows(_ key: ObjectKey) -> Bool { pages.contains { $0.keys.contains(key) } }
}
