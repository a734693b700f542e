internal import Glibc
internal import ObjectTransfer
internal import SyncEngine
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
            guard before[key] != after[key], !mayChange(rowAbove: key, run) else { continue }
            report(.limits, "the row of '\(key.display)' was changed")
        }
    }

    /// True for the marker of a directory above the paths.
    private func leads(_ key: ObjectKey, _ run: RunState) -> Bool {
        key.isDirectoryMarker && run.paths?.contains { $0.key.hasPrefix(key) } == true
    }

    private func mayChange(rowAbove key: ObjectKey, _ run: RunState) -> Bool {
        guard leads(key, run) else { return false }
        // A directory that is made for a file beneath it has its permissions from there.
        if !run.entriesAtStart.contains(ObjectKey(key.bytes.dropLast())) { return true }
        // One that is there gets them, once something is downloaded into it.
        let beneath = run.items.contains { item in
            item.action == .download && item.state == .done
                && item.displayKey.utf8.starts(with: key.display.utf8)
        }
        return beneath || run.written.contains(Self.whole(key))
    }

    /// True for the marker of a directory above the paths that was just written, if it lets fewer
    /// users in than others do without it: it comes before the files in the directory.
    func closesAbove(_ path: ObjectKey, _ run: RunState) -> Bool {
        guard leads(path, run), !path.hasNameOfOurOwn, !run.hasExcludedName(path),
            let object = service.bucket.objects[Self.whole(path)], object.stored.isEmpty,
            let text = object.metadata[FileMode.metadataName],
            let mode = FileMode.parse(text, .directory),
            let status = disk.unseen({ DiskTree.status(full(path)) })
        else { return false }
        return mode & ~UInt32(status.st_mode) & 0o777 == 0 && 0o755 & ~mode & 0o055 != 0
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
