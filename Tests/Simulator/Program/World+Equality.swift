internal import CSystem
internal import CVirtualFiles
internal import Glibc
internal import SyncEngine
internal import SyncModel

/// Whether both sides are equal after the last runs.
extension World {
    func judgeEquality(_ run: RunState) {
        switch history.ending {
        case .pull: judgeDirectory(run)
        case .push: judgeBucket(run)
        case .sync:
            judgeBoth(run)
            judgeModes()
        }
    }

    private func judgeDirectory(_ run: RunState) {
        let remote = effectiveRemote()
        for (path, content) in remote.sorted(by: { $0.key < $1.key }) {
            guard tree.entries[path] != .file(content), !isBlocked(path, run), !mayDiffer(path)
            else { continue }
            let there = tree.entries[path].map { "\($0)" } ?? "nothing"
            report(
                .convergence,
                "'\(path.display)' is \(there) after a forced pull, not content \(content.number)"
            )
        }
        guard run.summary?.deletionsHeldBack == nil else { return }
        // An old manifest is not judged, but its runs go by it.
        let rows = manifestIsOld ? readRows() ?? [:] : rows
        for (path, entry) in tree.entries.sorted(by: { $0.key < $1.key }) {
            guard case .file = entry, service.bucket.objects[Self.whole(path)] == nil,
                place(of: path) != nil, isMirrored(path), !mayDiffer(path), !isOnVolume(path)
            else { continue }
            // What vanished where limited runs did not look is the user's, also where it is in the
            // way, and says so.
            let isUnknown = rows[path]?.isLeftOut == true
            if isUnknown, run.hasItem(path, where: { $0.state == .skipped }) { continue }
            report(.convergence, "'\(path.display)' is still there after a forced pull")
        }
    }

    /// True if the object has no place here, for one of the reasons that are written down.
    func isBlocked(_ path: ObjectKey, _ run: RunState) -> Bool {
        guard let place = place(of: path) else { return true }
        let object = service.bucket.resolved(Self.whole(path))
        let link = service.bucket.objects[Self.whole(path)]
        if object?.storageClass != "Standard" || link?.storageClass != "Standard" { return true }
        if isUnderLink(place) || isOnVolume(path) || isMountPoint(path) { return true }
        // A file that nobody recorded keeps its name from becoming a directory's, and says so.
        if isUnderFile(place), run.hasItem(path, where: { $0.state == .skipped }) { return true }
        let beneath = ObjectKey(path.bytes + [UInt8(ascii: "/")])
        let isShadowed = service.bucket.keys.compactMap(Self.relative).contains { key in
            key.hasPrefix(beneath) && (try? RelativePath(key: key)) != nil
        }
        if isShadowed, !place.isEscaped { return true }
        // What stays in a directory of this name keeps it.
        if tree.entries[path] == .directory, run.summary?.deletionsHeldBack != nil { return true }
        return !place.isEscaped
            && tree.entries.contains {
                $0.key.hasPrefix(beneath) && !RelativePath.isEscaped($0.key)
            }
    }

    /// Where the file of a key can be; nil if there is no such place.
    private func place(of path: ObjectKey) -> RelativePath? {
        let place = try? RelativePath(key: path, links: .skip, names: setup.names)
        guard let place, place.isEscaped || isValidUTF8(path.bytes) else { return nil }
        return place
    }

    private func isUnder(_ place: RelativePath, _ isMeant: (DiskEntry?) -> Bool) -> Bool {
        var parent = place.parent
        while let directory = parent {
            if isMeant(tree.entries[ObjectKey(directory.bytes)]) { return true }
            parent = directory.parent
        }
        return false
    }

    private func isUnderLink(_ place: RelativePath) -> Bool {
        let links: [DiskEntry?] = [.link, .other]
        let own = place.isEscaped ? place.key : ObjectKey(place.bytes)
        // What hides an escaped file hides the keys beneath its own, too.
        let slashes = own.bytes.indices.filter { own.bytes[$0] == UInt8(ascii: "/") }
        if place.isEscaped,
            slashes.contains(where: { links.contains(tree.entries[ObjectKey(own.bytes[..<$0])]) })
        {
            return true
        }
        return links.contains(tree.entries[own])
            || isUnder(place) { links.contains($0) }
    }

    private func isUnderFile(_ place: RelativePath) -> Bool {
        isUnder(place) { if case .file? = $0 { true } else { false } }
    }

    private func judgeBucket(_ run: RunState) {
        let remote = effectiveRemote()
        for (path, entry) in tree.entries.sorted(by: { $0.key < $1.key }) {
            guard case .file(let content?) = entry, remote[path] != content, isMirrored(path),
                !mayDiffer(path)
            else { continue }
            guard path.bytes.count + Self.prefix.bytes.count <= 1_023, place(of: path) != nil
            else { continue }
            // A link without a target is left alone.
            let object = service.bucket.objects[Self.whole(path)]
            if object?.target != nil, remote[path] == nil { continue }
            // Nor is the content of one that is gone uploaded in its place.
            if object == nil,
                run.items.contains(where: { item in
                    item.displayKey == path.display && item.message?.contains("was a link") == true
                })
            {
                continue
            }
            if isLeft(path, object, run) { continue }
            let there = remote[path].map { "content \($0.number)" } ?? "nothing"
            report(.convergence, "the object '\(path.display)' is \(there) after a forced push")
        }
        guard run.summary?.deletionsHeldBack == nil else { return }
        for path in remote.keys.sorted() {
            if case .file? = tree.entries[path] { continue }
            guard let place = place(of: path), !isUnderLink(place), !mayDiffer(path)
            else { continue }
            report(.convergence, "the object '\(path.display)' is still there after a forced push")
        }
    }

