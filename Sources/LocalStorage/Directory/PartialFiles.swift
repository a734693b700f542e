internal import CLibrary
package import SyncModel
internal import Synchronization

/// The temporary files of a mirror or of a single file.
///
/// Those of a mirror are in our own directory, under unguessable names. One of a single file is
/// beside it, under a hidden name that is known beforehand, and locked while it is open, because no
/// mirror's lock excludes other processes. Either is reopened only if it is still the file that we
/// created.
package final class PartialFiles: Sendable {
    static let directoryName = "partial"

    private struct Opened {
        var directory: OpenDirectory?
        var modes: NewFileModes?
    }

    private let work: WorkPlace
    private let disk: MirrorDisk
    /// True if they lie beside what they become, for lack of a directory of their own.
    let areBeside: Bool
    /// What they are called, if all are of one file.
    private let series: PartialSeries?
    private let opened = Mutex(Opened())
    private let newNames = PartialNames()

    private var calls: SystemCalls { work.root.calls }

    init(in work: WorkPlace, _ disk: MirrorDisk, areBeside: Bool, of series: PartialSeries?) {
        (self.work, self.disk, self.areBeside, self.series) = (work, disk, areBeside, series)
    }

    /// Where they are, which is made once.
    var directory: OpenDirectory {
        get throws(LocalError) {
            if areBeside { return work.root }
            return try opened.withLock { opened throws(LocalError) in
                if let directory = opened.directory { return directory }
                let name = Self.directoryName
                let directory = try work.privateDirectory(name, in: work.directory, makes: true)
                try work.requireReach(of: directory)
                try directory.passNothingOn()
                opened.directory = directory
                return directory
            }
        }
    }

    /// Opens the directory of temporary files, which is done once.
    ///
    /// - Throws: `unsafeDirectory` if others can access it, or why it cannot be made.
    package func require() throws(LocalError) { _ = try directory }

    /// A name that no file has.
    func newName() -> PartialName { newNames.next() }

    /// Makes a temporary file of `size` bytes whose blocks are reserved.
    ///
    /// Of a single file it never has the name `old`, and what killed processes left of the file is
    /// removed; unless `reserves`, it has its size, and no blocks.
    ///
    /// - Throws: `diskFull` if they cannot be reserved; no file is left then. `lockHeld` if another
    ///   transfer writes the same single file.
    package func create(
        size: Int64,
        after old: String? = nil,
        reserves: Bool = true
    ) throws(LocalError) -> (name: String, file: OpenFile) {
        let directory = try directory
        if let series {
            try remove(of: series, except: nil)
            let names = series.names(after: old)
            return try make(size, in: directory, firstOf: names, reserves: reserves)
        }
        return try disk.explaining(neededBytes: size) { () throws(LocalError) in
            func reserve() throws(LocalError) -> (name: String, file: OpenFile) {
                try make(size, in: directory, newName(), reserves: true)
            }
            return try size > MirrorDisk.leastRoom ? disk.alone(reserve) : disk.againIfFull(reserve)
        }
    }

    /// Makes a temporary file of the first of `names` that is free.
    private func make(
        _ size: Int64,
        in directory: OpenDirectory,
        firstOf names: [PartialName],
        reserves: Bool
    ) throws(LocalError) -> (name: String, file: OpenFile) {
        var failure: LocalError?
        for name in names {
            do throws(LocalError) {
                return try make(size, in: directory, name, reserves: reserves)
            } catch {
                // Another process was faster, or the name is that of something else.
                guard error.errno == EEXIST else { throw disk.explained(error, neededBytes: size) }
                failure = error
            }
        }
        throw failure ?? .lockHeld(by: "another transfer of the same file")
    }

    private func make(
        _ size: Int64,
        in directory: OpenDirectory,
        _ name: PartialName,
        reserves: Bool
    ) throws(LocalError) -> (name: String, file: OpenFile) {
        try new(name, in: directory, mode: 0o600) { file throws(LocalError) in
            if reserves {
                try disk.reserve(size, of: file.descriptor)
            } else {
                try calls.truncate(file.descriptor, to: size)
            }
            return (name.text, file)
        }
    }

    /// Makes a temporary file that `complete` makes what it is to be; no file is left if it fails.
    private func new<Value>(
        _ name: PartialName,
        in directory: OpenDirectory,
        mode: UInt32,
        complete: (OpenFile) throws(LocalError) -> Value
    ) throws(LocalError) -> Value {
        let flags = SystemCalls.creationFlags
        let file = try directory.file(fileName(name), name.text, flags: flags, mode: mode)
        do throws(LocalError) {
            try lock(file)
            return try complete(file)
        } catch {
            // The first failure is the one to report; what is left is swept as an orphan.
            _ = try? calls.unlink(at: directory.descriptor, fileName(name))
            throw error
        }
    }

    /// Makes a temporary file that lacks nothing but its name: with its content, its modification
    /// time and the permissions of an ordinary new file.
    ///
    /// No blocks are reserved: a small file is written in one piece. `keepsOpen` keeps it open.
    ///
    /// - Throws: `diskFull` if the content does not fit; no file is left then.
    package func create(
        holding content: RawSpan,
        modified: Timestamp,
        keepsOpen: Bool
    ) throws(LocalError) -> (ready: ReadyPartial, file: OpenFile?) {
        let directory = try directory
        do throws(LocalError) {
            let mode = try modes().ordinary
            return try disk.againIfFull { () throws(LocalError) in
                let name = newName()
                return try new(name, in: directory, mode: mode) { file throws(LocalError) in
                    try disk.requireInodes(file.descriptor)
                    try file.write(content)
                    try calls.setModified(file.descriptor, modified)
                    let status = try file.status()
                    let ready = ReadyPartial(name: name, modified: modified, status: status)
                    return (ready, keepsOpen ? file : nil)
                }
            }
        } catch {
            throw disk.explained(error, neededBytes: Int64(content.byteCount))
        }
    }

    /// Opens a temporary file of an earlier moment for reading and writing.
    ///
    /// Nil if it is gone or cannot be trusted: it is a link, has a second name, belongs to someone
    /// else, is no regular file, or has another size than `expectedSize`. Its content is verified
    /// by checksums, not here.
    package func open(
        _ name: String,
        expectedSize: Int64?
    ) throws(LocalError) -> OpenFile? {
        guard let name = PartialName(name) else { return nil }
        guard let (file, status) = try open(name) else { return nil }
        try lock(file)
        // Whoever had the lock may have removed it.
        guard try file.status().linkCount == 1 else { return nil }
        if let expectedSize, status.identity.size != expectedSize { return nil }
        return file
    }

    /// The file and its status, if only this user can access it.
    func open(_ name: PartialName) throws(LocalError) -> (OpenFile, FileStatus)? {
        let directory = try directory
        func open() throws(LocalError) -> OpenFile? {
            do throws(LocalError) {
                let flags = SystemCalls.updatingFlags
                return try directory.file(fileName(name), name.text, flags: flags)
            } catch {
                switch error.errno {
                // A directory, a link, or a FIFO or device without a partner in the file's place.
                case ENOENT, EISDIR, ELOOP, ENXIO, ENODEV: return nil
                default: throw error
                }
            }
        }
        let found: OpenFile?
        do throws(LocalError) {
            found = try open()
        } catch {
            // It had the permissions of a read-only file already when it could not get its name.
            guard error.errno == EACCES, !areBeside else { throw error }
            try calls.setMode(at: directory.descriptor, fileName(name), 0o600)
            found = try open()
        }
        guard let file = found else { return nil }
        let status = try file.status()
        guard status.kind == .file, status.linkCount == 1, isOwn(status) else { return nil }
        return (file, status)
    }

    /// False for a temporary file that another user may have put there.
    private func isOwn(_ status: FileStatus) -> Bool {
        if status.owner == SystemCalls.effectiveUser { return true }
        // The administrator's had its owner already when it could not get its name.
        return SystemCalls.effectiveUser == 0 && !areBeside
    }

    /// Removes a temporary file; it need not exist.
    package func remove(_ name: String) throws(LocalError) {
        guard let name = PartialName(name) else { return }
        try calls.unlink(at: try directory.descriptor, fileName(name))
    }

    /// What a temporary file is called on disk.
    func fileName(_ name: PartialName) -> PathBytes {
        guard areBeside else { return name.bytes }
        return PathBytes((RelativePath.temporaryNamePrefix + name.text).utf8)
    }

    /// Where no mirror lock excludes other processes, each temporary file is locked while it is
    /// open.
    private func lock(_ file: OpenFile) throws(LocalError) {
        guard areBeside else { return }
        guard try calls.lockExclusively(file.descriptor) else {
            throw .lockHeld(by: "another transfer of the same file")
        }
    }

    /// Removes several of them.
    package func remove(_ names: [String]) throws(LocalError) {
        for name in names { try remove(name) }
    }

    /// All temporary files there are, in no order; none of single files, which others may own.
    package func names() throws(LocalError) -> [String] {
        var names: [String] = []
        guard !areBeside, work.refusal == nil else { return names }
        try unsafe calls.names(in: try directory.descriptor) { name, _ in
            // Our names are ASCII; a name with replaced bytes is not one of ours.
            let text = unsafe String(decoding: name, as: UTF8.self)
            if PartialName(text) != nil { names.append(text) }
        }
        return names
    }

    /// Removes the empty files that were to show whether the disk takes a name, left by a kill.
    package func removeTriedNames() throws(LocalError) {
        guard !areBeside, work.refusal == nil else { return }
        let directory = try directory
        var tried: [PathBytes] = []
        try unsafe calls.names(in: directory.descriptor) { name, type in
            let isOwn = unsafe PartialName(String(decoding: name, as: UTF8.self)) != nil
            if !isOwn, type != .directory { unsafe tried.append(PathBytes(name)) }
        }
        for name in tried {
            guard let status = try calls.status(at: directory.descriptor, name),
                status.kind == .file, status.identity.size == 0
            else { continue }
            try calls.unlink(at: directory.descriptor, name)
        }
    }

    /// Removes the temporary files of a single file but that of the name `kept`.
    ///
    /// - Returns: How many were removed.
    /// - Throws: `lockHeld` if a transfer writes one of them.
    @discardableResult
    package func remove(
        of series: PartialSeries,
        except kept: String?
    ) throws(LocalError) -> Int {
        var removed = 0
        for name in series.names where name.text != kept {
            guard let (file, _) = try open(name) else { continue }
            try lock(file)
            // Whoever had the lock may have removed it, and another one have taken the name.
            guard try file.status().linkCount == 1 else { continue }
            try remove(name.text)
            removed += 1
        }
        return removed
    }

    /// Makes `destination` hold the `size` bytes of `source`, sharing the blocks if the file system
    /// can, which gives nil; otherwise copying, which gives the CRC-64 of what was copied.
    ///
    /// - Throws: `sizeChanged` if `source` does not have exactly `size` bytes.
    package func copyContents(
        of source: OpenFile,
        intoPartial destination: OpenFile,
        size: Int64,
        unless interruption: Interruption? = nil
    ) throws(LocalError) -> CRC64? {
        let changed = LocalError.sizeChanged(path: source.name, expected: size)
        let before = try source.identity()
        guard before.size == size else { throw changed }
        let checksum: CRC64?
        do throws(LocalError) {
            if size > 0, try calls.clone(source.descriptor, into: destination.descriptor) {
                checksum = nil
            } else {
                checksum = try source.copyBytes(
                    into: destination,
                    size: size,
                    unless: interruption
                )
            }
            try calls.truncate(destination.descriptor, to: size)
        } catch {
            throw disk.explained(error, neededBytes: size)
        }
        guard try source.identity() == before else { throw changed }
        return checksum
    }

    /// Makes the link whose text a temporary file has, under a temporary name of its own, and
    /// removes the file.
    ///
    /// - Throws: `noLinkText` for what no link can have as its text.
    func makeLink(
        of file: OpenFile,
        _ name: PartialName,
        for publication: Publication
    ) throws(LocalError) -> (name: PartialName, status: FileStatus) {
        let text = try file.read(at: 0, length: RelativePath.maximumLinkLength + 1)
        guard !text.isEmpty, text.count <= RelativePath.maximumLinkLength, !text.contains(0) else {
            throw .noLinkText(publication.path)
        }
        // What a kill leaves of the two is swept as any temporary file.
        let directory = try directory.descriptor
        let linkName = newName()
        let bytes = fileName(linkName)
        try calls.makeLink(PathBytes(text), at: directory, bytes)
        try calls.setModified(at: directory, bytes, publication.modified)
        guard let status = try calls.status(at: directory, bytes) else {
            throw .unusablePartial(name: linkName.text)
        }
        try calls.unlink(at: directory, fileName(name))
        return (linkName, status)
    }

    /// Refuses to let one of a mirror become the first file of a state.
    func refuseIdentity(_ path: RelativePath, _ name: PartialName) throws(LocalError) {
        if !areBeside { try IdentityFile.refuse(path, directory, fileName(name)) }
    }

    /// The permissions that new files get from this process, found by making one: asking for the
    /// umask would mean to change it for a moment, for every thread.
    ///
    /// Where nothing may be made, nothing gets them, and they are those of the process.
    func modes() throws(LocalError) -> NewFileModes {
        guard work.refusal == nil else {
            return NewFileModes(allowed: MirrorDirectory.ordinaryPermissions)
        }
        let directory = try directory
        return try opened.withLock { opened throws(LocalError) in
            if let modes = opened.modes { return modes }
            // A kill may leave it behind: under this name it is swept like any other.
            let (name, probe) = try makeProbe(in: directory)
            let status = Result { () throws(LocalError) in try probe.status() }
            try calls.unlink(at: directory.descriptor, name)
            let modes = NewFileModes(allowed: try status.get().permissions & 0o777)
            opened.modes = modes
            return modes
        }
    }

    private func makeProbe(
        in directory: OpenDirectory
    ) throws(LocalError) -> (PathBytes, OpenFile) {
        var names = series?.names ?? [newName()]
        while true {
            let name = fileName(names.removeLast())
            do throws(LocalError) {
                let flags = SystemCalls.creationFlags
                return (name, try directory.file(name, name.display, flags: flags, mode: 0o777))
            } catch {
                // Of a single file, the names are known beforehand.
                guard error.errno == EEXIST, !names.isEmpty else { throw error }
            }
        }
    }
}
