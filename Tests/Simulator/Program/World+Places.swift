internal import CSystem
internal import CVirtualFiles
internal import Glibc
internal import SyncModel

/// A directory as it was once.
struct Backup {
    struct File {
        let path: ObjectKey
        let bytes: [UInt8]
        let modified: Timestamp
    }

    var files: [File] = []
    var directories: [ObjectKey] = []
    /// What lay in the directory's own `.osssync`, but for trash and partial files.
    var state: [String: [UInt8]] = [:]
}

/// A directory at which a volume was mounted once.
struct Volume {
    var isOtherDevice = false
    var isMounted = false
    /// What is kept of its files, while it is not mounted.
    var kept: [Model.Held] = []
    /// Files that it held when it was mounted last.
    var files: [ObjectKey: ContentID] = [:]
}

/// What happens to the directory as a whole.
extension World {
    func apply(_ change: PlaceChange) {
        switch change {
        case .backUp: backup = makeBackup()
        case .restore: restore(ontoNewDisk: false)
        case .restoreOntoNewDisk: restore(ontoNewDisk: true)
        case .copyState(let names): copyState(names)
        case .remove: removeRoot(isMoved: false)
        case .moveAway: removeRoot(isMoved: true)
        case .fill(let name, let count):
            for number in 0..<count {
                let inside = ObjectKey(name.key.bytes + [UInt8]("/f\(number)".utf8))
                apply(LocalChange.write(Name(inside), size: 24))
            }
        case .mount(let name, let isOtherDevice): mount(name, isOtherDevice)
        case .unmount(let name): unmount(name)
        case .nest(let name): nest(name)
        case .pushElsewhere(let seed): pushElsewhere(seed)
        case .ignore(let lines): writeIgnoreFile(lines)
        }
        DiskEdits.synchronizeAll(VIRTUAL_FILES_ROOT)
    }

    // MARK: - Backups

    private func makeBackup() -> Backup {
        var backup = Backup()
        for (path, entry) in tree.entries.sorted(by: { $0.key < $1.key }) {
            let full = full(path)
            switch entry {
            case .directory: backup.directories.append(path)
            case .file:
                guard let status = DiskTree.status(full), let bytes = DiskEdits.read(full) else {
                    continue
                }
                let modified = Timestamp(
                    seconds: Int64(status.st_mtim.tv_sec),
                    nanoseconds: Int32(status.st_mtim.tv_nsec)
                )
                backup.files.append(Backup.File(path: path, bytes: bytes, modified: modified))
            case .link, .other: break
            }
        }
        for name in DiskTree.names(in: [UInt8](VirtualDisk.ownState.utf8)) {
            let path = [UInt8](VirtualDisk.ownState.utf8) + [UInt8(ascii: "/")] + name
            let isFile = DiskTree.status(path).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
            guard isFile, let bytes = DiskEdits.read(path) else { continue }
            backup.state[String(decoding: name, as: UTF8.self)] = bytes
        }
        return backup
    }

    /// Puts everything back as it was, on the same root or on a new one.
    private func restore(ontoNewDisk: Bool) {
        guard let backup, volumes.values.allSatisfy({ !$0.isMounted }) else { return }
        stateMayDiffer()
        if keepsStateInside { manifestIsOld = true }
        model.lostAll()
        if ontoNewDisk {
            moveRootAway()
        } else {
            for path in tree.entries.keys.sorted()
            where !path.bytes.contains(UInt8(ascii: "/")) || RelativePath.isEscaped(path) {
                DiskEdits.remove(full(path))
            }
            for name in DiskTree.names(in: [UInt8](VirtualDisk.ownState.utf8)) {
                let path = [UInt8](VirtualDisk.ownState.utf8) + [UInt8(ascii: "/")] + name
                let isFile = DiskTree.status(path).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
                if isFile { DiskEdits.remove(path) }
            }
        }
        DiskEdits.makeDirectory([UInt8](VirtualDisk.ownState.utf8))
        DiskEdits.setMode([UInt8](VirtualDisk.ownState.utf8), 0o700)
        for path in backup.directories { DiskEdits.makeDirectory(full(path)) }
        for file in backup.files {
            let full = full(file.path)
            _ = DiskEdits.makeParents(of: full)
            guard DiskEdits.write(full, file.bytes, truncates: true) else { continue }
            DiskEdits.setModified(full, file.modified)
            if let content = model.contents.identify(file.bytes) {
                model.restored(file.path, content)
            }
        }
        for (name, bytes) in backup.state.sorted(by: { $0.key < $1.key }) {
            let path = [UInt8]((VirtualDisk.ownState + "/" + name).utf8)
            DiskEdits.write(path, bytes, truncates: true)
            DiskEdits.setMode(path, 0o600)
        }
        DiskEdits.remove([UInt8](VirtualDisk.moved.utf8))
    }

