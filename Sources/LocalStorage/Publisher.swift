internal import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Carries out one group of publications.
struct Publisher {
    /// A temporary file that is ready to be renamed.
    private struct Prepared {
        let index: Int
        let name: PartialName
        let status: FileStatus
    }

    /// An old version that has its second name, and what the original is since then.
    private struct KeptVersion {
        let displacer: Displacer
        let kept: Displacer.Kept
        let status: FileStatus
    }

    private let directory: MirrorDirectory
    private let group: [Publication]
    private let partials: OpenDirectory
    private let mode: UInt32
    private let calls: SystemCalls
    private var prepared: [Prepared] = []
    /// By the item's index.
    private var keptVersions: [Int: KeptVersion] = [:]
    private(set) var outcomes: [PublicationOutcome]
    /// The directory of the item before: items are sorted so that each is opened once.
    private var lastParent: (path: RelativePath?, directory: OpenDirectory)?

    init(directory: MirrorDirectory, group: [Publication]) throws(LocalError) {
        self.directory = directory
        self.group = group
        partials = try directory.partials
        mode = try directory.newFileMode()
        calls = directory.calls
        outcomes = group.map {
            .failed(.unusablePartial(name: displayText($0.partialName.utf8)))
        }
        prepared.reserveCapacity(group.count)
    }

    var hasPrepared: Bool { !prepared.isEmpty }
    var hasKeptVersions: Bool { !keptVersions.isEmpty }

    /// Gives the temporary files their times and permissions, which are to be durable with them.
    ///
    /// With `synchronizesEach` each of them is made durable by itself.
    mutating func prepare(synchronizesEach: Bool) {
        for index in group.indices {
            do throws(LocalError) {
                guard let name = PartialName(group[index].partialName),
                    let (file, _) = try directory.open(name)
                else { continue }
                try calls.setMode(file.descriptor, mode)
                try calls.setModified(file.descriptor, group[index].modified)
                if synchronizesEach { try calls.synchronize(file.descriptor) }
                // With the time as the file system keeps it.
                let status = try file.status()
                prepared.append(Prepared(index: index, name: name, status: status))
            } catch {
                outcomes[index] = .failed(directory.explained(error, neededBytes: nil))
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
                outcomes[item.index] = .failed(directory.explained(error, neededBytes: nil))
            }
        }
        prepared = remaining
    }

    private mutating func keepOldVersion(_ item: Prepared) throws(LocalError) {
        let publication = group[item.index]
        guard publication.displaced != .replace, publication.expected != .absent else { return }
        let path = publication.path
        let parent = try parent(of: path)
        let name = PathBytes(path.name)
        guard let old = try checkedTarget(publication, parent, name) else { return }
        let displacer = Displacer(directory: directory, path: path, parent: parent, mayMove: false)
        let kept: Displacer.Kept?
        do throws(LocalError) {
            kept = try displacer.keep(old, as: publication.displaced)
        } catch {
            // Moved away only at the last moment, so that its name is free as shortly as can be.
            guard Displacer.isRefusedName(error) else { throw error }
            return
        }
        guard let kept else { return }
        // The second name changed the time of the last change, and nothing else.
        guard let status = try parent.status(of: name), status.isSameObject(as: old),
            status.identity.size == old.identity.size,
            status.identity.modified == old.identity.modified
        else {
            displacer.undo(kept)
            throw .targetChanged(path)
        }
        keptVersions[item.index] = KeptVersion(displacer: displacer, kept: kept, status: status)
    }

    /// Takes back the second names of what will not be replaced.
    mutating func undo() {
        for version in keptVersions.values { version.displacer.undo(version.kept) }
        keptVersions = [:]
    }

