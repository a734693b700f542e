internal import SyncModel

extension MirrorDirectory {
    /// The trash of one run.
    package struct TrashOfRun: Sendable, Hashable {
        fileprivate let name: [UInt8]

        /// When the run began and its number, safe to print.
        package var display: String { displayText(name) }

        /// True for all trees of the run of this name.
        package func isOfRun(_ run: String) -> Bool {
            TrashRun.isName(name, ofRun: run)
        }

        /// By the time in it, whatever kind of trash it is.
        fileprivate var order: ArraySlice<UInt8> {
            let prefix = MirrorDirectory.yieldedTrash.utf8
            return name.starts(with: prefix) ? name.dropFirst(prefix.count) : name[...]
        }
    }

    /// The trash of all runs, the oldest first.
    package func trashOfRuns() throws(LocalError) -> [TrashOfRun] {
        var runs: [TrashOfRun] = []
        try unsafe calls.names(in: try trash.descriptor) { name, _ in
            unsafe runs.append(TrashOfRun(name: [UInt8](name)))
        }
        return runs.sorted { $0.order.lexicographicallyPrecedes($1.order) }
    }

    /// Deletes what a run left in the trash.
    package func remove(_ run: TrashOfRun) throws(LocalError) {
        try TreeRemoval(root: try trash, calls: calls).remove(run.name)
    }

    /// The bytes of all files in the trash.
    package func trashSize() throws(LocalError) -> Int64 {
        let trash = try trash
        var total: Int64 = 0
        var waiting: [[UInt8]] = [[]]
        while let prefix = waiting.popLast() {
            var directory = trash
            if !prefix.isEmpty {
                guard let path = try? RelativePath(ownState: ObjectKey(prefix)) else { continue }
                directory = try trash.directory(beneath: path)
            }
            var names: [[UInt8]] = []
            try unsafe calls.names(in: directory.descriptor) { name, _ in
                unsafe names.append([UInt8](name))
            }
            for name in names {
                guard let status = try directory.status(of: PathBytes(name)) else { continue }
                if status.kind == .directory {
                    waiting.append(prefix + (prefix.isEmpty ? [] : [UInt8(ascii: "/")]) + name)
                } else {
                    total = total.addingClamped(status.identity.size)
                }
            }
        }
        return total
    }
}
