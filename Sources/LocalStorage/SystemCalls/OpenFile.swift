internal import CLibrary
package import SyncModel

/// An open regular file, or a symbolic link itself with its text as the content; closed when the
/// last reference goes.
package final class OpenFile: Sendable {
    /// Valid as long as this object lives.
    package let descriptor: Int32
    /// What it is called in messages.
    package let name: String
    let calls: SystemCalls
    /// The text of a symbolic link, whose descriptor gives nothing but its status; nil for a file.
    package let linkText: [UInt8]?

    /// Takes over `descriptor`.
    init(adopting descriptor: Int32, name: String, calls: SystemCalls) {
        self.descriptor = descriptor
        self.name = name
        self.calls = calls
        linkText = nil
    }

    /// Opens the symbolic link `link` of `directory` itself and reads its text.
    ///
    /// - Throws: What opening throws; `absent` or `targetChanged` for anything but a link.
    init(
        link: PathBytes,
        in directory: OpenDirectory,
        _ path: RelativePath
    ) throws(LocalError) {
        calls = directory.calls
        name = path.display
        do throws(LocalError) {
            descriptor = try calls.openLink(at: directory.descriptor, link)
        } catch {
            throw error.errno == ENOENT ? .absent(path) : error
        }
        do throws(LocalError) {
            guard try calls.status(of: descriptor).kind == .special(.symbolicLink) else {
                throw .targetChanged(path)
            }
            linkText = try calls.readLink(descriptor)
        } catch {
            SystemCalls.close(descriptor)
            throw error
        }
    }

    deinit {
        SystemCalls.close(descriptor)
    }

    func status() throws(LocalError) -> FileStatus {
        try calls.status(of: descriptor)
    }

    /// What the file is now; compare two of these to see whether it was written in between.
    package func identity() throws(LocalError) -> FileIdentity {
        try status().identity
    }

    /// The same, and the bits for owner, group and others.
    package func identityAndPermissions() throws(LocalError) -> (FileIdentity, UInt32) {
        let status = try status()
        return (status.identity, status.permissions & 0o777)
    }

    /// What other machines are told in place of `permissions`, which the file has.
    package func sharedPermissions(_ permissions: UInt32) -> UInt32 {
        calls.sharedPermissions(permissions, of: descriptor)
    }

    /// Makes what was written so far survive a power cut.
    package func synchronize() throws(LocalError) {
        try calls.synchronize(descriptor)
    }

    /// Reads up to `length` bytes at `offset`; fewer only at the end of the file.
    package func read(at offset: Int64, length: Int) throws(LocalError) -> [UInt8] {
        var failure: LocalError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            do throws(LocalError) {
                count = unsafe try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all of `bytes` at `offset`.
    package func write(_ bytes: [UInt8], at offset: Int64) throws(LocalError) {
        let calls = calls
        let descriptor = descriptor
        let result = unsafe bytes.withUnsafeBytes { buffer in
            Result { () throws(LocalError) in
                try unsafe calls.write(descriptor, buffer, at: offset)
            }
        }
        try result.get()
    }

    /// Writes all of `content` at the beginning.
    func write(_ content: RawSpan) throws(LocalError) {
        let calls = calls
        let descriptor = descriptor
        let result = unsafe content.withUnsafeBytes { buffer in
            Result { () throws(LocalError) in
                try unsafe calls.write(descriptor, buffer, at: 0)
            }
        }
        try result.get()
    }

    /// Fills `buffer` from `offset` on; fewer bytes only at the end of the file.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(LocalError) -> Int {
        guard let linkText else {
            return try unsafe calls.read(descriptor, into: buffer, at: offset)
        }
        guard offset < Int64(linkText.count) else { return 0 }
        let rest = linkText[Int(offset)...].prefix(buffer.count)
        unsafe buffer.copyBytes(from: rest)
        return rest.count
    }
}

// MARK: - Whole contents

extension OpenFile {
    /// Large enough that the calls cost nothing, small enough that what was read is still in the
    /// processor's cache when it is used.
    private static let bufferSize: Int64 = 256 << 10

    /// The CRC-64 of what is in `range` on disk now.
    ///
    /// - Throws: `sizeChanged` if the file ends before the range does, `interrupted` soon after
    ///   the interruption was raised.
    package func checksum(
        of range: ByteRange,
        unless interruption: Interruption? = nil
    ) throws(LocalError) -> CRC64 {
        var checksum = CRC64()
        try unsafe readAll(of: range, unless: interruption) { bytes, _ in
            unsafe checksum.update(bytes)
        }
        return checksum
    }

    /// Hands the bytes of `range` to `body`, piece by piece.
    ///
    /// - Throws: `sizeChanged` if the file ends before the range does.
    package func read(
        _ range: ByteRange,
        unless interruption: Interruption?,
        _ body: (RawSpan) -> Void
    ) throws(LocalError) {
        try unsafe readAll(of: range, unless: interruption) { bytes, _ in
            unsafe body(bytes.bytes)
        }
    }

    /// Copies the first `size` bytes into `destination`, which hold the CRC-64 that comes back.
    func copyBytes(
        into destination: OpenFile,
        size: Int64,
        unless interruption: Interruption?
    ) throws(LocalError) -> CRC64 {
        var checksum = CRC64()
        try unsafe readAll(of: ByteRange(offset: 0, length: size), unless: interruption) {
            bytes,
            offset throws(LocalError) in
            unsafe checksum.update(bytes)
            try unsafe calls.write(destination.descriptor, bytes, at: offset)
        }
        return checksum
    }

    private func readAll(
        of range: ByteRange,
        unless interruption: Interruption?,
        _ body: (UnsafeRawBufferPointer, _ offset: Int64) throws(LocalError) -> Void
    ) throws(LocalError) {
        let capacity = Int(min(Self.bufferSize, max(range.length, 1)))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        var offset = range.offset
        while offset < range.end {
            guard interruption?.isRaised != true else { throw .interrupted }
            let wanted = Int(min(Int64(capacity), range.end - offset))
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            let count = try unsafe read(into: part, at: offset)
            guard count == wanted else {
                throw .sizeChanged(path: name, expected: range.end)
            }
            try unsafe body(UnsafeRawBufferPointer(part), offset)
            offset += Int64(count)
        }
    }
}
