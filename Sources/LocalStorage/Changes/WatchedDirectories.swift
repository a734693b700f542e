/// The directories beneath a mirror that are watched, each known by the number of its watch.
struct WatchedDirectories: Sendable {
    private struct Node: Sendable {
        /// Nil for the root.
        let parent: Int32?
        let name: [UInt8]
        var permissions: UInt32?
        var children: [[UInt8]: Int32] = [:]
    }

    private var nodes: [Int32: Node] = [:]

    var count: Int { nodes.count }

    /// The path with a "/" at its end, empty for the root; nil if there is no such watch.
    func prefix(of watch: Int32) -> [UInt8]? {
        guard var node = nodes[watch] else { return nil }
        var names: [[UInt8]] = []
        while let parent = node.parent {
            names.append(node.name)
            guard let next = nodes[parent] else { return nil }
            node = next
        }
        return names.reversed().flatMap { $0 + [UInt8(ascii: "/")] }
    }

    func isRoot(_ watch: Int32) -> Bool { nodes[watch].map { $0.parent == nil } ?? false }

    /// The watch of a directory by its name in another one.
    func watch(of name: [UInt8], in parent: Int32) -> Int32? { nodes[parent]?.children[name] }

    /// Adds a directory; false if exactly this is known already.
    ///
    /// One that is known elsewhere was moved: what was beneath it is unknown from now on.
    mutating func add(
        _ watch: Int32,
        _ name: [UInt8],
        in parent: Int32?,
        _ permissions: UInt32?
    ) -> Bool {
        if let known = nodes[watch] {
            if known.parent == parent, known.name == name { return false }
            _ = remove(watch)
        }
        nodes[watch] = Node(parent: parent, name: name, permissions: permissions)
        if let parent { nodes[parent]?.children[name] = watch }
        return true
    }

    /// Notes what a directory has now; false if it had the same.
    mutating func note(_ permissions: UInt32?, of watch: Int32) -> Bool {
        guard let known = nodes[watch], known.permissions != permissions else { return false }
        nodes[watch]?.permissions = permissions
        return true
    }

    /// Forgets all, and returns their watches.
    mutating func removeAll() -> [Int32] {
        defer { nodes = [:] }
        return [Int32](nodes.keys)
    }

    /// Forgets a directory and all beneath it, and returns their watches.
    mutating func remove(_ watch: Int32) -> [Int32] {
        if let node = nodes[watch], let parent = node.parent {
            nodes[parent]?.children[node.name] = nil
        }
        var removed: [Int32] = []
        var rest = [watch]
        while let next = rest.popLast() {
            guard let node = nodes.removeValue(forKey: next) else { continue }
            removed.append(next)
            rest += node.children.values
        }
        return removed
    }
}
