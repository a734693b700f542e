internal import SyncModel

/// What a run that is limited to paths leaves as it was.
extension World {
    func beginLimited(_ run: RunState) {
        guard run.paths != nil else { return }
        run.entriesAtStart = Set(model.tree.keys)
        run.outside = Outside(
            entries: model.tree.filter { run.leavesOut($0.key) },
            trash: tree.trash,
            rows: readRows()
        )
    }

    /// Nothing outside of the paths is another than before, on either side and in the manifest.
    ///
    /// What was written to the bucket is judged when it is.
    func judgeLimits(_ run: RunState) {
        guard run.paths != nil, !run.rootIsGone else { return }
        judgeRowsOutside(run)
        for content in run.outside.trash.subtracting(tree.trash) {
            // It may be back, by a name that a change of the world gave it.
            if tree.entries.values.contains(.file(content)) { continue }
            report(.limits, "content \(content.number) is not in the trash any more")
        }
        guard !run.hadCompany else { return }
        for (path, entry) in run.outside.entries.sorted(by: { $0.key < $1.key })
        where tree.entries[path] != entry {
            report(.limits, "'\(path.display)' was \(entry) and is another")
        }
        for (path, entry) in tree.entries.sorted(by: { $0.key < $1.key }) {
            guard run.leavesOut(path), run.outside.entries[path] == nil else { continue }
            // A file that comes needs the directories above it.
            let beneath = ObjectKey(path.bytes + [UInt8(ascii: "/")])
            let leads = run.paths?.contains { $0.key.hasPrefix(beneath) } == true
            if entry == .directory, leads { continue }
            report(.limits, "'\(path.display)' appeared outside of the paths")
        }
    }

    private func judgeRowsOutside(_ run: RunState) {
        guard let before = run.outside.rows, let after = readRows() else { return }
        for key in Set(before.keys).union(after.keys).sorted() where run.isOutside(key) {
            guard before[key] != after[key] else { continue }
            // A directory that is made for a file beneath it has its permissions from there.
            let leads = run.paths?.contains { $0.key.hasPrefix(key) } == true
            let directory = ObjectKey(key.bytes.dropLast())
            if leads, key.isDirectoryMarker, !run.entriesAtStart.contains(directory) { continue }
            report(.limits, "the row of '\(key.display)' was changed")
        }
    }

    /// The guards of deletion look at each path by itself.
    func judgeLimitedMoment(_ run: RunState, _ path: ObjectKey) {
        let name = path.display
        let slash = UInt8(ascii: "/")
        for limit in run.paths ?? [] {
            let beneath = ObjectKey(limit.key.bytes + [slash])
            guard path.hasPrefix(beneath), path != beneath else { continue }
            let isComplete = (run.paths ?? []).contains { other in
                let prefix = ObjectKey(other.key.bytes + [slash])
                return path.hasPrefix(prefix) && run.sawAll(beneath: prefix)
            }
            if !isComplete {
                report(.limits, "'\(name)' went before every page beneath '\(limit.key.display)'")
            }
            guard !run.options.allowsEmpty, !run.options.deletesExtra, !run.hadCompany,
                isOutermost(limit, run)
            else { continue }
            func isThere(_ key: ObjectKey) -> Bool {
                key == limit.key || key.hasPrefix(beneath) && key != beneath
            }
            let isEmptyHere = !run.entriesAtStart.contains(where: isThere)
            if run.options.direction != .pull, isEmptyHere {
                report(.limits, "'\(name)' went, and '\(limit.key.display)' was empty here")
            }
            let isEmptyThere = !run.serialsAtStart.keys.contains(where: isThere)
            if run.options.direction != .push, isEmptyThere {
                report(.limits, "'\(name)' went, and '\(limit.key.display)' was empty there")
            }
        }
    }

    private func isOutermost(_ limit: Name, _ run: RunState) -> Bool {
        !(run.paths ?? []).contains { other in
            limit.key.hasPrefix(ObjectKey(other.key.bytes + [UInt8(ascii: "/")]))
        }
    }
}
