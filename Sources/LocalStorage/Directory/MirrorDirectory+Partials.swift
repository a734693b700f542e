package import SyncModel
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

// Temporary files: in our own directory, under unguessable names, and reopened only if they are
// still the files that we created.
extension MirrorDirectory {
    /// So much is left free, in bytes, for the manifest.
    static let leastRoom: Int64 = 256 << 10
    /// Small files leave this many inodes free for the marker and the trash.
    static let leastInodes: Int64 = 8

    /// Opens the directory of temporary files, which is done once.
    ///
    /// - Throws: `unsafeDirectory` if others can access it, or why it cannot be made.
    package func requirePartials() throws(LocalError) { _ = try partials }

    /// Makes a temporary file of `size` bytes whose blocks are reserved.
    ///
    /// Of a single file it never has the name `old`, and what killed processes left of the file is
    /// removed.
    ///
    /// - Throws: `diskFull` if they cannot be reserved; no file is left then. `lockHeld` if another
    ///   transfer writes the same single file.
    package func createPartial(
        size: Int64,
        after old: String? = nil
    ) throws(LocalError) -> (name: String, file: OpenFile) {
        let directory = try partials
        if let partialSeries {
            try removePartials(of: partialSeries, except: nil)
            return try createPartial(size, in: directory, partialSeries.names(after: old))
        }
        do throws(LocalError) {
            guard size <= Self.leastRoom else {
                return try alone { () throws(LocalError) in try reserve(size, in: directory) }
            }
            return try againIfFull { () throws(LocalError) in try reserve(size, in: directory) }
        } catch {
            throw explained(error, neededBytes: size)
        }
    }

    private func reserve(
        _ size: Int64,
        in directory: OpenDirectory
    ) throws(LocalError) -> (name: String, file: OpenFile) {
        try newPartial(in: directory, mode: 0o600) { (name, file) throws(LocalError) in
            try reserve(size, of: file.descriptor)
            return (name.text, file)
        }
    }

    /// Makes a temporary file that `complete` makes what it is to be; no file is left if it fails.
    private func newPartial<Value>(
        in directory: OpenDirectory,
        mode: UInt32,
        complete: (PartialName, OpenFile) throws(LocalError) -> Value
    ) throws(LocalError) -> Value {
        try newPartial(newNames.next(), in: directory, mode: mode, complete: complete)
    }

