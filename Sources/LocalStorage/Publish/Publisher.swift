internal import CLibrary
internal import SyncModel

/// Carries out one group of publications.
struct Publisher {
    /// A temporary file that is ready to be renamed.
    struct Prepared {
        let index: Int
        let name: PartialName
        let status: FileStatus
        /// Set where it is not with the other temporary files, but in the directory of its target.
        var place: OpenDirectory?
    }

    /// An old version that has its second name, and what the original is since then.
    private struct KeptVersion {
        let keeper: OldVersionKeeper
        let kept: OldVersionKeeper.Kept
        let status: FileStatus
    }

    let directory: MirrorDirectory
    let group: [Publication]
    let partials: OpenDirectory
    let modes: NewFileModes
    var defaults = DirectoryDefaults()
    let calls: SystemCalls
    private var prepared: [Prepared] = []
    /// By the item's index.
    private var keptVersions: [Int: KeptVersion] = [:]
    private(set) var outcomes: [PublicationOutcome]
    private var permissions: [UInt32?]
    /// The directory of the item before: items are sorted so that each is opened once.
    private var lastParent: (path: RelativePath?, directory: OpenDirectory)?

    init(directory: MirrorDirectory, group: [Publication]) throws(LocalError) {
        self.directory = directory
        self.group = group
        partials = try directory.partials.directory
        modes = try directory.partials.modes()
        calls = directory.calls
        outcomes = group.map {
            .failed(.unusablePartial(name: displayText($0.partialName.utf8)))
        }
        permissions = [UInt32?](repeating: nil, count: group.count)
        prepared.reserveCapacity(group.count)
    }

    var result: (outcomes: [PublicationOutcome], permissions: [UInt32?]) { (outcomes, permissions) }
    var hasPrepared: Bool { !prepared.isEmpty }
    var hasKeptVersions: Bool { !keptVersions.isEmpty }

    /// Gives the temporary files their times and permissions, which are to be durable with them.
    ///
    /// A new version has the permissions of the one that it replaces.
    /// With `synchronizesEach` each of them is made durable by itself.
    mutating func prepare(synchronizesEach: Bool) {
        for index in group.indices {
            if !synchronizesEach, let ready = group[index].unchangedPartial(modes),
                defaults.of(group[index].path.parent, in: directory) == .ordinary
            {
                noteUmask(group[index].permissions, modes.ordinary)
                // Another file in its place is found by the look after the rename.
                prepared.append(Prepared(index: index, name: ready.file, status: ready.status))
                continue
            }
            do throws(LocalError) {
                guard let name = PartialName(group[index].partialName),
                    let (file, _) = try directory.partials.open(name)
                else { continue }
                if group[index].path.isLink {
                    let link = try directory.partials.makeLink(of: file, name, for: group[index])
                    prepared.append(Prepared(index: index, name: link.name, status: link.status))
                    continue
                }
                try giveRights(to: file, for: group[index])
                try calls.setModified(file.descriptor, group[index].modified)
                if synchronizesEach { try calls.synchronize(file.descriptor) }
                // With the time as the file system keeps it.
                let status = try file.status()
                prepared.append(Prepared(index: index, name: name, status: status))
            } catch {
                outcomes[index] = .failed(directory.disk.explained(error, neededBytes: nil))
            }
        }
    }

    /// Gives the old versions that are to be kept their second names.
    ///
    /// They are durable before the first rename takes an original's name: a power cut could keep
    /// the rename and lose the second name, and with it the user's version.
    mutating func keepOldVersions() {
        var remaining: [Prepared] = []
        for item in prepared {
            do throws(LocalError) {
                try keepOldVersion(item)
                remaining.append(item)
            } catch {
                outcomes[item.index] = .failed(directory.disk.explained(error, neededBytes: nil))
            }
        }
        prepared = remaining
    }

    private mutating func keepOldVersion(_ item: Prepared) throws(LocalError) {
        let publication = group[item.index]
        guard publication.backup.keepsOldVersion, publication.expected != .absent else {
            return
        }
        let path = publication.path
        let parent = try parent(of: path)
        let name = PathBytes(path.name)
        guard let old = try publication.checkedTarget(in: parent, name, of: directory) else {
            return
        }
        let keeper = OldVersionKeeper(
            directory: directory,
            path: path,
            parent: parent,
            mayMove: false
        )
        let kept: OldVersionKeeper.Kept?
        do throws(LocalError) {
            kept = try keeper.keep(old, as: publication.backup)
        } catch {
            // Moved away only at the last moment, so that its name is free as shortly as can be.
            guard OldVersionKeeper.isRefusedName(error) else { throw error }
            return
        }
        guard let kept else { return }
        // The second name changed the time of the last change, and nothing else.
        guard let status = try parent.status(of: name), status.isSameVersion(as: old) else {
            keeper.undo(kept)
            throw .targetChanged(path)
        }
        keptVersions[item.index] = KeptVersion(keeper: keeper, kept: kept, status: status)
    }

