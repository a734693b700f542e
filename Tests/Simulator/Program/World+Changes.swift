internal import CSystem
internal import CVirtualFiles
internal import Glibc
internal import SyncModel

/// What others do, while a run goes on or between runs.
extension World {
    func apply(_ change: WorldChange) {
        scheduler.trace.say("world \(change)")
        // What the run did until now is judged before others do anything.
        if let run, run.treeNeedsLook, !run.isDead { look(run) }
        scheduler.advance(by: .milliseconds(20))
        service.now = now
        disk.setTime(wallTime)
        switch change {
        case .remote(let change): apply(change)
        case .local(let change):
            // Other people's disk space is theirs.
            DiskSettings.liftLimits()
            defer { DiskSettings.limit(setup) }
            let before = tree.entries
            disk.unseen {
                apply(change)
                // A power cut may take what others have not synced, which is their own affair.
                DiskEdits.synchronize(VirtualDisk.mirror)
            }
            lookAfterWorld()
            noteChanges(since: before)
        case .state(let change): disk.unseen { apply(change) }
        case .place(let change): settle(change)
        case .wide(let change): widen(change)
        }
    }

    private func widen(_ change: WideChange) {
        DiskSettings.liftLimits()
        defer { DiskSettings.limit(setup) }
        let before = tree.entries
        disk.unseen {
            apply(change)
            DiskEdits.synchronize(VirtualDisk.mirror)
        }
        lookAfterWorld()
        noteChanges(since: before)
    }

    private func settle(_ change: PlaceChange) {
        DiskSettings.liftLimits()
        defer { DiskSettings.limit(setup) }
        disk.unseen { tree.scan(model.contents) }
        model.look(tree)
        let before = tree.entries
        disk.unseen { apply(change) }
        lookAfterWorld()
        noteChanges(since: before)
    }

    private func noteChanges(since before: [ObjectKey: DiskEntry]) {
        for path in Set(before.keys).union(tree.entries.keys)
        where before[path] != tree.entries[path] { received.forget(Self.whole(path)) }
        // Also without the file, the rules are what users made them.
        if before[Self.ignoreFile] != tree.entries[Self.ignoreFile] { ignoreFileIsUsers = true }
    }

    /// Takes the directory as it is.
    func lookAround() { lookAfterWorld() }

    /// Takes the directory as others left it.
    private func lookAfterWorld() {
        disk.unseen { tree.scan(model.contents) }
        model.look(tree)
    }
}

// MARK: - The bucket

extension World {
    private func apply(_ change: RemoteChange) {
        staleBucket = service.bucket
        switch change {
        case .put(let name, let size): put(name, model.contents.make(size: size), parts: nil)
        case .putOpaquely(let name, let size):
            put(name, model.contents.make(size: size), parts: 2 + size % 3)
        case .alter(let name):
            guard let content = model.remote[name.key] else { return }
            put(name, model.contents.makeAltered(content), parts: nil)
        case .append(let name, let size):
            guard let content = model.remote[name.key] else { return }
            put(name, model.contents.makeLonger(content, by: size), parts: nil)
        case .retag(let name):
            guard let content = model.remote[name.key] else { return }
            put(name, content, parts: 7)
        case .copy(let source, let destination):
            guard let content = model.remote[source.key] else { return }
            put(destination, content, parts: nil)
        case .delete(let name): delete(name.key)
        case .deleteBelow(let name):
            let beneath = ObjectKey(name.key.bytes + [UInt8(ascii: "/")])
            for key in model.remote.keys.sorted() where key.hasPrefix(beneath) { delete(key) }
        case .archive(let name): service.bucket.setClass(Self.whole(name.key), "Archive")
        case .restore(let name): service.bucket.setClass(Self.whole(name.key), "Standard")
        case .link(let name, let target):
            guard service.isOSS, service.hasRoom(for: Self.whole(name.key)) else { return }
            service.bucket.link(Self.whole(name.key), to: Self.whole(target.key), now: now)
            model.deleted(name.key)
            guard let object = service.bucket.resolved(Self.whole(name.key)),
                let content = model.contents.identify(object.bytes)
            else { return }
            model.allow(name.key, content)
            model.noteVersion(name.key, content, tag: object.etag)
        case .marker(let name):
            put(Name(ObjectKey(name.key.bytes + [UInt8(ascii: "/")])), Contents.empty, parts: nil)
        case .foreignUpload(let name):
            let id = service.bucket.initiate(
                Self.whole(name.key),
                metadata: [:],
                now: now,
                author: .world
            )
            _ = service.bucket.setPart(1, of: id, bytes: [1, 2, 3, 4])
            foreignUploads.insert(id)
        case .abortUploads:
            for id in service.bucket.uploads.keys.sorted() { service.bucket.abort(id) }
        case .flip(let name, let size): flip(name, size)
        case .deleteAll: for key in model.remote.keys.sorted() { delete(key) }
        case .alterAsked:
            guard let key = run?.askedLast, let content = model.remote[key] else { return }
            put(Name(key), model.contents.makeAltered(content), parts: nil)
        case .putAsked(let size):
            guard let key = run?.askedLast else { return }
            put(Name(key), model.contents.make(size: size), parts: nil)
        case .linkOutside(let name):
            guard service.isOSS, service.hasRoom(for: Self.whole(name.key)) else { return }
            service.bucket.link(Self.whole(name.key), to: Self.secret, now: now)
            model.deleted(name.key)
        case .ignore(let lines):
            put(Name(Self.ignoreFile), model.contents.take(Self.ignoreText(lines)), parts: nil)
        case .putTwin(let name, let other): putTwin(name, of: other)
        case .rename(let source, let destination):
            guard let content = model.remote[source.key], source != destination else { return }
            put(destination, content, parts: nil)
            delete(source.key)
        }
    }

