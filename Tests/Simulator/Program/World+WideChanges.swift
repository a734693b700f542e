internal import CSystem
internal import CVirtualFiles
internal import Glibc
internal import SyncModel
internal import SyncTestSupport

/// What happens in wide worlds.
extension World {
    func apply(_ change: WideChange) {
        switch change {
        case .damage(let name, let seed): damage(name, seed)
        case .alterKeepingTime(let name):
            guard let content = content(name), let status = DiskTree.status(full(name.key))
            else { return }
            let altered = model.contents.makeAltered(content)
            guard model.contents[altered].count == model.contents[content].count else { return }
            put(name, altered)
            noteForDamage(.alter(name))
            DiskEdits.setModified(full(name.key), modified(status))
            // Every name of the file has them.
            for path in tree.entries.keys
            where DiskTree.status(full(path))?.st_ino == status.st_ino {
                wide.keptTimes.insert(Model.Held(path: path, content: altered))
            }
            wide.keptTimes.insert(Model.Held(path: name.key, content: altered))
        case .copyKeepingTime(let source, let destination):
            guard let content = content(source), source != destination,
                let status = DiskTree.status(full(source.key))
            else { return }
            noteForDamage(.copy(from: source, to: destination))
            put(destination, content)
            guard self.contentNow(destination) == content else { return }
            DiskEdits.setModified(full(destination.key), modified(status))
        case .hardLink(let source, let destination): hardLink(source, destination)
        case .moveBehindLink(let name): moveBehindLink(name)
        case .tag(let name):
            let tag = Name(ObjectKey(name.key.bytes + [UInt8]("/\(WideState.tagName)".utf8)))
            put(tag, model.contents.make(size: 16))
        case .putTag(let name):
            let tag = Name(ObjectKey(name.key.bytes + [UInt8]("/\(WideState.tagName)".utf8)))
            put(tag, model.contents.make(size: 16), parts: nil)
        case .setRights(let name, let rights):
            guard isUsable(name), DiskTree.status(full(name.key)) != nil else { return }
            setRights(full(name.key), rights)
            noteReaders()
        case .grow(let name, let size):
            guard let content = content(name) else { return }
            run?.grown.insert(name.key)
            put(name, model.contents.makeLonger(content, by: size))
        case .runElsewhere(let seed, let days): runElsewhere(seed, trashDays: days)
        case .loseFreedList:
            wide.lostFreedList = true
            DiskEdits.remove([UInt8]((VirtualDisk.ownState + "/freed").utf8))
        case .changePort: wide.port = wide.port.isEmpty ? ":9001" : ""
        }
    }

    func modified(_ status: stat) -> Timestamp {
        Timestamp(
            seconds: Int64(status.st_mtim.tv_sec),
            nanoseconds: Int32(status.st_mtim.tv_nsec)
        )
    }

    private func contentNow(_ name: Name) -> ContentID? {
        DiskEdits.read(full(name.key)).flatMap { model.contents.identify($0) }
    }

    // MARK: - Damage

    private func damage(_ name: Name, _ seed: UInt64) {
        guard let good = content(name), good != Contents.empty else { return }
        let path = full(name.key)
        var generator = SeededGenerator(randomSeed: seed)
        let count = model.contents[good].count
        let offset = Int64(generator.below(count))
        let text = String(decoding: path, as: UTF8.self)
        let bits = UInt8(1 + generator.below(255))
        guard isValidUTF8(path), unsafe virtual_files_damage(text, offset, bits),
            let bytes = DiskEdits.read(path)
        else { return }
        // What is known of files is known by their times.
        tree.forget()
        let status = DiskTree.status(path)
        let bad = model.contents.take(bytes)
        wide.spoiled.insert(bad)
        for other in hardLinks(of: name.key) + [name.key] {
            model.damaged(other, from: good, to: bad)
            let changed = status.flatMap { changeAsRecorded(other, $0) }
            let damage = WideState.Damage(path: other, good: good, bad: bad, changed: changed)
            wide.damages.append(damage)
            wide.doubtful.insert(other)
        }
    }

    /// The time of change of a file that was written long before its row was, and that nobody has
    /// touched since.
    ///
    /// What was written just before it was recorded is read again, and other content is an edit; so
    /// it is if the time of change moved, as it does for all names of a file with one of them.
    private func changeAsRecorded(_ path: ObjectKey, _ status: stat) -> Int64? {
        guard let lastRun, let row = rows[path] else { return nil }
        let began = now.seconds - (scheduler.elapsed - lastRun.startOfRun).components.seconds
        let (seconds, rest) = (Int64(status.st_ctim.tv_sec), Int64(status.st_ctim.tv_nsec))
        let isAsRecorded =
            modified(status).seconds < began - 10 && row.inode == UInt64(status.st_ino)
            && row.changed == seconds * 1_000_000_000 + rest
        return isAsRecorded ? row.changed : nil
    }

