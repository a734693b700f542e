package import SyncModel

/// The local side of a key, relative to the manifest's row.
package enum LocalChange: Sendable, Hashable, CaseIterable {
    case absent
    /// Size, mtime, inode and ctime are those of the row.
    case same
    /// The size is that of the row, and the mtime, the inode or the ctime moved: only the content
    /// can tell.
    case touched
    /// The size differs, so the content does.
    case changed
    /// The file is shorter, and the mtime, the inode and the ctime are those of the row: no program
    /// wrote it.
    ///
    /// A longer one may have been recorded in the middle of a write, which sets the times when it
    /// begins.
    case shortened

    /// Compares what the walk saw with the row.
    ///
    /// The mtime is compared as the row stores it, in nanoseconds with saturation, so that a file
    /// dated beyond the year 2262 does not look touched for ever. The ctime shows a write after
    /// which the mtime was set back; that `chmod` and hard links move it, too, costs a read. It is
    /// compared where inodes are, and where the row has it.
    package init(of local: LocalEntry?, since base: ManifestEntry, judgesInodes: Bool) {
        guard let local else {
            self = .absent
            return
        }
        switch local.kind {
        case .directory:
            self = .same
        case .file(let identity):
            let isSameInode =
                !judgesInodes || base.inode == 0 || identity.inode == base.inode
            let isSameTime =
                identity.modified.nanosecondsSince1970
                == base.localModified.nanosecondsSince1970
            let isSameChange = base.changed.map { $0 == identity.recordedChange }
            if identity.size != base.size {
                let isUntouched = judgesInodes && isSameInode && isSameTime && isSameChange == true
                self = isUntouched && identity.size < base.size ? .shortened : .changed
            } else if isSameTime, isSameInode {
                self = judgesInodes && isSameChange == false ? .touched : .same
            } else {
                self = .touched
            }
        }
    }
}

/// The remote side of a key, relative to the manifest's row.
package enum RemoteChange: Sendable, Hashable, CaseIterable {
    case absent
    /// Size and ETag are those of the row.
    case same
    case changed

    /// Compares what the listing says with the row.
    ///
    /// A directory marker has no content to change.
    package init(of remote: RemoteObject?, since base: ManifestEntry) {
        guard let remote else {
            self = .absent
            return
        }
        if remote.key.isDirectoryMarker, remote.size == 0, base.size == 0 {
            self = .same
        } else {
            self = remote.size == base.size && remote.etag == base.etag ? .same : .changed
        }
    }
}
