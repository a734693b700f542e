internal import CLibrary
package import SyncModel

/// What became of a file that was to come back from the trash.
package enum RestorationOutcome: Sendable, Hashable {
    /// It has its path; `replaced` is true if another file had it and is in the trash now.
    case restored(replaced: Bool)
    /// A file of the same content has the path; nothing was changed.
    case alreadyThere
    /// Another file has the path and was not to be replaced; nothing was changed.
    case occupied
}

extension MirrorDirectory {
    /// Moves a file from the trash of `run` to `target`, with its time and its mode.
    ///
    /// One rename, or one exchange of names, so that a kill leaves the file in the trash or at its
    /// path, and never both sides of an exchange without a name. A file that is replaced has its
    /// name in the trash first, durably.
    ///
    /// `replacing` is the run whose trash takes a file that has the path and differs, if it is
    /// `replaceable` (nil: whatever it is); nil leaves that one as it is. Throws `targetChanged` if
    /// one of them is written meanwhile.
    package func restore(
        _ path: RelativePath,
        from run: TrashOfRun,
        to target: RelativePath,
        replacing: String?,
        _ replaceable: FileIdentity? = nil,
        unless interruption: Interruption
    ) throws(LocalError) -> RestorationOutcome {
        func carryOut() throws(LocalError) -> RestorationOutcome {
            let restoration = try Restoration(
                directory: self,
                run: run,
                path: path,
                target: target
            )
            return try restoration.carryOut(
                replacing: replacing,
                replaceable,
                unless: interruption
            )
        }
        do throws(LocalError) {
            do throws(LocalError) {
                return try carryOut()
            } catch {
                guard error.isAccessDenied, let parent = target.parent else { throw error }
                return try whileWritable(parent, carryOut, orElse: error)
            }
        } catch {
            throw disk.explained(error, neededBytes: nil)
        }
    }

    /// Runs `body` while this user may write to a directory of its own, the nearest that is there:
    /// what a run deleted in one that it had to open for that comes back, too.
    func whileWritable<Value>(
        _ path: RelativePath,
        _ body: () throws(LocalError) -> Value,
        orElse refusal: LocalError
    ) throws(LocalError) -> Value {
        var place = path
        while case .absent? = try? identity(of: place), let parent = place.parent { place = parent }
        guard let opened = try? root.directory(beneath: place), let status = try? opened.status(),
            status.owner == SystemCalls.effectiveUser, status.permissions & 0o200 == 0
        else { throw refusal }
        try calls.setMode(opened.descriptor, status.permissions | 0o200)
        defer { try? calls.setMode(opened.descriptor, status.permissions) }
        return try body()
    }
}

extension MirrorDirectory {
    /// What ``restore(_:from:to:replacing:_:unless:)`` would do; changes nothing.
    package func restorationOutcome(
        of path: RelativePath,
        from run: TrashOfRun,
        to target: RelativePath,
        replaces: Bool,
        _ replaceable: FileIdentity?,
        unless interruption: Interruption
    ) throws(LocalError) -> RestorationOutcome {
        // A parent that is missing would be made.
        if let parent = target.parent, try identity(of: parent) == .absent {
            return .restored(replaced: false)
        }
        let restoration = try Restoration(directory: self, run: run, path: path, target: target)
        return try restoration.outcome(replaces: replaces, replaceable, unless: interruption)
    }
}

/// Brings one file back.
private struct Restoration {
    let directory: MirrorDirectory
    let run: TrashOfRun
    let path: RelativePath
    let target: RelativePath
    let place: OpenDirectory
    let name: PathBytes
    let old: FileStatus
    let parent: OpenDirectory
    let newName: PathBytes

    private var calls: SystemCalls { directory.calls }

    init(
        directory: MirrorDirectory,
        run: TrashOfRun,
        path: RelativePath,
        target: RelativePath
    ) throws(LocalError) {
        (self.directory, self.run, self.path, self.target) = (directory, run, path, target)
        name = PathBytes(path.name)
        newName = PathBytes(target.name)
        guard let place = try directory.trash.directory.ifPresent(run.name, path.parent),
            let old = try place.status(of: name), old.isKept
        else { throw .absent(path) }
        (self.place, self.old) = (place, old)
        guard let parent = target.parent else {
            self.parent = directory.root
            return
        }
        self.parent = try directory.restoredDirectory(parent, standingFor: path.parent, in: [run])
    }

    func carryOut(
        replacing: String?,
        _ replaceable: FileIdentity?,
        unless interruption: Interruption
    ) throws(LocalError) -> RestorationOutcome {
        // In the trash nobody else can open it.
        if path.parent != target.parent {
            try directory.limitRights(of: name, old, place, parent)
        }
        if try move() { return .restored(replaced: false) }
        guard let present = try present() else { throw .targetChanged(target) }
        if try isEqual(to: present, unless: interruption) { return .alreadyThere }
        guard let replacing, replaceable.map(present.identity.isVersion) ?? true else {
            return .occupied
        }
        try replace(present, replacing)
        return .restored(replaced: true)
    }