    /// What a user does to a damaged file, before anybody told of the damage, is a change like any
    /// other; and so is another content at any time.
    func noteForDamage(_ change: LocalChange) {
        guard !wide.damages.isEmpty else { return }
        switch change {
        case .write(let name, _), .replace(let name, _), .alter(let name), .append(let name, _),
            .flip(let name, _):
            wide.damages.removeAll { $0.path == name.key }
        case .touch(let name), .delete(let name), .chmod(let name, _), .replaceByLink(let name),
            .replaceByFIFO(let name), .replaceByDirectory(let name), .makeDirectory(let name):
            forgetUntold(at: name)
        case .rename(let source, let destination), .copy(let source, let destination):
            forgetUntold(at: source)
            wide.damages.removeAll { $0.path == destination.key }
            if case .file(let content?)? = tree.entries[source.key],
                wide.spoiled.contains(content)
            {
                wide.doubtful.insert(destination.key)
            }
        case .deleteAll, .alterAsked: wide.damages.removeAll { !$0.isTold }
        }
    }

    private func forgetUntold(at name: Name) {
        let beneath = ObjectKey(name.key.bytes + [UInt8(ascii: "/")])
        wide.damages.removeAll { damage in
            !damage.isTold && (damage.path == name.key || damage.path.hasPrefix(beneath))
        }
    }

    // MARK: - Names

    private func hardLink(_ source: Name, _ destination: Name) {
        guard let content = content(source), source != destination, makePlace(destination),
            model.tree[destination.key] == nil
        else { return }
        noteForDamage(.copy(from: source, to: destination))
        let isDone = unsafe DiskEdits.withPath(full(source.key)) { old in
            unsafe DiskEdits.withPath(full(destination.key)) { unsafe link(old, $0) == 0 }
        }
        guard isDone else { return }
        userPut(destination.key, content)
    }

    private func moveBehindLink(_ name: Name) {
        guard isUsable(name), let entry = model.tree[name.key] else { return }
        switch entry {
        case .file, .directory: break
        case .link, .other: return
        }
        wide.movedCount += 1
        let place = "\(Self.elsewhere)\(wide.movedCount)"
        noteForDamage(.delete(name))
        guard DiskEdits.rename(full(name.key), [UInt8](place.utf8)) else { return }
        model.userRemoved(name.key)
        DiskEdits.link(full(name.key), to: place)
        model.userPutOther(name.key)
    }

    // MARK: - Rights

    func setRights(_ path: [UInt8], _ rights: Rights) {
        let owner = rights.owner ?? UInt32.max
        let group = rights.group ?? UInt32.max
        unsafe DiskEdits.withPath(path) { path in
            _ = unsafe chown(path, owner, group)
            if !rights.isInherited { _ = unsafe chmod(path, mode_t(rights.mode)) }
            guard let list = rights.list else { return }
            let bytes = Self.bytes(of: list, owner: UInt16(rights.mode >> 6 & 7))
            _ = unsafe virtual_files_set_list(path, rights.isInherited, bytes, bytes.count)
        }
    }

    /// As the kernel takes it: a version, and a tag, bits and an ID for each entry.
    private static func bytes(of list: Rights.List, owner: UInt16) -> [UInt8] {
        let entries: [(tag: UInt16, bits: UInt16, id: UInt32)] = [
            (0x01, owner, .max), (0x02, list.userBits, list.user), (0x04, list.groupBits, .max),
            (0x10, list.mask, .max), (0x20, list.others, .max),
        ]
        var bytes: [UInt8] = [2, 0, 0, 0]
        for entry in entries {
            for word in [entry.tag, entry.bits] {
                bytes += [UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8)]
            }
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: entry.id >> shift))
            }
        }
        return bytes
    }

    /// Notes who may do what with each file.
    func noteReaders() {
        guard setup.has(.rights) else { return }
        wide.readers = [:]
        for (path, entry) in tree.entries {
            guard case .file = entry, let found = readers(of: path) else { continue }
            wide.readers[path] = found
            wide.knownInodes.insert(found.inode)
        }
    }

    func readers(of path: ObjectKey) -> WideState.Readers? {
        let full = full(path)
        guard isValidUTF8(full), let status = disk.unseen({ DiskTree.status(full) }) else {
            return nil
        }
        let text = String(decoding: full, as: UTF8.self)
        let bits = WideState.others.map { other in
            unsafe virtual_files_granted(text, other.user, other.group) & 6
        }
        return WideState.Readers(
            inode: UInt64(status.st_ino),
            owner: status.st_uid,
            bits: bits
        )
    }
}
