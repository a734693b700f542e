internal import SyncModel

/// Deletes a tree within our own trash: without recursion, following no link, with two descriptors
/// at any depth.
struct TreeRemoval {
    let root: OpenDirectory
    let calls: SystemCalls

    private struct Pending {
        let path: RelativePath
        /// True if its content was removed, and it is its own turn.
        let isEmptied: Bool
    }

    /// `name` is a directory directly in the root.
    func remove(_ name: [UInt8]) throws(LocalError) {
        var stack: [Pending] = []
        try push([], name, onto: &stack)
        while let next = stack.popLast() {
            if next.isEmptied {
                try removeEmptied(next.path)
                continue
            }
            stack.append(Pending(path: next.path, isEmptied: true))
            let directory = try root.directory(beneath: next.path)
            var names: [[UInt8]] = []
            try unsafe calls.names(in: directory.descriptor) { name, _ in
                unsafe names.append([UInt8](name))
            }
            for name in names {
                let bytes = PathBytes(name)
                if try directory.status(of: bytes)?.kind == .directory {
                    try push(next.path.bytes + [UInt8(ascii: "/")], name, onto: &stack)
                } else {
                    try calls.unlink(at: directory.descriptor, bytes)
                }
            }
        }
    }

    private func push(
        _ prefix: [UInt8],
        _ name: [UInt8],
        onto stack: inout [Pending]
    ) throws(LocalError) {
        do {
            let path = try RelativePath(ownState: ObjectKey(prefix + name))
            stack.append(Pending(path: path, isEmptied: false))
        } catch {
            // Only something that we did not put there can have such a path.
            throw .unsafeDirectory(path: displayText(prefix + name), reason: error.message)
        }
    }

    private func removeEmptied(_ path: RelativePath) throws(LocalError) {
        var parent = root
        if let path = path.parent { parent = try root.directory(beneath: path) }
        _ = try calls.removeEmptyDirectory(at: parent.descriptor, PathBytes(path.name))
    }
}
