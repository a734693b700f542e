internal import CLibrary
internal import SyncModel
internal import Synchronization

// Disks that are one mount, and yet do not let a file be renamed from one directory to another:
// unions of disks, and subvolumes.
extension Publisher {
    func place(of item: Prepared) -> OpenDirectory { item.place ?? partials }

    /// Among the user's files, a name that is never mirrored; a later attempt has the same one.
    func name(of item: Prepared) -> PathBytes {
        item.place == nil
            ? directory.partials.fileName(item.name)
            : PathBytes((RelativePath.temporaryNamePrefix + item.name.text).utf8)
    }

    /// Where no rename leads: by a copy in the directory of the target.
    mutating func publishCopy(
        of item: Prepared,
        in parent: OpenDirectory
    ) throws(LocalError) -> PublicationOutcome {
        let path = group[item.index].path
        do throws(LocalError) {
            let copy = try copied(item, to: parent)
            do throws(LocalError) {
                let outcome = try publish(copy, in: parent)
                // One that stays is swept like any temporary file.
                _ = try? calls.unlink(
                    at: partials.descriptor,
                    directory.partials.fileName(item.name)
                )
                return outcome
            } catch {
                _ = try? calls.unlink(at: parent.descriptor, name(of: copy))
                throw error
            }
        } catch {
            throw error.naming(path)
        }
    }

    /// The same temporary file in the directory of its target, and durable there.
    private func copied(_ item: Prepared, to parent: OpenDirectory) throws(LocalError) -> Prepared {
        let publication = group[item.index]
        let old = directory.partials.fileName(item.name)
        let new = PathBytes((RelativePath.temporaryNamePrefix + item.name.text).utf8)
        // What a kill left there.
        try calls.unlink(at: parent.descriptor, new)
        let status: FileStatus
        if publication.path.isLink {
            let text = try OpenFile(link: old, in: partials, publication.path).linkText ?? []
            try calls.makeLink(PathBytes(text), at: parent.descriptor, new)
            try calls.setModified(at: parent.descriptor, new, publication.modified)
            guard let found = try parent.status(of: new) else {
                throw .unusablePartial(name: item.name.text)
            }
            status = found
        } else {
            status = try directory.copy(old, in: partials, to: new, in: parent, item.status)
        }
        return Prepared(index: item.index, name: item.name, status: status, place: parent)
    }
}

/// Directories into which no rename leads from that of the temporary files.
struct OutOfReach: Sendable {
    struct Number: Hashable, Sendable {
        let inode: UInt64
        let device: UInt64

        init(_ status: FileStatus) {
            (inode, device) = (status.identity.inode, status.identity.device)
        }
    }

    static let limit = 1 << 14
    var directories: Set<Number> = []
}

extension MirrorDirectory {
    /// True if a rename into this directory was refused before.
    func isOutOfReach(_ directory: OpenDirectory) throws(LocalError) -> Bool {
        // On most disks there is none, and nothing is asked.
        guard outOfReach.withLock({ !$0.directories.isEmpty }) else { return false }
        let number = OutOfReach.Number(try directory.status())
        return outOfReach.withLock { $0.directories.contains(number) }
    }

    /// Remembers that a rename into this directory was refused; false if it is on another mount,
    /// which is never written to.
    func noteOutOfReach(_ directory: OpenDirectory) throws(LocalError) -> Bool {
        let status = try directory.status()
        guard try status.mount == partials.directory.status().mount else { return false }
        let number = OutOfReach.Number(status)
        outOfReach.withLock { known in
            if known.directories.count < OutOfReach.limit { known.directories.insert(number) }
        }
        calls.refusals.note(.renames)
        return true
    }

    /// Makes a durable copy of a file that has its rights and its time.
    ///
    /// - Throws: `unusablePartial` if it is not `status`; no copy is left then.
    func copy(
        _ name: PathBytes,
        in source: OpenDirectory,
        to newName: PathBytes,
        in target: OpenDirectory,
        _ status: FileStatus
    ) throws(LocalError) -> FileStatus {
        func opened(
            _ place: OpenDirectory,
            _ name: PathBytes,
            _ flags: Int32
        ) throws(LocalError) -> OpenFile {
            try place.file(name, name.display, flags: flags, mode: 0o600)
        }
        let old = try opened(source, name, SystemCalls.readingFlags)
        guard try old.status().isSameVersion(as: status) else {
            throw .unusablePartial(name: name.display)
        }
        let new = try opened(target, newName, SystemCalls.creationFlags)
        do throws(LocalError) {
            let size = status.identity.size
            _ = try partials.copyContents(of: old, intoPartial: new, size: size)
            try new.give(try old.rights(), removesList: true)
            try calls.setModified(new.descriptor, status.identity.modified)
            try new.synchronize()
            return try new.status()
        } catch {
            _ = try? calls.unlink(at: target.descriptor, newName)
            throw error
        }
    }

    /// Gives a file another name where no rename leads to it, by a durable copy; false if that name
    /// is taken.
    ///
    /// - Throws: `targetChanged` if the file is not `status`; it stays then.
    func moveByCopy(
        _ path: RelativePath,
        _ name: PathBytes,
        in source: OpenDirectory,
        to newName: PathBytes,
        in target: OpenDirectory,
        _ status: FileStatus
    ) throws(LocalError) -> Bool {
        let temporary = PathBytes(
            (RelativePath.temporaryNamePrefix + partials.newName().text).utf8
        )
        var last = temporary
        do throws(LocalError) {
            _ = try copy(name, in: source, to: temporary, in: target, status)
            let isNamed = try calls.renameExclusively(
                from: target.descriptor,
                temporary,
                to: target.descriptor,
                newName
            )
            guard isNamed else {
                try calls.unlink(at: target.descriptor, temporary)
                return false
            }
            last = newName
            try calls.synchronize(target.descriptor)
            guard let found = try source.status(of: name),
                isAsSeen(found.identity, status.identity)
            else { throw .targetChanged(path) }
            try calls.unlink(at: source.descriptor, name)
            return true
        } catch {
            _ = try? calls.unlink(at: target.descriptor, last)
            if case .unusablePartial = error { throw .targetChanged(path) }
            throw error
        }
    }
}
