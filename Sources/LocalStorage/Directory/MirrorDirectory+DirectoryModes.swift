internal import CSystem
package import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension MirrorDirectory {
    /// The permissions that `mkdir` gives in this process: what no marker has to record.
    package static let ordinaryPermissions: UInt32 = {
        let told = osssync_umask()
        if told >= 0 { return 0o777 & ~UInt32(told) }
        // Changed for a moment, where a system does not tell it.
        let mask = umask(0o077)
        umask(mask)
        return 0o777 & ~UInt32(mask)
    }()

    /// The permissions of a directory here whose marker says `mode`: no more than the umask allows,
    /// and always reading and entering for its owner, because later runs walk it.
    package func permissions(ofMarker mode: UInt32) throws(LocalError) -> UInt32 {
        let permissions = mode & (try newFileModes().allowed) | 0o500
        if mode & 0o777 & ~permissions != 0 { calls.refusals.note(.permissionsOfUmask) }
        return permissions
    }

    /// Gives a directory the bits for owner, group and others; those that it has then, or nil if it
    /// had other ones than `expected`, which are kept.
    ///
    /// Where it has an access list, whose mask the group's bits are, the group and others only lose
    /// some. What cannot be set is told once, and is no failure.
    package func setPermissions(
        _ permissions: UInt32,
        ofDirectory path: RelativePath,
        expected: UInt32?
    ) throws(LocalError) -> UInt32? {
        let opened = try root.directory(beneath: path)
        let status = try opened.status()
        if let expected, status.permissions & 0o777 != expected { return nil }
        var wanted = permissions & 0o777
        if try calls.list(.access, of: opened.descriptor) != nil {
            wanted &= status.permissions | 0o700
        }
        guard wanted != status.permissions & 0o777 else { return wanted }
        try calls.setModeIfPossible(opened.descriptor, status.permissions & ~0o777 | wanted)
        let found = try opened.status().permissions & 0o777
        if found != wanted { calls.refusals.note(.permissions) }
        return found
    }
}

extension OpenDirectory {
    /// The bits for owner, group and others; nil for those that every directory gets that is made
    /// in its place, because a list for new ones says so.
    func chosenPermissions(_ status: FileStatus) -> UInt32? {
        let permissions = status.permissions & 0o777
        // A directory that was made under such a list has it, too.
        guard permissions != MirrorDirectory.ordinaryPermissions,
            let list = (try? calls.list(.forNewFiles, of: descriptor)).flatMap({ $0 })
                .flatMap(AccessList.init),
            list.permissions == permissions
        else { return permissions }
        return nil
    }
}