    private func putTwin(_ name: Name, of other: Name) {
        guard service.bucket.hasWeakTags, name != other,
            let object = service.bucket.objects[Self.whole(other.key)], object.target == nil
        else { return }
        let content = model.contents.make(size: object.bytes.count)
        service.bucket.put(
            Self.whole(name.key),
            bytes: model.contents[content],
            metadata: [:],
            now: now,
            author: .world,
            etag: object.etag
        )
        wrote(name.key, content)
    }

    private func flip(_ name: Name, _ size: Int) {
        let beneath = name.key.bytes + [UInt8(ascii: "/")]
        let below = model.remote.keys.filter { $0.hasPrefix(ObjectKey(beneath)) }.sorted()
        for key in below { delete(key) }
        guard below.isEmpty else {
            put(name, model.contents.make(size: size), parts: nil)
            return
        }
        delete(name.key)
        let inside = Name(ObjectKey(beneath + [UInt8(ascii: "b")]))
        put(inside, model.contents.make(size: size), parts: nil)
    }

    func put(_ name: Name, _ content: ContentID, parts: Int?) {
        let key = Self.whole(name.key)
        guard service.hasRoom(for: key) else { return }
        let bytes = model.contents[content]
        // Half of the world's objects were written by tools that note the time.
        let metadata = content.number % 2 == 0 ? ["mtime": "\(now.seconds).5"] : [:]
        if let parts {
            service.bucket.putOpaquely(
                key,
                bytes: bytes,
                metadata: metadata,
                parts: parts,
                now: now,
                author: .world
            )
        } else {
            service.bucket.put(key, bytes: bytes, metadata: metadata, now: now, author: .world)
        }
        wrote(name.key, content)
    }

    /// Takes note of a version, also for the links that lead to it.
    func wrote(_ path: ObjectKey, _ content: ContentID) {
        let tag = service.bucket.objects[Self.whole(path)]?.etag ?? ""
        model.wrote(path, content, tag: tag)
        for (link, object) in service.bucket.objects where object.target == Self.whole(path) {
            guard let path = Self.relative(link) else { continue }
            model.allow(path, content)
            model.noteVersion(path, content, tag: tag)
        }
    }

    private func delete(_ key: ObjectKey) {
        service.bucket.delete(Self.whole(key))
        model.deleted(key)
    }
}

// MARK: - The directory

extension World {
    func apply(_ change: LocalChange) {
        noteForDamage(change)
        switch change {
        case .write(let name, let size): put(name, model.contents.make(size: size))
        case .replace(let name, let size):
            put(name, model.contents.make(size: size), byRename: true)
        case .alter(let name):
            guard let content = content(name) else { return }
            put(name, model.contents.makeAltered(content))
        case .append(let name, let size):
            guard let content = content(name) else { return }
            put(name, model.contents.makeLonger(content, by: size))
        case .touch(let name):
            guard content(name) != nil else { return }
            DiskEdits.setModified(full(name.key), wallTime)
        case .delete(let name):
            guard model.tree[name.key] != nil else { return }
            model.userRemoved(name.key)
            DiskEdits.remove(full(name.key))
        case .rename(let source, let destination):
            guard let content = content(source), source != destination,
                makePlace(destination)
            else { return }
            let isDone = DiskEdits.rename(
                full(source.key),
                full(destination.key)
            )
            guard isDone else { return }
            model.userRemoved(source.key)
            userPut(destination.key, content)
        case .copy(let source, let destination):
            guard let content = content(source), source != destination else { return }
            put(destination, content)
        case .makeDirectory(let name):
            guard isOrdinary(name), makePlace(name) else { return }
            DiskEdits.makeDirectory(full(name.key))
        case .chmod(let name, let mode):
            guard content(name) != nil else { return }
            DiskEdits.setMode(full(name.key), mode)
            // Its directory gets what a program sets that goes through a tree.
            if let above = (try? RelativePath(key: name.key))?.parent {
                DiskEdits.setMode(full(above.key), mode | (mode & 0o444) >> 2)
            }
        case .replaceByLink(let name):
            replace(name) { DiskEdits.link($0, to: "../outside/canary") }
        case .replaceByFIFO(let name):
            // One with an escaped name would hide what begins with its key.
            guard isOrdinary(name) else { return }
            replace(name) { DiskEdits.makeFIFO($0) }
        case .replaceByDirectory(let name):
            guard isOrdinary(name) else { return }
            model.userRemoved(name.key)
            DiskEdits.remove(full(name.key))
            guard makePlace(name) else { return }
            DiskEdits.makeDirectory(full(name.key))
        case .flip(let name, let size): flipFile(name, size)
        case .deleteAll:
            for path in model.tree.keys.sorted()
            where !path.bytes.contains(UInt8(ascii: "/")) || RelativePath.isEscaped(path) {
                model.userRemoved(path)
                DiskEdits.remove(full(path))
            }
        case .alterAsked:
            // Bytes of no text in the user's own ignore file end every run, as they should.
            guard let key = run?.askedLast, key != Self.ignoreFile,
                let content = content(Name(key))
            else { return }
            put(Name(key), model.contents.makeAltered(content))
        }
    }