    private func moveRootAway() {
        DiskEdits.remove([UInt8](VirtualDisk.moved.utf8))
        _ = DiskEdits.rename([UInt8](VirtualDisk.mirror.utf8), [UInt8](VirtualDisk.moved.utf8))
        DiskEdits.makeDirectory([UInt8](VirtualDisk.mirror.utf8))
    }

    /// Another directory of a user, into which `.osssync` was copied.
    private func copyState(_ names: [Name]) {
        guard volumes.values.allSatisfy({ !$0.isMounted }) else { return }
        stateMayDiffer()
        model.lostAll()
        moveRootAway()
        _ = DiskEdits.rename(
            [UInt8]((VirtualDisk.moved + "/.osssync").utf8),
            [UInt8](VirtualDisk.ownState.utf8)
        )
        DiskEdits.remove([UInt8](VirtualDisk.moved.utf8))
        tree.scan(model.contents)
        model.look(tree)
        for (number, name) in names.enumerated() {
            apply(LocalChange.write(name, size: 40 + number * 100))
        }
    }

    /// What the manifest says of the directory is no longer what is there.
    private func stateMayDiffer() {
        forgetWaste()
        directoryWasReplaced = true
        guard keepsStateInside else { return }
        manifestWasLost = true
        recordedHost = nil
    }

    var keepsStateInside: Bool { disk.stateDirectory == VirtualDisk.ownState }

    // MARK: - The directory goes

    private func removeRoot(isMoved: Bool) {
        guard volumes.values.allSatisfy({ !$0.isMounted }) else { return }
        stateMayDiffer()
        model.lostAll()
        if let run, !run.rootIsGone { run.lastRequestWithRoot = run.requests }
        run?.rootIsGone = true
        if isMoved {
            moveRootAway()
        } else {
            DiskEdits.remove([UInt8](VirtualDisk.mirror.utf8))
        }
        if run == nil { standUpAgain() }
    }

    /// A directory that went is there again, with nothing in it.
    func standUpAgain() {
        DiskEdits.remove([UInt8](VirtualDisk.moved.utf8))
        DiskEdits.makeDirectory([UInt8](VirtualDisk.mirror.utf8))
        DiskEdits.synchronizeAll(VIRTUAL_FILES_ROOT)
    }
}

// MARK: - Volumes

extension World {
    private func mountPath(_ name: Name) -> String {
        String(decoding: full(name.key), as: UTF8.self)
    }

    private func mount(_ name: Name, _ isOtherDevice: Bool) {
        guard (try? RelativePath(key: name.key)).map({ !$0.isDirectory }) == true,
            volumes[name]?.isMounted != true, isValidUTF8(name.key.bytes)
        else { return }
        // What would be hidden beneath goes first.
        if !DiskTree.names(in: full(name.key)).isEmpty {
            apply(LocalChange.delete(name))
        }
        apply(LocalChange.makeDirectory(name))
        let number = volumes.keys.sorted { $0.key < $1.key }.firstIndex(of: name) ?? volumes.count
        var volume = volumes[name] ?? Volume()
        volume.isOtherDevice = isOtherDevice
        let source = VirtualDisk.volumes + "/\(volumeNumbers[name] ?? number)"
        volumeNumbers[name] = volumeNumbers[name] ?? number
        DiskEdits.makeDirectory([UInt8](VirtualDisk.volumes.utf8))
        DiskEdits.makeDirectory([UInt8](source.utf8))
        guard unsafe virtual_files_mount(source, mountPath(name), isOtherDevice) else { return }
        volume.isMounted = true
        for held in volume.kept { model.keepAgain(held) }
        volume.kept = []
        volumes[name] = volume
        tree.scan(model.contents)
        for (path, content) in volume.files { model.allow(path, content) }
        model.look(tree)
    }

