package import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

// Temporary files: in a directory of ours, under names that nobody can guess, and opened again only
// if they are still what we made.
extension MirrorDirectory {
    /// Makes a temporary file of `size` bytes whose blocks are reserved.
    ///
    /// - Throws: `diskFull` if they cannot be reserved; no file is left then.
    package func createPartial(
        size: Int64
    ) throws(LocalError) -> (name: String, file: OpenFile) {
        let directory = try partials
        let name = PartialName.random()
        do throws(LocalError) {
            let descriptor = try calls.open(
                at: directory.descriptor,
                fileName(name),
                flags: SystemCalls.creationFlags,
                mode: 0o600
            )
            let file = OpenFile(adopting: descriptor, name: name.text, calls: calls)
            do throws(LocalError) {
                try lock(file)
                try calls.preallocate(descriptor, size: size)
            } catch {
                // The first failure is the one to report; what is left is swept as an orphan.
                _ = try? calls.unlink(at: directory.descriptor, fileName(name))
                throw error
            }
            return (name.text, file)
        } catch {
            throw explained(error, neededBytes: size)
        }
    }

    /// Opens a temporary file of an earlier moment for reading and writing.
    ///
    /// Nil if it is gone or cannot be trusted, which comes to the same: it is a link, has a second
    /// name, belongs to someone else, is no regular file, or has another size than
    /// `expectedSize`. Its content is judged by checksums, not here.
    package func openPartial(
        _ name: String,
        expectedSize: Int64?
    ) throws(LocalError) -> OpenFile? {
        guard let name = PartialName(name) else { return nil }
        guard let (file, status) = try open(name) else { return nil }
        try lock(file)
        if let expectedSize, status.identity.size != expectedSize { return nil }
        return file
    }

    /// The file and its status, if it is still ours alone.
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
        guard status.kind == .file, status.linkCount == 1,
            status.owner == SystemCalls.effectiveUser
        else { return nil }
        return (file, status)
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

    /// Where no lock of a mirror keeps others away, each temporary file has one of its own, for as
    /// long as it is open.
    private func lock(_ file: OpenFile) throws(LocalError) {
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
            // Every name of ours is ASCII; a mended one is not a name of ours.
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
