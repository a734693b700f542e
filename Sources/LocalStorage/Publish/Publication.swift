package import SyncModel

/// A finished temporary file that is to take its place in the mirrored directory; where the path is
/// that of a link, a link with its content does.
package struct Publication: Sendable, Hashable {
    package var partialName: String
    package var path: RelativePath
    /// The modification time that the file gets.
    package var modified: Timestamp
    package var expected: ExpectedTarget
    package var backup: BackupPolicy
    /// Where the permissions come from if nothing is replaced; nil for those of an ordinary new
    /// file.
    package var permissions: GivenPermissions?
    /// Set where the temporary file has its time and the permissions of a new file already.
    package var ready: ReadyPartial?
    /// False if the file that is replaced is not the recorded one.
    package var replacesRecorded = true
    /// The recorded permissions of the file; nil for none.
    package var recordedPermissions: UInt32?
    /// False if the file that is replaced loses what `permissions` do not give.
    package var keepsPermissions = true

    package init(
        partialName: String,
        path: RelativePath,
        modified: Timestamp,
        expected: ExpectedTarget,
        backup: BackupPolicy,
        permissions: GivenPermissions? = nil,
        ready: ReadyPartial? = nil
    ) {
        self.partialName = partialName
        self.path = path
        self.modified = modified
        self.expected = expected
        self.backup = backup
        self.permissions = permissions
        self.ready = ready
    }
}

/// A temporary file that was made whole, and what it was then.
package struct ReadyPartial: Sendable, Hashable {
    let file: PartialName
    package let modified: Timestamp
    let status: FileStatus

    package var name: String { file.text }

    init(name: PartialName, modified: Timestamp, status: FileStatus) {
        file = name
        self.modified = modified
        self.status = status
    }
}

extension Publication {
    /// The temporary file, if nothing needs to be done to it before it gets its name.
    func unchangedPartial(_ modes: NewFileModes) -> ReadyPartial? {
        guard !path.isLink, let ready, ready.name == partialName, ready.modified == modified,
            expected == .absent, modes.permissions(permissions) == modes.ordinary
        else { return nil }
        return ready
    }
}

/// Where the permissions of a new file come from.
package enum GivenPermissions: Sendable, Hashable {
    /// The file of this machine that it is a copy of.
    case ofCopy(FileRights)
    /// The object's metadata, which anyone may have written who can write to the bucket.
    case ofObject(UInt32)
}

/// The permissions that this process gives new files.
struct NewFileModes: Sendable, Hashable {
    /// All that the umask allows: read, write and execute.
    let allowed: UInt32

    /// Those of an ordinary new file.
    var ordinary: UInt32 { allowed & 0o666 }

    /// Those of a new file: never more than read, write and execute, because set-user-ID was given
    /// to other content.
    ///
    /// What an object says gives no user more than the umask does, and never takes reading from the
    /// owner, because later runs read the file.
    func permissions(_ given: GivenPermissions?) -> UInt32 {
        switch given {
        case .ofCopy(let rights): rights.permissions
        case .ofObject(let permissions): permissions & allowed | 0o400
        case nil: ordinary
        }
    }

    /// Those of a file that has `held` and gets a version whose object says `mode`.
    ///
    /// Who may not read that version may do nothing. It opens nothing: who may read may execute as
    /// well. Writing stays, which a umask elsewhere perhaps took away.
    static func narrowed(_ held: UInt32, to mode: UInt32) -> UInt32 {
        let kept = held & readers(of: mode)
        return kept | mode & 0o111 & kept >> 2
    }

    /// All bits of those who may read; the owner always may.
    static func readers(of mode: UInt32) -> UInt32 {
        let reading = mode & 0o444 | 0o400
        return reading | reading >> 1 | reading >> 2
    }

    /// The same in a directory with a list for new files, which takes the place of the umask.
    func permissions(_ given: GivenPermissions?, _ list: AccessList) -> UInt32 {
        switch given {
        case .ofCopy(let rights): rights.permissionsWithoutList
        case .ofObject(let permissions): permissions & list.permissions | 0o400
        case nil: 0o666
        }
    }
}

/// What the plan saw at a path; anything else there belongs to the user and is not touched.
package enum ExpectedTarget: Sendable, Hashable {
    case absent
    case file(FileIdentity)
    /// Nothing, a file or a symbolic link, which is replaced as a name and not written through.
    case anything
}

/// What becomes of the version that a new one replaces.
package enum BackupPolicy: Sendable, Hashable {
    case replace
    /// Replaced only if it has this content: for a file that may have changed without a new size or
    /// time.
    case replaceHolding(CRC64)
    /// Kept in the trash of this run, by its path.
    case moveToTrash(run: String)
    /// Kept in the same directory: `suffix` goes before the name's extension, and a number after it
    /// if that name is taken.
    case keepBeside(suffix: String)

    var keepsOldVersion: Bool {
        switch self {
        case .replace, .replaceHolding: false
        case .moveToTrash, .keepBeside: true
        }
    }
}