    /// Takes back the second names of what will not be replaced.
    mutating func undo() {
        for version in keptVersions.values { version.keeper.undo(version.kept) }
        keptVersions = [:]
    }

    /// Renames them, looking at each target once more.
    ///
    /// With `synchronizesEach` the directory is made durable after each rename.
    mutating func commit(synchronizesEach: Bool) {
        // Opened before the disk was waited for: what is at that path now counts.
        lastParent = nil
        let order = prepared.sorted { left, right in
            let a = group[left.index].path
            let b = group[right.index].path
            // By directory: the same parents side by side. Within it by the order of the group.
            guard a.parent != b.parent else { return left.index < right.index }
            guard let a = a.parent, let b = b.parent else { return a.parent == nil }
            return bytesPrecede(a.bytes, b.bytes)
        }
        for item in order {
            do throws(LocalError) {
                outcomes[item.index] = try publish(item)
                if synchronizesEach, let directory = lastParent?.directory {
                    try calls.synchronize(directory.descriptor)
                }
            } catch {
                outcomes[item.index] = .failed(directory.disk.explained(error, neededBytes: nil))
            }
        }
    }

    private mutating func publish(_ item: Prepared) throws(LocalError) -> PublicationOutcome {
        let path = group[item.index].path
        guard !path.isDirectory else { throw .targetIsDirectory(path) }
        try directory.partials.refuseIdentity(path, item.name)
        let parent: OpenDirectory
        do throws(LocalError) {
            parent = try self.parent(of: path)
            if try !directory.isOutOfReach(parent) { return try publish(item, in: parent) }
        } catch {
            guard error.errno == EXDEV, let parent = lastParent?.directory,
                try directory.noteOutOfReach(parent)
            else { throw error.naming(path) }
            return try publishCopy(of: item, in: parent)
        }
        return try publishCopy(of: item, in: parent)
    }

    mutating func publish(
        _ item: Prepared,
        in parent: OpenDirectory
    ) throws(LocalError) -> PublicationOutcome {
        let publication = group[item.index]
        let path = publication.path
        let name = PathBytes(path.name)
        var kept: RelativePath?
        do throws(LocalError) {
            if let version = keptVersions.removeValue(forKey: item.index) {
                kept = try replace(version, with: item, parent, name, path)
            } else if publication.expected == .absent {
                try placeWhereAbsent(item, parent, name, path)
            } else if let old = try publication.checkedTarget(in: parent, name, of: directory) {
                kept = try replace(old, with: item, parent, name)
            } else {
                try placeWhereAbsent(item, parent, name, path)
            }
        } catch {
            switch error.errno {
            case EISDIR, ENOTEMPTY: throw .targetIsDirectory(path)
            default: throw error
            }
        }
        // The rename changed the file's ctime, so its identity is taken now; and if it is another
        // file by now, or was written to, that must not be recorded as what was verified.
        guard let status = try parent.status(of: name), status.isSameVersion(as: item.status)
        else { throw .targetChanged(path) }
        permissions[item.index] = status.permissions & 0o777
        return .published(status.identity, keptAs: kept)
    }

    mutating func parent(of path: RelativePath) throws(LocalError) -> OpenDirectory {
        let parent = path.parent
        if let lastParent, lastParent.path == parent { return lastParent.directory }
        try directory.names.requireOwn(parent, makes: true)
        let opened = try parent.map { (path) throws(LocalError) in
            try directory.root.directory(beneath: path, creatingWithMode: 0o777)
        }
        lastParent = (parent, opened ?? directory.root)
        return opened ?? directory.root
    }

    private func placeWhereAbsent(
        _ item: Prepared,
        _ parent: OpenDirectory,
        _ name: PathBytes,
        _ path: RelativePath
    ) throws(LocalError) {
        let placed = try calls.renameExclusively(
            from: place(of: item).descriptor,
            self.name(of: item),
            to: parent.descriptor,
            name
        )
        if placed { return }
        switch try parent.status(of: name)?.kind {
        case .directory: throw .targetIsDirectory(path)
        case .special(.symbolicLink) where path.isLink: throw .targetChanged(path)
        case .special(let kind): throw .targetIsSpecial(path, kind)
        case .file where path.isLink: throw .targetIsFile(path)
        case .file:
            if let other = parent.nameFound(by: path.name) {
                throw .nameTaken(path, by: displayText(other))
            }
            throw .targetChanged(path)
        case nil: throw .targetChanged(path)
        }
    }

