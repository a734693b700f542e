/// What the manifest records of one mirrored key: the version both sides last had in common.
package struct ManifestEntry: Sendable, Hashable {
    /// Relative to the remote's prefix.
    package var key: ObjectKey
    /// Bytes, of the object and of the file.
    package let size: Int64
    package let etag: ETag
    /// Nil where the store gave none and nothing was computed: verified by size and ETag only.
    package let crc64: CRC64?
    package let lastModified: Timestamp?
    package let storageClass: StorageClass
    /// The file's mtime after it was published or read; zero for a directory marker.
    package let localModified: Timestamp
    /// The file's inode, 0 for a directory marker.
    package let inode: UInt64
    /// True if the object was a link and the content is that of its target: the creator of the link
    /// may not have had permission to read that, so it never becomes a separate object.
    package let isThroughLink: Bool
    /// True if the file is a symbolic link: whose text is the content if the key is of a link, else
    /// one that was followed.
    package let isLink: Bool
    /// The file's ctime when its content was known to be this; nil where it was not recorded.
    ///
    /// Nanoseconds since 1970. Whatever writes a file moves it, so that other content without a
    /// move is the disk's doing.
    package let changed: Int64?
    /// The permissions of the file or directory that the object's metadata stand for; nil where
    /// they were not recorded.
    package let mode: UInt32?
    /// True if the file was found to have other content than this, and nobody wrote it.
    package let isDamaged: Bool
    /// True if a run left the key out by its filters, and none has seen it on both sides since.
    package var isLeftOut = false
    /// True if the file was freed: one of its name is another one, and no later version.
    package var isFreed = false
    /// True if a run put the file there, as the bucket has it.
    package var isFetched = false

    package init(
        key: ObjectKey,
        size: Int64,
        etag: ETag,
        crc64: CRC64?,
        lastModified: Timestamp?,
        storageClass: StorageClass,
        localModified: Timestamp,
        inode: UInt64,
        isThroughLink: Bool = false,
        isLink: Bool = false,
        changed: Int64? = nil,
        mode: UInt32? = nil,
        isDamaged: Bool = false
    ) {
        self.key = key
        self.size = size
        self.etag = etag
        self.crc64 = crc64
        self.lastModified = lastModified
        self.storageClass = storageClass
        self.localModified = localModified
        self.inode = inode
        self.isThroughLink = isThroughLink
        self.isLink = isLink
        self.changed = changed
        self.mode = mode
        self.isDamaged = isDamaged
    }
}

extension ManifestEntry {
    /// The row of a directory, from its marker.
    package init(
        marker key: ObjectKey,
        etag: ETag,
        lastModified: Timestamp? = nil,
        storageClass: StorageClass = .standard,
        mode: UInt32? = nil
    ) {
        self.init(
            key: key,
            size: 0,
            etag: etag,
            crc64: CRC64(),
            lastModified: lastModified,
            storageClass: storageClass,
            localModified: Timestamp(seconds: 0),
            inode: 0,
            mode: mode
        )
    }

    /// The same row with what is said anew of the file, and no mark of damage unless it is given.
    package func replacing(
        lastModified: Timestamp? = nil,
        localModified: Timestamp? = nil,
        inode: UInt64? = nil,
        isLink: Bool? = nil,
        changed: Int64? = nil,
        mode: UInt32? = nil,
        etag: ETag? = nil,
        isDamaged: Bool = false
    ) -> ManifestEntry {
        var row = ManifestEntry(
            key: key,
            size: size,
            etag: etag ?? self.etag,
            crc64: crc64,
            lastModified: lastModified ?? self.lastModified,
            storageClass: storageClass,
            localModified: localModified ?? self.localModified,
            inode: inode ?? self.inode,
            isThroughLink: isThroughLink,
            isLink: isLink ?? self.isLink,
            changed: changed ?? self.changed,
            mode: mode ?? self.mode,
            isDamaged: isDamaged
        )
        // A time or a mark does not make the file another one than a run put there.
        row.isFetched = isFetched && row.inode == self.inode
        return row
    }

    /// Where its file, directory or link is.
    package var path: RelativePath {
        get throws(UnsafeKey) {
            if isLink, !key.isOfLink { return try RelativePath(following: key) }
            return try RelativePath(key: key, links: isLink ? .store : .skip, names: .escape)
        }
    }

    /// True if this seems to be the recorded file, whatever its name is by now.
    package func isOf(_ file: FileIdentity) -> Bool {
        inode == file.inode && size == file.size && mayHaveTime(of: file)
    }

    /// The same row with or without the mark that a run left it out; without it, nor was it freed.
    package func leftOut(_ isLeftOut: Bool) -> ManifestEntry {
        var row = self
        row.isLeftOut = isLeftOut
        row.isFreed = isFreed && isLeftOut
        return row
    }

    /// The row of a file that goes because the bucket has it.
    package var freed: ManifestEntry {
        var row = leftOut(true)
        row.isFreed = true
        return row
    }

    /// True if a file that was made at this time cannot be the recorded one, although it has its
    /// inode: file systems give the inode of a removed file to the next new one.
    package func isOlder(than birth: Timestamp?) -> Bool {
        guard let birth, let changed else { return false }
        return birth.nanosecondsSince1970 > changed
    }

    /// True if the file has the recorded modification time, or the nanosecond after it.
    ///
    /// A file that changed in the moment of recording is recorded a nanosecond early, so that the
    /// next run compares its content. To decide from content is the caller's part.
    package func mayHaveTime(of file: FileIdentity) -> Bool {
        let (found, recorded) = (file.modified, localModified)
        return found.nanosecondsSince1970 == recorded.nanosecondsSince1970
            || found.nanosecondsSince1970 == (recorded - .nanoseconds(-1)).nanosecondsSince1970
    }
}
