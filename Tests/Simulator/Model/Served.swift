internal import SyncModel

/// What the listings of one run showed: where they were whole, and what was not in them.
struct Served {
    private struct Page {
        let after: ObjectKey?
        /// Nil for the end of all keys.
        let through: ObjectKey?
        let keys: Set<ObjectKey>
    }

    private var pages: [Page] = []

    mutating func add(after: ObjectKey?, through: ObjectKey?, _ keys: [ObjectKey]) {
        pages.append(Page(after: after, through: through, keys: Set(keys)))
    }

    var isEmpty: Bool { pages.allSatisfy(\.keys.isEmpty) }

    /// True if a page came that would have had the key and did not.
    func lacks(_ key: ObjectKey) -> Bool {
        pages.contains { page in
            page.after.map { $0 < key } ?? true && page.through.map { key <= $0 } ?? true
                && !page.keys.contains(key)
        }
    }

    func shows(_ key: ObjectKey) -> Bool { pages.contains { $0.keys.contains(key) } }

    /// True if a page had a key beneath this name.
    func showsBeneath(_ key: ObjectKey) -> Bool {
        let beneath = ObjectKey(key.bytes + [UInt8(ascii: "/")])
        return pages.contains { page in page.keys.contains { $0.hasPrefix(beneath) } }
    }
}