    private func flipFile(_ name: Name, _ size: Int) {
        guard isOrdinary(name) else { return }
        let wasDirectory = model.tree[name.key] == .directory
        model.userRemoved(name.key)
        DiskEdits.remove(full(name.key))
        let inside = Name(ObjectKey(name.key.bytes + [UInt8]("/b".utf8)))
        put(wasDirectory ? name : inside, model.contents.make(size: size))
    }

    /// What a file holds now; nil where there is none.
    func content(_ name: Name) -> ContentID? {
        guard case .file(let content?) = model.tree[name.key] else { return nil }
        return content
    }

    /// Where the file of a key is.
    func full(_ key: ObjectKey) -> [UInt8] {
        let isEscaped = setup.names == .escape && RelativePath.isEscaped(key)
        return [UInt8]((VirtualDisk.mirror + "/").utf8)
            + (isEscaped ? EscapedName.path(of: key) : key.bytes)
    }

    /// False for names that no program could give to a file here.
    func isUsable(_ name: Name) -> Bool {
        let path = try? RelativePath(key: name.key, links: .skip, names: setup.names)
        return path.map { !$0.isDirectory } ?? false
    }

    /// The same of what can also be a directory.
    func isOrdinary(_ name: Name) -> Bool {
        isUsable(name) && (setup.names == .skip || !RelativePath.isEscaped(name.key))
    }

    /// Makes the directories above a path; false where a file is in the way of one.
    func makePlace(_ name: Name) -> Bool {
        isUsable(name) && !isBehindLink(name) && DiskEdits.makeParents(of: full(name.key))
    }

    /// True if a link leads out of the directory on the way.
    private func isBehindLink(_ name: Name) -> Bool {
        guard setup.wide != nil else { return false }
        let bytes = name.key.bytes
        return bytes.indices.contains { index in
            bytes[index] == UInt8(ascii: "/")
                && model.tree[ObjectKey([UInt8](bytes[..<index]))] == .link
        }
    }

    func userPut(_ path: ObjectKey, _ content: ContentID) {
        let object = service.bucket.resolved(Self.whole(path))
        var isMirrored = object.map { model.contents.identify($0.bytes) == content } ?? false
        // Content that the manifest has of this very path is no change, whichever file brings it.
        if let row = rows[path], row.crc64 == CRC64(of: model.contents[content]) {
            isMirrored = true
        }
        model.userPut(path, content, isMirrored: isMirrored)
    }

    func put(_ name: Name, _ content: ContentID, byRename: Bool = false) {
        guard makePlace(name) else { return }
        let path = full(name.key)
        let bytes = model.contents[content]
        let names = byRename ? [] : hardLinks(of: name.key)
        let isDone =
            byRename
            ? DiskEdits.replace(path, bytes) : DiskEdits.write(path, bytes, truncates: false)
        guard isDone else { return }
        userPut(name.key, content)
        for other in names { userPut(other, content) }
    }

    /// The other names of a file, all of which change where it is written in place.
    ///
    /// A kill between the two steps that keep an old version leaves both names with one file.
    func hardLinks(of path: ObjectKey) -> [ObjectKey] {
        guard let file = DiskTree.status(full(path)), file.st_nlink > 1 else { return [] }
        return tree.entries.keys.sorted().filter { other in
            guard other != path, let status = DiskTree.status(full(other)) else {
                return false
            }
            return status.st_ino == file.st_ino && status.st_dev == file.st_dev
        }
    }

    private func replace(_ name: Name, _ make: ([UInt8]) -> Void) {
        guard isUsable(name) else { return }
        model.userRemoved(name.key)
        DiskEdits.remove(full(name.key))
        guard makePlace(name) else { return }
        make(full(name.key))
        // What a volume is mounted at stays a directory.
        let status = DiskTree.status(full(name.key))
        guard let status, status.st_mode & S_IFMT != S_IFDIR else { return }
        model.userPutOther(name.key)
    }
}