extension Publication {
    /// True if the file that is replaced has the content that it must have, if any is asked for.
    func mayReplace(
        _ old: FileStatus,
        in directory: OpenDirectory,
        _ name: PathBytes
    ) -> Bool {
        guard case .replaceHolding(let checksum) = backup else { return true }
        let found = Result { () throws(LocalError) in
            let file: OpenFile
            if path.isLink {
                file = try OpenFile(link: name, in: directory, path)
            } else {
                file = try directory.file(name, path.display)
            }
            let range = ByteRange(offset: 0, length: old.identity.size)
            return try file.checksum(of: range, unless: nil)
        }
        // What cannot be read is not replaced either.
        if case .success(checksum) = found { return true }
        return false
    }
}

extension Publication {
    /// What is at the target, if it is what was expected; nil for nothing, if that was.
    func checkedTarget(
        in parent: OpenDirectory,
        _ name: PathBytes,
        of directory: MirrorDirectory
    ) throws(LocalError) -> FileStatus? {
        let found = try parent.status(of: name)
        func isAsSeen(_ seen: FileIdentity) -> Bool {
            found.map { directory.isAsSeen($0.identity, seen) } ?? false
        }
        switch (expected, found?.kind) {
        case (_, .directory): throw .targetIsDirectory(path)
        case (.file(let seen), .special(.symbolicLink)) where path.isLink:
            guard isAsSeen(seen) else { throw .targetChanged(path) }
            return found
        case (_, .file) where path.isLink: throw .targetIsFile(path)
        case (.anything, nil), (.anything, .file), (.anything, .special(.symbolicLink)):
            return found
        case (_, .special(let kind)): throw .targetIsSpecial(path, kind)
        case (.file(let seen), .file) where isAsSeen(seen): return found
        case (.file, _), (.absent, _): throw .targetChanged(path)
        }
    }
}

/// How published files are made to survive a power cut before
/// ``MirrorDirectory/publish(_:durability:)`` returns.
package enum PublicationDurability: Sendable, Hashable {
    /// By one synchronization of the whole file system before and one after the renames.
    case synchronized
    /// By synchronizing each file and its directory, for few files on a busy disk.
    case synchronizedEach
    /// By synchronizing each file, and then as ``synchronized``.
    ///
    /// For files that were being written when the file system failed to sync: it reports that only
    /// once, but an fsync of each file shows whether it is affected.
    case synchronizedTwice
}

package enum PublicationOutcome: Sendable, Hashable {
    /// The file is in its place and is this; `keptAs` is where ``BackupPolicy/keepBeside(suffix:)``
    /// put the old version.
    case published(FileIdentity, keptAs: RelativePath?)
    /// Nothing is to be recorded. The target is untouched and the temporary file is still there,
    /// unless it was the look after the rename that failed or found someone else's file; then the
    /// next run finds by content what there is.
    case failed(LocalError)
}

extension MirrorDirectory {
    /// Puts finished temporary files in their places, all for the price of two synchronizations.
    ///
    /// The order is what a power cut needs: every content, and the second name of every old version
    /// that is kept, is on the disk before the first rename, and every rename before this returns.
    /// At each moment each path has its complete old or its complete new version. One item that
    /// cannot be published does not keep the others from it.
    ///
    /// - Returns: One outcome for each item, in the order of `group`.
    /// - Throws: If the disk could not be synchronized. Before the renames that leaves every target
    ///   as it was; after them the files are in place but may not survive a power cut, so that
    ///   nothing may be recorded of them, and the next run compares them again.
    package func publish(
        _ group: [Publication],
        durability: PublicationDurability
    ) throws(LocalError) -> [PublicationOutcome] {
        try publishing(group, durability: durability).outcomes
    }

    /// The same, and the bits for owner, group and others of each file that was published.
    package func publishing(
        _ group: [Publication],
        durability: PublicationDurability
    ) throws(LocalError) -> (outcomes: [PublicationOutcome], permissions: [UInt32?]) {
        guard !group.isEmpty else { return ([], []) }
        do throws(LocalError) {
            var publisher = try Publisher(directory: self, group: group)
            let isForEach = durability == .synchronizedEach
            publisher.prepare(synchronizesEach: durability != .synchronized)
            publisher.keepOldVersions()
            guard publisher.hasPrepared else { return publisher.result }
            // A version that is kept may never have been waited for.
            if !isForEach || publisher.hasKeptVersions {
                do throws(LocalError) {
                    try disk.synchronize()
                } catch {
                    publisher.undo()
                    throw error
                }
            }
            publisher.commit(synchronizesEach: isForEach)
            if !isForEach { try disk.synchronize() }
            return publisher.result
        } catch {
            throw disk.explained(error, neededBytes: nil)
        }
    }
}
