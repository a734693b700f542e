internal import CLibrary
internal import SyncModel

/// Keeps the old version of one file when something else takes its name, or when it is deleted.
///
/// While a new version is about to replace it, the old one gets a second name first and loses its
/// own only by that replacement: at no moment is the path empty. File systems without second names
/// get a rename, and a crash in between leaves the old version in its new place.
struct OldVersionKeeper {
    let directory: MirrorDirectory
    let path: RelativePath
    let parent: OpenDirectory
    /// False if the old version must not be moved when it cannot have a second name.
    var mayMove = true

    /// More names than a run could need; a limit all the same.
    static let maximumAttempts = 1000

    /// Where an old version was put.
    struct Kept {
        fileprivate let place: OpenDirectory
        fileprivate let name: PathBytes
        /// Beside the original; nil in the trash.
        let path: RelativePath?
        /// True if the original name is free now.
        let originalIsGone: Bool
        /// True if an earlier run made it.
        var isOlder = false
    }

    private var calls: SystemCalls { directory.calls }
    private var original: PathBytes { PathBytes(path.name) }

    /// Keeps the file as `policy` asks; nil if it asks for nothing.
    func keep(_ old: FileStatus, as policy: BackupPolicy) throws(LocalError) -> Kept? {
        switch policy {
        case .replace, .replaceHolding: nil
        case .moveToTrash(let run): try keepInTrash(old, run: run)
        case .keepBeside(let suffix): try keepBeside(old, suffix: suffix)
        }
    }

    /// True if an error says that this file cannot have a second name here.
    static func isRefusedName(_ error: LocalError) -> Bool {
        switch error.errno {
        case EPERM, EOPNOTSUPP, ENOTSUP, ENOSYS, EMLINK, EINVAL: true
        default: false
        }
    }

    /// Gives the file a second name in the trash of `run`.
    func keepInTrash(_ old: FileStatus, run: String) throws(LocalError) -> Kept {
        for attempt in 0..<Self.maximumAttempts {
            guard let place = try trashPlace(run: run, attempt: attempt) else { continue }
            if let kept = try keep(old, in: place, as: original, path: nil) { return kept }
        }
        throw .noFreeName(path)
    }

    /// Gives the file a second name in its own directory, or where its key's new name belongs if
    /// it is escaped.
    func keepBeside(_ old: FileStatus, suffix: String) throws(LocalError) -> Kept {
        try requireRemovableName(old)
        if let kept = try keptBefore(old, suffix: suffix) { return kept }
        for attempt in 0..<Self.maximumAttempts {
            let keptPath: RelativePath
            do {
                keptPath = try ConflictName.path(beside: path, suffix: suffix, attempt: attempt)
            } catch {
                throw .noFreeName(path)
            }
            var place = parent
            if keptPath.parent != path.parent, let other = keptPath.parent {
                place = try directory.root.directory(beneath: other, creatingWithMode: 0o777)
            }
            let name = PathBytes(keptPath.name)
            if let kept = try keep(old, in: place, as: name, path: keptPath) { return kept }
        }
        throw .noFreeName(path)
    }

    /// Fails where the name cannot be given to another file, before that file has a second one,
    /// which could not be taken back either.
    private func requireRemovableName(_ old: FileStatus) throws(LocalError) {
        let user = SystemCalls.effectiveUser
        guard user != 0, old.owner != user else { return }
        let status = try parent.status()
        guard status.permissions & 0o1000 != 0, status.owner != user else { return }
        throw .systemCall(SystemCallError(call: "renameat2", errno: EPERM, path: path.display))
    }

    /// The second name that an earlier run gave to this very file and could not take back.
    private func keptBefore(_ old: FileStatus, suffix: String) throws(LocalError) -> Kept? {
        guard old.linkCount > 1 else { return nil }
        var found: [PathBytes] = []
        try unsafe calls.names(in: parent.descriptor) { name, _ in
            let bytes = unsafe [UInt8](name)
            if ConflictName.isName(bytes, of: path.name, suffix: suffix) {
                found.append(PathBytes(bytes))
            }
        }
        for name in found {
            let key = ObjectKey(
                (path.parent.map { $0.bytes + [UInt8(ascii: "/")] } ?? []) + name.bytes
            )
            guard let status = try parent.status(of: name), status.isSameObject(as: old),
                let kept = try? RelativePath(path: key)
            else { continue }
            return Kept(
                place: parent,
                name: name,
                path: kept,
                originalIsGone: false,
                isOlder: true
            )
        }
        return nil
    }

    /// Moves the file into the trash of `run`.
    ///
    /// - Throws: `targetChanged` if another file had the name by then; it has it again, or lies in
    ///   the trash if the name was taken once more.
    func moveToTrash(_ old: FileStatus, run: String) throws(LocalError) {
        directory.sharedFiles.note(old)
        for attempt in 0..<Self.maximumAttempts {
            guard let place = try trashPlace(run: run, attempt: attempt) else { continue }
            let moved: Bool
            do throws(LocalError) {
                moved = try calls.renameExclusively(
                    from: parent.descriptor,
                    original,
                    to: place.descriptor,
                    original
                )
            } catch {
                guard error.errno == EXDEV, old.kind == .file,
                    try directory.noteOutOfReach(parent)
                else { throw error.naming(path) }
                let isMoved = try directory.moveByCopy(
                    path,
                    original,
                    in: parent,
                    to: original,
                    in: place,
                    old
                )
                if isMoved { return }
                continue
            }
            guard moved else { continue }
            let found = try? place.status(of: original)
            if found?.isSameVersion(as: old) == true { return }
            undo(Kept(place: place, name: original, path: nil, originalIsGone: true))
            throw .targetChanged(path)
        }
        throw .noFreeName(path)
    }

