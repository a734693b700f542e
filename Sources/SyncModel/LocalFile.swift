/// What the file system says of one file: enough to see that it is no longer the one that was
/// recorded.
package struct FileIdentity: Sendable, Hashable {
    /// Bytes.
    package let size: Int64
    package let modified: Timestamp
    /// The time of the last change of content or attributes; a restored mtime does not hide a write
    /// from it.
    package let changed: Timestamp
    package let inode: UInt64
    package let device: UInt64

    package init(
        size: Int64,
        modified: Timestamp,
        changed: Timestamp,
        inode: UInt64,
        device: UInt64
    ) {
        self.size = size
        self.modified = modified
        self.changed = changed
        self.inode = inode
        self.device = device
    }

    /// The time of the last change as the manifest records it; nil before 1970, where no clock is
    /// to be trusted.
    package var recordedChange: Int64? {
        let nanoseconds = changed.nanosecondsSince1970
        return nanoseconds < 0 ? nil : nanoseconds
    }

    /// True for the same file with the same size and modification time.
    ///
    /// The time of its last change moves with each of its names.
    package func isVersion(_ other: FileIdentity) -> Bool {
        inode == other.inode && device == other.device && size == other.size
            && modified == other.modified
    }

    /// True for the same file with more bytes, as far as that can be told without reading it.
    package func hasGrown(since earlier: FileIdentity) -> Bool {
        inode == earlier.inode && device == earlier.device && size > earlier.size
    }
}

/// One element of a directory walk, in key order.
package struct LocalEntry: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case file(FileIdentity)
        /// `isEmpty` is true if the directory has no entry at all.
        case directory(isEmpty: Bool)
    }

    /// The path as a key relative to the walk's root; a directory's ends in "/".
    package let path: ObjectKey
    package let kind: Kind
    /// True if it is a symbolic link, or a file that one leads to.
    package let isLink: Bool
    /// The bits for owner, group and others; nil for a link, whose own say nothing.
    package let permissions: UInt32?
    /// True if another user may have put it in the place of what was there: it is that user's, in a
    /// directory in which all users may take names away.
    package var mayBeOthers = false
    /// When such a file was made; nil for any other, and where the file system does not say.
    package var birth: Timestamp?

    package init(
        path: ObjectKey,
        kind: Kind,
        isLink: Bool = false,
        permissions: UInt32? = nil
    ) {
        self.path = path
        self.kind = kind
        self.isLink = isLink
        self.permissions = permissions
    }
}