    func newPartial<Value>(
        _ name: PartialName,
        in directory: OpenDirectory,
        mode: UInt32,
        complete: (PartialName, OpenFile) throws(LocalError) -> Value
    ) throws(LocalError) -> Value {
        let descriptor = try calls.open(
            at: directory.descriptor,
            fileName(name),
            flags: SystemCalls.creationFlags,
            mode: mode
        )
        let file = OpenFile(adopting: descriptor, name: name.text, calls: calls)
        do throws(LocalError) {
            try lock(file)
            return try complete(name, file)
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
    package func createPartial(
        holding content: RawSpan,
        modified: Timestamp,
        keepsOpen: Bool
    ) throws(LocalError) -> (ready: ReadyPartial, file: OpenFile?) {
        let directory = try partials
        do throws(LocalError) {
            let mode = try newFileModes().ordinary
            return try againIfFull { () throws(LocalError) in
                try newPartial(in: directory, mode: mode) { (name, file) throws(LocalError) in
                    try requireInodes(file.descriptor)
                    try file.write(content)
                    try calls.setModified(file.descriptor, modified)
                    let status = try file.status()
                    let ready = ReadyPartial(name: name, modified: modified, status: status)
                    return (ready, keepsOpen ? file : nil)
                }
            }
        } catch {
            throw explained(error, neededBytes: Int64(content.byteCount))
        }
    }

    /// True if so few inodes are free that no more small files are made.
    func lacksInodes(_ free: Int64?) -> Bool { free.map { $0 < Self.leastInodes } ?? false }

    /// Asks how many inodes are free, but not for each of many small files: once more after a 64th
    /// of those that were.
    private func requireInodes(_ descriptor: Int32) throws(LocalError) {
        let left = uncheckedFiles.subtract(1, ordering: .relaxed).newValue
        guard left < 0 else { return }
        let free = try calls.freeSpace(descriptor).inodes
        if lacksInodes(free) {
            throw .systemCall(SystemCallError(call: "openat", errno: ENOSPC, path: nil))
        }
        uncheckedFiles.store(min(256, (free ?? .max) / 64), ordering: .relaxed)
    }

    /// Reserves blocks while no other file does.
    ///
    /// A file that doesn't fit has all the room there is for a moment, until its reservation fails.
    private func alone<Value: Sendable>(
        _ body: () throws(LocalError) -> Value
    ) throws(LocalError) -> Value {
        try reservations.withLock { _ throws(LocalError) in try body() }
    }

    /// Makes a small file, and tries once more where a large one may have had the room.
    private func againIfFull<Value: Sendable>(
        _ body: () throws(LocalError) -> Value
    ) throws(LocalError) -> Value {
        do throws(LocalError) {
            return try body()
        } catch {
            guard error.isOutOfRoom else { throw error }
            return try alone(body)
        }
    }

    func reserve(_ size: Int64, of descriptor: Int32) throws(LocalError) {
        guard size > Self.leastRoom else {
            return try calls.preallocate(descriptor, size: size)
        }
        let free = try? calls.freeSpace(descriptor)
        // Tried all the same, it would have all the room for a moment, and the manifest none.
        if let most = free?.mostBytes, most < size { throw Self.noRoom }
        // Not every file system counts what is free.
        let isCounted = free.map { $0.bytes >= size } == true
        try calls.preallocate(descriptor, size: size)
        // Afterwards, because others reserve theirs at the same time.
        if isCounted, try calls.freeSpace(descriptor).bytes < Self.leastRoom {
            throw Self.noRoom
        }
    }

    static var noRoom: LocalError {
        .systemCall(SystemCallError(call: "fallocate", errno: ENOSPC, path: nil))
    }

    /// Opens a temporary file of an earlier moment for reading and writing.
    ///
    /// Nil if it is gone or cannot be trusted: it is a link, has a second name, belongs to someone
    /// else, is no regular file, or has another size than `expectedSize`. Its content is verified
    /// by checksums, not here.
    package func openPartial(
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
        let directory = try partials
        func descriptor() throws(LocalError) -> Int32? {
            do throws(LocalError) {
                return try calls.open(
                    at: directory.descriptor,
                    fileName(name),
                    flags: SystemCalls.updatingFlags,
                    mode: 0
                )
            } catch {
                switch error.errno {
                // A directory, a link, or a FIFO or device without a partner in the file's place.
                case ENOENT, EISDIR, ELOOP, ENXIO, ENODEV: return nil
                default: throw error
                }
            }
        }
        let found: Int32?
        do throws(LocalError) {
            found = try descriptor()
        } catch {
            // It had the permissions of a read-only file already when it could not get its name.
            guard error.errno == EACCES, !keepsPartialsBeside else { throw error }
            try calls.setMode(at: directory.descriptor, fileName(name), 0o600)
            found = try descriptor()
        }
        guard let descriptor = found else { return nil }
        let file = OpenFile(adopting: descriptor, name: name.text, calls: calls)
        let status = try file.status()
        guard status.kind == .file, status.linkCount == 1, isOwn(status) else { return nil }
        return (file, status)
    }

    /// False for a temporary file that another user may have put there.
    private func isOwn(_ status: FileStatus) -> Bool {
        if status.owner == SystemCalls.effectiveUser { return true }
        // The administrator's had its owner already when it could not get its name.
        return SystemCalls.effectiveUser == 0 && !keepsPartialsBeside
    }

    /// Removes a temporary file; it need not exist.
    package func removePartial(_ name: String) throws(LocalError) {
        guard let name = PartialName(name) else { return }
        try calls.unlink(at: try partials.descriptor, fileName(name))
    }

    /// What a temporary file is called on disk.
    func fileName(_ name: PartialName) -> PathBytes {
        guard keepsPartialsBeside else { return name.bytes }
        return PathBytes((RelativePath.temporaryNamePrefix + name.text).utf8)
    }

    /// Where no mirror lock excludes other processes, each temporary file is locked while it is
    /// open.
    func lock(_ file: OpenFile) throws(LocalError) {
        guard keepsPartialsBeside else { return }
        guard try calls.lockExclusively(file.descriptor) else {
            throw .lockHeld(by: "another transfer of the same file")
        }
    }

    /// All temporary files there are, in no order; none of single files, which others may own.
    package func partialNames() throws(LocalError) -> [String] {
        var names: [String] = []
        guard !keepsPartialsBeside, hasWork else { return names }
        try unsafe calls.names(in: try partials.descriptor) { name, _ in
            // Our names are ASCII; a name with replaced bytes is not one of ours.
            let text = unsafe String(decoding: name, as: UTF8.self)
            if PartialName(text) != nil { names.append(text) }
        }
        return names
    }

    /// The CRC-64 of `range`, read back from the disk.
    ///
    /// - Throws: `sizeChanged` if the file ends before the range does, `interrupted` soon after
    ///   the interruption was raised.
    package func checksum(
        of file: OpenFile,
        range: ByteRange,
        unless interruption: Interruption? = nil
    ) throws(LocalError) -> CRC64 {
        try file.checksum(of: range, unless: interruption)
    }

    /// Hands the bytes of `range` to `body`, piece by piece.
    ///
    /// - Throws: `sizeChanged` if the file ends before the range does.
    package func read(
        _ file: OpenFile,
        _ range: ByteRange,
        unless interruption: Interruption?,
        _ body: (RawSpan) -> Void
    ) throws(LocalError) {
        try file.read(range, unless: interruption, body)
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
            throw explained(error, neededBytes: size)
        }
        guard try source.identity() == before else { throw changed }
        return checksum
    }
}