    /// Removes the file for good.
    ///
    /// It gets the name of a temporary file first: removing a name removes whichever file has it by
    /// then, including one that another program saved after the last check.
    ///
    /// - Throws: `targetChanged` as ``moveToTrash(_:run:)``.
    func remove(_ old: FileStatus) throws(LocalError) {
        directory.sharedFiles.note(old)
        let partials = try directory.partials.directory
        let name = directory.partials.fileName(directory.partials.newName())
        do throws(LocalError) {
            guard
                try calls.renameExclusively(
                    from: parent.descriptor,
                    original,
                    to: partials.descriptor,
                    name
                )
            else { throw .noFreeName(path) }
        } catch {
            // On another disk within the mirror there is no such place.
            guard error.errno == EXDEV else { throw error }
            try calls.unlink(at: parent.descriptor, original)
            return
        }
        let kept = Kept(place: partials, name: name, path: nil, originalIsGone: true)
        // What cannot be looked at is not removed either.
        let found = try? partials.status(of: name)
        guard found?.isSameVersion(as: old) == true else {
            undo(kept)
            throw .targetChanged(path)
        }
        do throws(LocalError) {
            try calls.unlink(at: partials.descriptor, name)
        } catch {
            undo(kept)
            throw error
        }
    }

    /// Takes back what was kept.
    ///
    /// If anything fails here, the old version stays where it was kept.
    func undo(_ kept: Kept) {
        if kept.originalIsGone {
            // A failure leaves it where the user finds it; the error that led here is reported.
            _ = try? calls.renameExclusively(
                from: kept.place.descriptor,
                kept.name,
                to: parent.descriptor,
                original
            )
        } else if !kept.isOlder {
            // One that stays is found by the next run.
            _ = try? calls.unlink(at: kept.place.descriptor, kept.name)
        }
    }

    /// The directory in the trash that stands for the file's own.
    ///
    /// The trash of one run can already hold a file where a directory is needed now; then the run
    /// gets a second tree.
    private func trashPlace(run: String, attempt: Int) throws(LocalError) -> OpenDirectory? {
        let name = TrashOfRun.directoryName(run: run, attempt: attempt)
        let tree = try directory.trash.oldVersions.subdirectory(name, creatingWithMode: 0o700)
        guard let parent = path.parent else { return tree }
        let root = directory.root
        do throws(LocalError) {
            return try tree.directory(beneath: parent) { component in
                let status = try? root.directory(beneath: component).status()
                return KeptDirectory.mode(of: status?.permissions ?? 0o700)
            }
        } catch {
            switch error {
            case .parentIsFile, .symlinkInPath: return nil
            default: throw error
            }
        }
    }

    /// False if the name is taken.
    private func copy(
        _ old: FileStatus,
        to place: OpenDirectory,
        _ name: PathBytes
    ) throws(LocalError) -> Bool {
        do throws(LocalError) {
            _ = try directory.copy(original, in: parent, to: name, in: place, old)
            return true
        } catch {
            if error.errno == EEXIST { return false }
            if case .unusablePartial = error { throw .targetChanged(path) }
            throw error
        }
    }

    /// Nil if the name is taken.
    private func keep(
        _ old: FileStatus,
        in place: OpenDirectory,
        as name: PathBytes,
        path keptPath: RelativePath?
    ) throws(LocalError) -> Kept? {
        directory.sharedFiles.note(old, getsName: true)
        do throws(LocalError) {
            try calls.link(
                from: parent.descriptor,
                original,
                to: place.descriptor,
                name
            )
        } catch {
            if error.errno == EEXIST { return nil }
            var failure = error
            if mayMove, Self.isRefusedName(error) {
                do throws(LocalError) {
                    return try moveAway(to: place, name, keptPath)
                } catch {
                    failure = error
                }
            }
            guard failure.errno == EXDEV, old.kind == .file, try directory.noteOutOfReach(parent)
            else { throw failure.naming(path) }
            guard try copy(old, to: place, name) else { return nil }
            return Kept(place: place, name: name, path: keptPath, originalIsGone: false)
        }
        let kept = Kept(place: place, name: name, path: keptPath, originalIsGone: false)
        guard let found = try place.status(of: name), found.isSameObject(as: old) else {
            undo(kept)
            throw .targetChanged(path)
        }
        return kept
    }

    private func moveAway(
        to place: OpenDirectory,
        _ name: PathBytes,
        _ keptPath: RelativePath?
    ) throws(LocalError) -> Kept? {
        let moved = try calls.renameExclusively(
            from: parent.descriptor,
            original,
            to: place.descriptor,
            name
        )
        guard moved else { return nil }
        return Kept(place: place, name: name, path: keptPath, originalIsGone: true)
    }
}