    func outcome(
        replaces: Bool,
        _ replaceable: FileIdentity?,
        unless interruption: Interruption
    ) throws(LocalError) -> RestorationOutcome {
        guard let present = try present() else { return .restored(replaced: false) }
        if try isEqual(to: present, unless: interruption) { return .alreadyThere }
        let isReplaced = replaces && replaceable.map(present.identity.isVersion) ?? true
        return isReplaced ? .restored(replaced: true) : .occupied
    }

    /// The file that has the path; nil if there is none.
    private func present() throws(LocalError) -> FileStatus? {
        guard let status = try parent.status(of: newName) else { return nil }
        switch status.kind {
        case .file: break
        case .special(.symbolicLink) where old.kind == status.kind: break
        case .directory: throw .targetIsDirectory(target)
        case .special(let kind): throw .targetIsSpecial(target, kind)
        }
        if let other = parent.nameFound(by: target.name) {
            throw .nameTaken(target, by: displayText(other))
        }
        return status
    }

    /// Takes the free name; false if it is taken.
    private func move() throws(LocalError) -> Bool {
        do throws(LocalError) {
            let isMoved = try calls.renameExclusively(
                from: place.descriptor,
                name,
                to: parent.descriptor,
                newName
            )
            guard isMoved else { return false }
        } catch {
            guard error.errno == EXDEV, old.kind == .file, try directory.noteOutOfReach(parent)
            else { throw error.naming(target) }
            let isMoved = try directory.moveByCopy(
                target,
                name,
                in: place,
                to: newName,
                in: parent,
                old
            )
            if isMoved { try prune() }
            return isMoved
        }
        guard try parent.status(of: newName)?.isSameVersion(as: old) == true else {
            throw .targetChanged(target)
        }
        try prune()
        return true
    }

    private func isEqual(
        to present: FileStatus,
        unless interruption: Interruption
    ) throws(LocalError) -> Bool {
        if present.isSameObject(as: old) { return true }
        guard present.kind == old.kind, present.identity.size == old.identity.size else {
            return false
        }
        let expected = try checksum(in: place, name, old, unless: interruption)
        return try checksum(in: parent, newName, present, unless: interruption) == expected
    }

    private func checksum(
        in directory: OpenDirectory,
        _ name: PathBytes,
        _ status: FileStatus,
        unless interruption: Interruption
    ) throws(LocalError) -> CRC64 {
        let file: OpenFile
        if status.kind == .file {
            file = try directory.file(name, target.display)
        } else {
            file = try OpenFile(link: name, in: directory, target)
        }
        guard try file.status().isSameVersion(as: status) else { throw .targetChanged(target) }
        let range = ByteRange(offset: 0, length: status.identity.size)
        return try file.checksum(of: range, unless: interruption)
    }

    /// Puts the file in the place of `present`, which is kept in the trash of `newRun`.
    ///
    /// Its second name is durable before it loses its own, and the exchange before that second
    /// name is the only one: a power cut may keep any step without the ones before it.
    private func replace(_ present: FileStatus, _ newRun: String) throws(LocalError) {
        let keeper = OldVersionKeeper(directory: directory, path: target, parent: parent)
        let kept = try keeper.keepInTrash(present, run: newRun)
        var isExchanged = false
        do throws(LocalError) {
            try directory.disk.synchronize()
            if kept.originalIsGone {
                guard try move() else { throw .targetChanged(target) }
                return
            }
            isExchanged = try calls.exchange(
                place.descriptor,
                name,
                parent.descriptor,
                newName
            )
            if !isExchanged { try renameOver(present) }
        } catch {
            if error.errno == EXDEV, old.kind == .file, try directory.noteOutOfReach(parent) {
                return try replaceByCopy(present)
            }
            keeper.undo(kept)
            throw error
        }
        guard isExchanged else { return try prune() }
        guard try place.status(of: name)?.isSameVersion(as: present) == true else {
            // Another program saved the file in between: it has its name again.
            _ = try? calls.exchange(place.descriptor, name, parent.descriptor, newName)
            keeper.undo(kept)
            throw .targetChanged(target)
        }
        try directory.disk.synchronize()
        try calls.unlink(at: place.descriptor, name)
        try prune()
    }

    /// Where no rename leads to the path.
    ///
    /// A kill in between leaves both files in the trash.
    private func replaceByCopy(_ present: FileStatus) throws(LocalError) {
        guard try parent.status(of: newName)?.isSameVersion(as: present) == true else {
            throw .targetChanged(target)
        }
        try calls.unlink(at: parent.descriptor, newName)
        guard try move() else { throw .targetChanged(target) }
    }

    /// Where names cannot be exchanged.
    private func renameOver(_ present: FileStatus) throws(LocalError) {
        guard try parent.status(of: newName)?.isSameVersion(as: present) == true else {
            throw .targetChanged(target)
        }
        try calls.rename(from: place.descriptor, name, to: parent.descriptor, newName)
    }

    /// Removes the directories of the trash that are empty now.
    private func prune() throws(LocalError) {
        try directory.trash.removeEmpty(path.parent, in: run)
    }
}
