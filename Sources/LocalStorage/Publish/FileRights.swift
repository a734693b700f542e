internal import CLibrary
internal import SyncModel

/// Who may access a file.
package struct FileRights: Sendable, Hashable {
    /// Read, write and execute, for owner, group and others.
    ///
    /// With a list, those of the group are only its mask.
    var permissions: UInt32
    var owner: UInt32
    var group: UInt32
    var list: AccessList?

    /// These for a new version whose object says `mode`.
    func narrowed(to mode: UInt32) -> FileRights {
        // The object says what it was told of a file with this list: it is as it was.
        if let list, permissions & list.withoutList == mode & 0o777 { return self }
        var rights = self
        rights.list = list?.limited(to: NewFileModes.readers(of: mode))
        rights.permissions =
            rights.list?.permissions ?? NewFileModes.narrowed(permissions, to: mode)
        return rights
    }

    /// What is left of the permissions without the list.
    var permissionsWithoutList: UInt32 { list?.withoutList ?? permissions }
}

extension FileRights {
    /// Without a list, and without set-user-ID, which was given to other content.
    init(_ status: FileStatus) {
        permissions = status.permissions & 0o777
        (owner, group) = (status.owner, status.group)
    }
}

extension OpenFile {
    /// Who may access this file.
    package func rights() throws(LocalError) -> FileRights {
        let status = try status()
        var rights = FileRights(status)
        // Without permissions for the mask no entry of a list gives any, but one may refuse them.
        guard status.permissions & 0o077 != 0 else { return rights }
        guard let bytes = try calls.list(.access, of: descriptor) else { return rights }
        rights.list = AccessList(bytes)
        // Another form of a list says nothing of others than the owner.
        if rights.list == nil { rights.permissions &= 0o700 }
        return rights
    }

    /// Gives a new file of this user's these rights, and less where the system refuses a part.
    ///
    /// Nobody else can open it so far; the order keeps it so until its group is the right one.
    func give(_ rights: FileRights, removesList: Bool) throws(LocalError) {
        let status = try status()
        let isOfGroup = try give(to: rights, status)
        if removesList, rights.list == nil {
            try unlessRefused { () throws(LocalError) in
                try calls.removeList(.access, of: descriptor)
            }
        }
        if let list = rights.list {
            let isSet = try unlessRefused { () throws(LocalError) in
                try calls.setList((isOfGroup ? list : list.forAnotherGroup).bytes, of: descriptor)
            }
            if isSet { return }
        }
        var permissions = rights.permissionsWithoutList
        if !isOfGroup { permissions &= ~0o070 | (permissions & 0o007) << 3 }
        try calls.setModeIfPossible(descriptor, permissions)
    }

    /// False if the file could not be given to the group.
    private func give(to rights: FileRights, _ status: FileStatus) throws(LocalError) -> Bool {
        let owner =
            SystemCalls.effectiveUser == 0 && rights.owner != status.owner ? rights.owner : nil
        if owner != nil || rights.group != status.group {
            let isGiven = try unlessRefused { () throws(LocalError) in
                try calls.setOwner(descriptor, owner, group: rights.group)
            }
            if isGiven { return true }
        }
        guard rights.group != status.group else { return true }
        // Not every administrator may give files away.
        guard owner != nil else { return false }
        return try unlessRefused { () throws(LocalError) in
            try calls.setOwner(descriptor, nil, group: rights.group)
        }
    }

    /// False if this user or this file system may not or cannot do it.
    @discardableResult
    private func unlessRefused(
        _ body: () throws(LocalError) -> Void
    ) throws(LocalError) -> Bool {
        do throws(LocalError) {
            try body()
            return true
        } catch {
            guard error.isRefusedAttribute else { throw error }
            return false
        }
    }
}

/// What a directory gives to the files that are made in it.
struct NewFileDefaults: Sendable, Hashable {
    /// The group, where it is the directory's.
    var group: UInt32?
    var list: AccessList?

    static let ordinary = NewFileDefaults(group: nil, list: nil)
}

extension OpenDirectory {
    func newFileDefaults() throws(LocalError) -> NewFileDefaults {
        let status = try status()
        return NewFileDefaults(
            group: status.permissions & 0o2000 != 0 ? status.group : nil,
            list: try calls.list(.forNewFiles, of: descriptor).flatMap(AccessList.init)
        )
    }

    /// Takes away what the directory around gave this one to pass on: a temporary file would have
    /// it wherever it goes.
    func passNothingOn() throws(LocalError) {
        let status = try status()
        if status.permissions & 0o2000 != 0 {
            try calls.setMode(descriptor, status.permissions & 0o777)
        }
        do throws(LocalError) {
            try calls.removeList(.forNewFiles, of: descriptor)
        } catch {
            guard error.isRefusedAttribute else { throw error }
        }
    }
}

extension LocalError {
    /// True if a file system does not have what was to be set of a file, or does not let it be set.
    var isRefusedAttribute: Bool {
        switch errno {
        case EPERM, EOPNOTSUPP, ENOTSUP, ENOSYS, EINVAL: true
        default: false
        }
    }
}