    /// What was there is on a disk that is not mounted, and nobody deleted it.
    func unmount(_ name: Name) {
        guard var volume = volumes[name], volume.isMounted else { return }
        tree.scan(model.contents)
        model.look(tree)
        guard unsafe virtual_files_unmount(mountPath(name)) else { return }
        volume.isMounted = false
        let beneath = ObjectKey(name.key.bytes + [UInt8(ascii: "/")])
        volume.files = [:]
        for (path, entry) in model.tree where path.hasPrefix(beneath) {
            if case .file(let content?) = entry { volume.files[path] = content }
        }
        volume.kept = model.setAside(beneath: beneath)
        volumes[name] = volume
    }

    /// All volumes are there, as at the end of a history.
    func mountAll() {
        for (name, volume) in volumes.sorted(by: { $0.key.key < $1.key.key })
        where !volume.isMounted { mount(name, volume.isOtherDevice) }
    }

    /// A run is told that all is as it should be, also where a volume is not mounted.
    func acceptUnmounted() {
        for (name, volume) in volumes where !volume.isMounted {
            for (path, content) in volume.files {
                model.letGo(Model.Held(path: path, content: content))
            }
            volumes[name]?.files = [:]
        }
    }

    /// True beneath a volume that is mounted, from which a rename does not reach the trash.
    func isOnVolume(_ path: ObjectKey) -> Bool {
        volumes.contains { name, volume in
            volume.isMounted && path.hasPrefix(ObjectKey(name.key.bytes + [UInt8(ascii: "/")]))
        }
    }

    /// True if a volume is mounted at the path, which stays a directory for as long.
    func isMountPoint(_ path: ObjectKey) -> Bool {
        volumes.contains { name, volume in volume.isMounted && name.key == path }
    }

    /// True if the file is on a volume that is not mounted.
    ///
    /// A run whose manifest was lost may have fetched it into the volume's place; what a user
    /// removes there is a deletion like any other.
    func isUnmounted(_ path: ObjectKey) -> Bool {
        volumes.values.contains { volume in
            guard !volume.isMounted, let content = volume.files[path] else { return false }
            return !model.superseded.contains(Model.Held(path: path, content: content))
        }
    }
}

// MARK: - Mirrors beneath the mirror, and what is not mirrored

extension World {
    private func nest(_ name: Name) {
        guard isOrdinary(name) else { return }
        apply(LocalChange.makeDirectory(name))
        let state = ObjectKey(name.key.bytes + [UInt8]("/.osssync".utf8))
        guard DiskTree.status(full(name.key)) != nil else { return }
        DiskEdits.makeDirectory(full(state))
        for file in ["config", "manifest.db", "marker"] {
            let path = ObjectKey(state.bytes + [UInt8]("/\(file)".utf8))
            let content = model.contents.make(size: 100)
            guard DiskEdits.write(full(path), model.contents[content], truncates: true)
            else { continue }
            model.userPut(path, content, isMirrored: false)
        }
    }

    static let ignoreFile = ObjectKey(".osssyncignore")
    /// What would make it a directory is left alone.
    static let ignoreDirectory = ObjectKey(".osssyncignore/")

    private func writeIgnoreFile(_ lines: [String]) {
        let text = Self.ignoreText(lines)
        guard DiskEdits.replace(full(Self.ignoreFile), text) else { return }
        ignoreFileIsUsers = true
        // A text that was mirrored once is no edit.
        let content = model.contents.take(text)
        let isMirrored = model.versions[Self.ignoreFile]?.values.contains(content) == true
        model.userPut(Self.ignoreFile, content, isMirrored: isMirrored)
    }

    /// With no line, a text that no program understands.
    static func ignoreText(_ lines: [String]) -> [UInt8] {
        guard !lines.isEmpty else { return [UInt8]("[abc\n# cannot be used\n".utf8) }
        return ignoreHead + [UInt8](lines.joined(separator: "\n").utf8) + [0x0A]
    }

    static let ignoreHead = [UInt8]("# what stays here\n".utf8)

    /// The names that the directory's ignore file hides now.
    func ignoredNames() -> Set<String> {
        guard let bytes = DiskEdits.read(full(Self.ignoreFile)) else { return [] }
        let lines = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        return Set(lines.filter { !$0.hasPrefix("#") && !$0.hasPrefix("[") })
    }
}
