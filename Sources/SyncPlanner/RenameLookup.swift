package import SyncModel

/// A row of the manifest whose content may be what a new key needs, with what the file system and
/// the listing say of its two sides now, as far as known.
package struct RenameCandidate: Sendable, Hashable {
    package let row: ManifestEntry
    /// The row's file as it is now; nil if it is gone or was not looked at.
    package let file: FileIdentity?
    /// True if the row's key is known to be gone from the side that the new key appeared on, so
    /// that this is a rename and not a copy.
    package let isVanished: Bool

    package init(row: ManifestEntry, file: FileIdentity?, isVanished: Bool) {
        self.row = row
        self.file = file
        self.isVanished = isVanished
    }
}

/// Where the content of a new key comes from.
package enum ContentSource: Sendable, Hashable {
    /// Nowhere near: it is transferred.
    case none
    /// This row's content is the new key's.
    case copy(RenameCandidate)
    /// One of these has it if its CRC-64 is that of the new key, which is not known yet: the
    /// object's by a HEAD, the file's by reading it. ``RenameLookup/match(_:among:)`` then chooses.
    case checksum([RenameCandidate])
}

/// Finds content that is here already, so that renames move no bytes.
///
/// A content is looked up by what identifies it, one new key at a time, never paired from sets; the
/// vanished side is an ordinary deletion later. A wrong guess costs a comparison: what is copied
/// from a row is guarded by the row's identity on its side.
package struct RenameLookup: Sendable, Hashable {
    /// Below this many bytes a transfer costs no more than asking.
    package let smallestWorthAsking: Int64
    /// At most this many candidates are compared by checksum.
    package let maximumCandidates: Int
    /// False where inode numbers do not last, as on some disks and network file systems.
    package let judgesInodes: Bool

    package init(smallestWorthAsking: Int64, maximumCandidates: Int, judgesInodes: Bool) {
        self.smallestWorthAsking = smallestWorthAsking
        self.maximumCandidates = maximumCandidates
        self.judgesInodes = judgesInodes
    }

    /// A local source for a new object: a row with its ETag and size, else one of its size whose
    /// checksum can be compared; in either case only if the row's file is as recorded.
    package func localSource(
        for object: RemoteObject,
        among candidates: [RenameCandidate]
    ) -> ContentSource {
        guard object.size > 0, object.kind == .normal || object.kind == .multipart else {
            return .none
        }
        let usable = candidates.filter { candidate in
            guard candidate.row.key != object.key, candidate.row.size == object.size,
                let file = candidate.file
            else { return false }
            return isRecorded(file, candidate.row)
        }
        let identical = usable.filter {
            $0.row.etag == object.etag && !object.etag.text.utf8.isEmpty
        }
        if let best = preferred(identical) { return .copy(best) }
        guard object.size >= smallestWorthAsking else { return .none }
        let comparable = usable.filter { candidate in
            guard candidate.row.crc64 != nil else { return false }
            // Two MD5s that differ are two contents.
            return candidate.row.etag.md5Digest == nil || object.etag.md5Digest == nil
        }
        return limited(comparable)
    }

    /// A remote source for a new file: a row of its size whose checksum is to be compared.
    ///
    /// Rows that this very file seems to have had (inode, size and mtime) come first and are worth
    /// it at any size. No more follows from those three: a file system gives the inode of a removed
    /// file to the next one, and whatever sets times gives both one mtime. Archived objects cannot
    /// be copied.
    package func remoteSource(
        for file: FileIdentity,
        at key: ObjectKey,
        among candidates: [RenameCandidate]
    ) -> ContentSource {
        guard file.size > 0 else { return .none }
        let usable = candidates.filter { candidate in
            candidate.row.key != key && candidate.row.size == file.size
                && candidate.row.crc64 != nil && !candidate.row.storageClass.isArchived
        }
        let moved = usable.filter { isRecorded(file, $0.row) && $0.row.inode != 0 }
        if !moved.isEmpty { return limited(moved) }
        return file.size >= smallestWorthAsking ? limited(usable) : .none
    }

    /// The candidate with that checksum, a vanished one first.
    package func match(
        _ checksum: CRC64,
        among candidates: [RenameCandidate]
    ) -> RenameCandidate? {
        preferred(candidates.filter { $0.row.crc64 == checksum })
    }

    private func isRecorded(_ file: FileIdentity, _ row: ManifestEntry) -> Bool {
        file.size == row.size && (!judgesInodes || file.inode == row.inode)
            && row.mayHaveTime(of: file)
    }

    private func preferred(_ candidates: [RenameCandidate]) -> RenameCandidate? {
        candidates.first { $0.isVanished } ?? candidates.first
    }

    private func limited(_ candidates: [RenameCandidate]) -> ContentSource {
        guard !candidates.isEmpty else { return .none }
        let ordered = candidates.filter(\.isVanished) + candidates.filter { !$0.isVanished }
        return .checksum(Array(ordered.prefix(maximumCandidates)))
    }
}
