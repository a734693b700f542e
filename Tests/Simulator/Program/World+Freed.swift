internal import ObjectTransfer
internal import SyncEngine
internal import SyncModel

/// What was freed stays in the bucket, whatever runs do, and comes back when it is asked for.
extension World {
    func freeOptions(_ run: RunState) -> FreeOptions {
        var options = FreeOptions(run: run.options.engineOptions(setup))
        if run.paths == nil { options.minimumAge = .seconds(30) }
        return options
    }

    /// Before a run: a file that is here is not freed.
    func beginFreed(_ run: RunState) {
        wide.freed = wide.freed.filter { path, _ in
            if case .file? = tree.entries[path] { false } else { true }
        }
        guard run.options.tool == .free else { return }
        wide.onceFreed.formUnion((run.paths ?? []).map(\.key))
    }

    /// Files that `free` removed since the last look.
    func noteFreed(_ run: RunState) {
        guard run.options.tool == .free else { return }
        let remote = effectiveRemote()
        for (path, entry) in model.tree.sorted(by: { $0.key < $1.key }) {
            guard case .file(let content?) = entry, tree.entries[path] == nil,
                !model.removedInRun.contains(path)
            else { continue }
            wide.freed[path] = content
            wide.onceFreed.insert(path)
            received.forget(Self.whole(path))
            // Damage that nobody was told of looks like what is recorded.
            if wide.spoiled.contains(content) || run.hadCompany { continue }
            guard remote[path] != content else { continue }
            let there = remote[path].map { "content \($0.number)" } ?? "nothing"
            report(
                .freed,
                "'\(path.display)' with content \(content.number) was freed, and the bucket has "
                    + there
            )
        }
    }

    func isFreed(_ path: ObjectKey, by run: RunState) -> Bool {
        run.options.tool == .free && wide.freed[path] != nil
    }

    /// A file is only in the bucket because it, or a directory above it, was freed once.
    func isOnlyThere(_ path: ObjectKey) -> Bool {
        if case .file? = tree.entries[path] { return false }
        return wide.onceFreed.contains { freed in
            path == freed || path.hasPrefix(ObjectKey(freed.bytes + [UInt8(ascii: "/")]))
        }
    }

    func judgeDeletionOfFreed(_ path: ObjectKey, _ run: RunState) {
        guard wide.freed[path] != nil else { return }
        // Without the list, the marks of the rows tell what is not known to be deleted.
        if wide.lostFreedList, run.options.deletesExtra || manifestWasLost { return }
        report(.freed, "'\(path.display)' was freed, and its object was deleted")
    }

    func judgeReturnOfFreed(_ path: ObjectKey, _ run: RunState) {
        guard wide.freed.removeValue(forKey: path) != nil, run.paths == nil,
            !wide.lostFreedList
        else { return }
        // A second conflict of the same second takes the name of a copy that is not here any more.
        if model.tree.keys.contains(where: { Model.isNameOfConflict(path, of: $0) }) { return }
        report(.freed, "'\(path.display)' was freed, and came back unasked")
    }

    /// A run with another state and another remote observes what was freed.
    func judgeFreedElsewhere(before: VirtualBucket?) {
        guard let before, let after = secondService?.bucket, !wide.lostFreedList else { return }
        for path in wide.freed.keys.sorted() where isOnlyThere(path) {
            let key = Self.whole(path)
            guard before.objects[key] != nil, after.objects[key] == nil else { continue }
            report(.freed, "'\(path.display)' was freed, and was deleted in another bucket")
        }
    }

    /// At the end, what was freed comes back by its name.
    func bringFreedBack() {
        let obstacles = tree.entries.compactMap { path, entry -> ObjectKey? in
            entry == .directory ? nil : ObjectKey(path.bytes + [UInt8(ascii: "/")])
        }
        // No argument of a program has a NUL byte, one beneath a file or link is refused, and what
        // has an escaped name has another path than its key.
        let paths = wide.freed.keys.filter { path in
            !path.bytes.contains(0) && !RelativePath.isEscaped(path)
                && service.bucket.objects[Self.whole(path)] != nil
                && isValidUTF8(path.bytes) && !obstacles.contains { path.hasPrefix($0) }
        }
        guard !paths.isEmpty, violations.isEmpty else { return }
        var options = quietOptions(isForced: false)
        options.direction = .pull
        options.deletesKnown = false
        options.allowsRebinding = false
        options.paths = paths.sorted().map(Name.init)
        carryOut(options)
        guard let run = lastRun, violations.isEmpty else { return }
        if let failure = run.failure {
            report(.freed, "what was freed does not come back: \(failure.message)")
        }
        for (path, content) in effectiveRemote().sorted(by: { $0.key < $1.key }) {
            guard paths.contains(path), tree.entries[path] != .file(content),
                !isBlocked(path, run), !run.names(path)
            else { continue }
            report(.freed, "'\(path.display)' was freed, and does not come back by its name")
        }
    }
}