    /// Renames them, looking at each target once more.
    ///
    /// With `synchronizesEach` the directory is made durable after each rename.
    mutating func commit(synchronizesEach: Bool) {
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
                outcomes[item.index] = .failed(directory.explained(error, neededBytes: nil))
            }
        }
    }

    private mutating func publish(_ item: Prepared) throws(LocalError) -> PublicationOutcome {
        let publication = group[item.index]
        let path = publication.path
        guard !path.isDirectory else { throw .targetIsDirectory(path) }
        let parent = try parent(of: path)
        let name = PathBytes(path.name)
        var kept: RelativePath?
        do throws(LocalError) {
            if let version = keptVersions.removeValue(forKey: item.index) {
                kept = try replace(version, with: item, parent, name, path)
            } else if publication.expected == .absent {
                try placeWhereAbsent(item, parent, name, path)
            } else if let old = try checkedTarget(publication, parent, name) {
                kept = try replace(old, with: item, parent, name)
            } else {
                try placeWhereAbsent(item, parent, name, path)
            }
        } catch {
            switch error.errno {
            case EXDEV: throw .otherFileSystem(path)
            case EISDIR, ENOTEMPTY: throw .targetIsDirectory(path)
            default: throw error
            }
        }
        // The rename changed the file's ctime, so its identity is taken now; and if it is another
        // file by now, or was written to, that must not be recorded as what was verified.
        guard let status = try parent.status(of: name), status.isSameObject(as: item.status),
            status.identity.size == item.status.identity.size,
            status.identity.modified == item.status.identity.modified
        else { throw .targetChanged(path) }
        return .published(status.identity, keptAs: kept)
    }

    private mutating func parent(of path: RelativePath) throws(LocalError) -> OpenDirectory {
        let parent = path.parent
        if let lastParent, lastParent.path == parent { return lastParent.directory }
        var opened = directory.root
        if let parent {
            opened = try directory.root.directory(beneath: parent, creatingWithMode: 0o777)
        }
        lastParent = (parent, opened)
        return opened
    }

    private func placeWhereAbsent(
        _ item: Prepared,
        _ parent: OpenDirectory,
        _ name: PathBytes,
        _ path: RelativePath
    ) throws(LocalError) {
        let placed = try calls.renameExclusively(
            from: partials.descriptor,
            directory.fileName(item.name),
            to: parent.descriptor,
            name
        )
        if placed { return }
        switch try parent.status(of: name)?.kind {
        case .directory: throw .targetIsDirectory(path)
        case .special(let kind): throw .targetIsSpecial(path, kind)
        case .file:
            if let other = parent.nameFound(by: path.name) {
                throw .nameTaken(path, by: displayText(other))
            }
            throw .targetChanged(path)
        case nil: throw .targetChanged(path)
        }
    }

    /// What is at the target, if it is what was expected; nil for nothing, if that was.
    private func checkedTarget(
        _ publication: Publication,
        _ parent: OpenDirectory,
        _ name: PathBytes
    ) throws(LocalError) -> FileStatus? {
        let path = publication.path
        let found = try parent.status(of: name)
        switch (publication.expected, found?.kind) {
        case (_, .directory): throw .targetIsDirectory(path)
        case (.anything, nil), (.anything, .file), (.anything, .special(.symbolicLink)):
            return found
        case (_, .special(let kind)): throw .targetIsSpecial(path, kind)
        case (.file(let expected), .file) where found?.identity == expected: return found
        case (.file, _), (.absent, _): throw .targetChanged(path)
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
        let displacer = Displacer(directory: directory, path: publication.path, parent: parent)
        let kept = try displacer.keep(old, as: publication.displaced)
        do throws(LocalError) {
            // Here it could not have its second name beforehand: on a disk without such names it
            // was moved just now, and a power cut could keep the rename below alone.
            if kept != nil { try directory.synchronize() }
            if kept?.originalIsGone == true {
                try placeWhereAbsent(item, parent, name, publication.path)
            } else {
                try calls.rename(
                    from: partials.descriptor,
                    directory.fileName(item.name),
                    to: parent.descriptor,
                    name
                )
            }
        } catch {
            if let kept { displacer.undo(kept) }
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
            guard try parent.status(of: name)?.identity == version.status.identity else {
                throw .targetChanged(path)
            }
            try calls.rename(
                from: partials.descriptor,
                directory.fileName(item.name),
                to: parent.descriptor,
                name
            )
        } catch {
            version.displacer.undo(version.kept)
            throw error
        }
        return version.kept.path
    }
}