    /// Puts the temporary file over `old`, keeping `old` as the publication asks.
    private func replace(
        _ old: FileStatus,
        with item: Prepared,
        _ parent: OpenDirectory,
        _ name: PathBytes
    ) throws(LocalError) -> RelativePath? {
        let publication = group[item.index]
        let keeper = OldVersionKeeper(directory: directory, path: publication.path, parent: parent)
        let kept = try keeper.keep(old, as: publication.backup)
        do throws(LocalError) {
            // Here it could not have its second name beforehand: on a disk without such names it
            // was moved just now, and a power cut could keep only the rename below.
            if kept != nil { try directory.disk.synchronize() }
            if kept?.originalIsGone == true {
                try placeWhereAbsent(item, parent, name, publication.path)
            } else {
                try exchange(old, for: item, parent, name)
            }
        } catch {
            if let kept { keeper.undo(kept) }
            throw error
        }
        return kept?.path
    }

    /// Puts the temporary file over an original whose second name is durable.
    private func replace(
        _ version: KeptVersion,
        with item: Prepared,
        _ parent: OpenDirectory,
        _ name: PathBytes,
        _ path: RelativePath
    ) throws(LocalError) -> RelativePath? {
        do throws(LocalError) {
            guard let found = try parent.status(of: name),
                directory.isAsSeen(found.identity, version.status.identity)
            else { throw .targetChanged(path) }
            try exchange(version.status, for: item, parent, name)
        } catch {
            version.keeper.undo(version.kept)
            throw error
        }
        return version.kept.path
    }
}

// MARK: - Replacing

extension Publisher {
    /// Puts the temporary file in the place of `old` and removes `old`.
    ///
    /// The two names are exchanged, and what came out is compared with what was expected: a file
    /// that another program saved after the last look gets its name back. Where the file system
    /// cannot exchange names, or where anything may be replaced, it is a plain rename.
    private func exchange(
        _ old: FileStatus,
        for item: Prepared,
        _ parent: OpenDirectory,
        _ name: PathBytes
    ) throws(LocalError) {
        let publication = group[item.index]
        let (partials, partial) = (place(of: item), self.name(of: item))
        // Under its own name first: what is given back could be lost by a kill in between.
        guard publication.mayReplace(old, in: parent, name) else {
            throw .targetChanged(publication.path)
        }
        directory.sharedFiles.note(old)
        var isExchanged = false
        do throws(LocalError) {
            if publication.expected != .anything {
                isExchanged = try calls.exchange(
                    partials.descriptor,
                    partial,
                    parent.descriptor,
                    name
                )
            }
        } catch {
            // The file that was to be replaced is gone.
            throw error.errno == ENOENT ? .targetChanged(publication.path) : error
        }
        guard isExchanged else {
            return try calls.rename(
                from: partials.descriptor,
                partial,
                to: parent.descriptor,
                name
            )
        }
        let found = Result { () throws(LocalError) in try partials.status(of: partial) }
        if case .success(let found?) = found, found.isSameVersion(as: old),
            publication.mayReplace(old, in: partials, partial)
        {
            // One that stays is swept like any temporary file.
            _ = try? calls.unlink(at: partials.descriptor, partial)
            return
        }
        restore(item, parent, name)
        _ = try found.get()
        throw .targetChanged(publication.path)
    }

    /// Gives the path back what the temporary file was exchanged for.
    ///
    /// If another program saved the file once more in between, its newest version has the path in
    /// the end and the one before it lies beside.
    private func restore(_ item: Prepared, _ parent: OpenDirectory, _ name: PathBytes) {
        let (partials, partial) = (place(of: item), self.name(of: item))
        /// True if the temporary file's name has no other file than ours.
        func isOurs() -> Bool {
            guard let held = try? partials.status(of: partial) else { return false }
            return held.isSameObject(as: item.status)
        }
        for _ in 0..<2 {
            // What fails here is tried in another way below.
            _ = try? calls.exchange(partials.descriptor, partial, parent.descriptor, name)
            if isOurs() { return }
        }
        let path = group[item.index].path
        for attempt in 0..<OldVersionKeeper.maximumAttempts {
            let beside =
                attempt == 0
                ? name
                : PathBytes(
                    ConflictName(original: path.name, suffix: ".saved", attempt: attempt - 1).bytes
                )
            let isMoved = try? calls.renameExclusively(
                from: partials.descriptor,
                partial,
                to: parent.descriptor,
                beside
            )
            // Without an answer the disk has failed, and other names will not do either.
            if isMoved != false { return }
        }
    }
}
