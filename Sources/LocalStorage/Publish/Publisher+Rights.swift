internal import CLibrary
internal import SyncModel

/// What directories give to new files, asked once for each.
struct DirectoryDefaults {
    /// By their paths; that of the root is empty.
    private var known: [ObjectKey: NewFileDefaults] = [:]

    /// Of the directory at `path`; one that is absent will have them from the one above.
    mutating func of(_ path: RelativePath?, in directory: MirrorDirectory) -> NewFileDefaults {
        // There the temporary file was made in this directory itself.
        if directory.partials.areBeside { return .ordinary }
        let key = ObjectKey(path?.bytes ?? [])
        if let found = known[key] { return found }
        let found: NewFileDefaults
        do throws(LocalError) {
            let opened =
                try path.map { (path) throws(LocalError) in
                    try directory.root.directory(beneath: path)
                } ?? directory.root
            found = try opened.newFileDefaults()
        } catch {
            // What keeps it from being opened is reported when the file gets its name.
            found = path.map { of($0.parent, in: directory) } ?? .ordinary
        }
        known[key] = found
        return found
    }
}

extension Publisher {
    /// Lets nobody read the new file who could not read the one that it replaces, or a file that
    /// this user makes there.
    mutating func giveRights(
        to file: OpenFile,
        for publication: Publication
    ) throws(LocalError) {
        let rights = try rights(of: file, for: publication)
        try file.give(rights, removesList: directory.partials.areBeside)
    }

    private mutating func rights(
        of file: OpenFile,
        for publication: Publication
    ) throws(LocalError) -> FileRights {
        guard let (old, origin) = try replaced(by: publication) else {
            return try newRights(of: file, for: publication)
        }
        if origin != .unknown {
            switch publication.backup {
            case .replace, .replaceHolding, .moveToTrash:
                guard !publication.keepsPermissions,
                    case .ofObject(let mode)? = publication.permissions
                else { return old }
                return old.narrowed(to: mode)
            case .keepBeside: break
            }
        }
        // Not what somebody did to another file, but no more than its owner let others see.
        var rights = try newRights(of: file, for: publication)
        var most = old.permissionsWithoutList
        if origin == .unknown { most &= publication.recordedPermissions ?? 0o777 }
        most |= 0o700
        let known = origin == .unknown ? nil : old.list
        rights.list = rights.list?.limited(to: most).limited(to: known, unnamed: most)
        rights.permissions = rights.list?.permissions ?? rights.permissions & most
        if origin != .unknown { rights.group = old.group }
        if origin == .ownerOfDirectory { rights.owner = old.owner }
        return rights
    }

    /// Who put a file where it is.
    private enum Origin {
        case thisUser
        case ownerOfDirectory
        /// Perhaps any user.
        case unknown
    }

    /// The rights of the file that has the name; nil if there is none.
    ///
    /// What another user put in the way of a new file does not decide who may read that. Where this
    /// user alone makes files, nobody else did.
    private mutating func replaced(
        by publication: Publication
    ) throws(LocalError) -> (FileRights, Origin)? {
        let path = publication.path
        guard publication.expected != .absent, !path.isDirectory else { return nil }
        let parent = try parent(of: path)
        guard let old = try parent.status(of: PathBytes(path.name)), old.kind == .file else {
            return nil
        }
        let (user, around) = (SystemCalls.effectiveUser, try parent.status())
        let isOwn = around.owner == user && around.permissions & 0o022 == 0
        let origin: Origin
        if old.owner == around.owner {
            origin = .ownerOfDirectory
        } else {
            let isKnown = !publication.mayBeInTheWay || old.owner == user || isOwn
            origin = isKnown ? .thisUser : .unknown
        }
        return (try parent.rights(of: PathBytes(path.name), old), origin)
    }

    private mutating func newRights(
        of file: OpenFile,
        for publication: Publication
    ) throws(LocalError) -> FileRights {
        let defaults = defaults.of(publication.path.parent, in: directory)
        let given = publication.permissions
        if case .ofCopy(let rights)? = given, defaults.list == nil { return rights }
        var rights = FileRights(try file.status())
        if let group = defaults.group { rights.group = group }
        if let list = defaults.list {
            rights.list = list.limited(to: modes.permissions(given, list))
            rights.permissions = rights.list?.permissions ?? 0
        } else {
            rights.permissions = modes.permissions(given)
        }
        noteUmask(given, rights.permissions)
        return rights
    }
}

extension Publisher {
    /// Notes a new file that gets less than its object says.
    func noteUmask(_ given: GivenPermissions?, _ permissions: UInt32) {
        guard case .ofObject(let wanted)? = given, wanted & 0o777 & ~permissions != 0 else {
            return
        }
        calls.refusals.note(.permissionsOfUmask)
    }
}

extension Publication {
    /// False if what is replaced is a file that was mirrored before and has not changed since.
    fileprivate var mayBeInTheWay: Bool {
        switch backup {
        case .replace, .replaceHolding: expected == .anything || !replacesRecorded
        case .moveToTrash, .keepBeside: true
        }
    }
}

extension OpenDirectory {
    /// Who may access the file `name`, which is `status`.
    fileprivate func rights(
        of name: PathBytes,
        _ status: FileStatus
    ) throws(LocalError) -> FileRights {
        var rights = FileRights(status)
        // Only the owner may; nothing else could say more.
        guard status.permissions & 0o077 != 0 else { return rights }
        do throws(LocalError) {
            return try file(name, name.display).rights()
        } catch {
            // One that cannot be read may have a list.
            guard error.isNotPermitted else { throw error }
            rights.permissions &= 0o700
            return rights
        }
    }
}