    /// True if a forced push leaves the object as it is, and says so: an archived one whose HEAD is
    /// wrong can be compared with nothing, one above a link without a target, which is left alone,
    /// has no room in a store that is directories beneath, and nothing takes the place of what was
    /// freed.
    private func isLeft(
        _ path: ObjectKey,
        _ object: VirtualBucket.Object?,
        _ run: RunState
    ) -> Bool {
        guard run.names(path) else { return false }
        if setup.has(.emptyHeads), let object, object.storageClass != "Standard" { return true }
        let isFreed = wide.freed.keys.contains { freed in
            let slash = [UInt8(ascii: "/")]
            return freed.hasPrefix(ObjectKey(path.bytes + slash))
                || path.hasPrefix(ObjectKey(freed.bytes + slash))
        }
        if isFreed { return true }
        let beneath = Self.whole(ObjectKey(path.bytes + [UInt8(ascii: "/")]))
        return setup.has(.folders)
            && service.bucket.objects.contains { key, other in
                other.target != nil && service.bucket.resolved(key) == nil
                    && key.hasPrefix(beneath)
            }
    }

    /// True if users, or the bucket's ignore file, hide it or did so once, or if the store gave one
    /// tag to two versions of it.
    func mayDiffer(_ path: ObjectKey) -> Bool {
        if setup.wide != nil { return mayDifferWidely(path) }
        guard setup.worlds != nil else { return false }
        if model.sharedTags[path] != nil { return true }
        return path.bytes.split(separator: UInt8(ascii: "/")).contains { segment in
            onceHiddenNames.contains { segment.elementsEqual($0.utf8) }
        }
    }

    // MARK: - After a sync

    /// Both sides have the same, but where a file and a directory claim one name, which is said.
    private func judgeBoth(_ run: RunState) {
        let remote = effectiveRemote()
        let isHeldBack = run.summary?.deletionsHeldBack != nil
        var paths = Set(remote.keys)
        for (path, entry) in tree.entries { if case .file = entry { paths.insert(path) } }
        for path in paths.sorted() {
            var here: ContentID?
            if case .file(let content)? = tree.entries[path] { here = content }
            guard here == nil || here != remote[path], isMirrored(path), !mayDiffer(path) else {
                continue
            }
            if here != nil, remote[path] == nil, hasNoPlace(path) { continue }
            if isBlocked(path, run), here == nil || run.names(path) { continue }
            if isOnVolume(path), remote[path] == nil { continue }
            if isContested(path), run.names(path) { continue }
            // A store that is directories beneath has no directory there, either.
            let isDirectoryHere = tree.entries[path] == .directory
            if setup.has(.folders), isDirectoryHere, run.names(path) { continue }
            if isHeldBack, here == nil || remote[path] == nil, model.hasBeenLocal(path) {
                continue
            }
            let mine = here.map { "content \($0.number)" } ?? "nothing"
            let there = remote[path].map { "content \($0.number)" } ?? "nothing"
            report(
                .convergence,
                "after a forced sync '\(path.display)' is \(mine) here and \(there) there"
            )
        }
    }

    /// Directories have the permissions that their markers say, as far as the umask allows.
    ///
    /// The marker of one with an access list says what is safe without it.
    private func judgeModes() {
        for (path, entry) in tree.entries.sorted(by: { $0.key < $1.key }) {
            let key = ObjectKey(path.bytes + [UInt8(ascii: "/")])
            guard entry == .directory, isMirrored(key), !mayDiffer(path), !isOnVolume(path),
                let object = service.bucket.objects[Self.whole(key)],
                let text = object.metadata["mode"], let mode = UInt32(text, radix: 8),
                let status = DiskTree.status(full(path)),
                unsafe !DiskEdits.withPath(full(path), { unsafe virtual_files_has_list($0) })
            else { continue }
            let meant = mode & 0o755 | 0o500
            let found = UInt32(status.st_mode) & 0o777
            if found == meant { continue }
            report(
                .convergence,
                "after a forced sync '\(key.display)' has the permissions "
                    + "\(String(found, radix: 8)) here and \(text) there"
            )
        }
    }

    /// True if the file can have no object: its name is none for a key, or a link holds it.
    private func hasNoPlace(_ path: ObjectKey) -> Bool {
        path.bytes.count + Self.prefix.bytes.count > 1_023 || place(of: path) == nil
            || path.hasNameOfOurOwn || service.bucket.objects[Self.whole(path)]?.target != nil
    }

    /// True if something on either side needs a directory of this name, or is one above it that is
    /// a file.
    private func isContested(_ path: ObjectKey) -> Bool {
        let others = service.bucket.keys.compactMap(Self.relative) + tree.entries.keys
        let slash = [UInt8(ascii: "/")]
        return others.contains { other in
            other.hasPrefix(ObjectKey(path.bytes + slash))
                || path.hasPrefix(ObjectKey(other.bytes + slash))
                    && tree.entries[other] != .directory
        }
    }
}
