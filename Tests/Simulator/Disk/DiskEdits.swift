internal import CSystem
internal import Glibc
internal import SyncModel

/// What other programs do to files; paths are bytes.
enum DiskEdits {
    static func withPath<Value>(
        _ path: [UInt8],
        _ body: (UnsafePointer<CChar>) -> Value
    ) -> Value {
        let characters = path.map { CChar(bitPattern: $0) } + [0]
        return unsafe characters.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("it has a NUL") }
            return unsafe body(base)
        }
    }

    static func read(_ path: [UInt8]) -> [UInt8]? {
        let descriptor = unsafe withPath(path) {
            unsafe open($0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        }
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        let size = Int(status.st_size)
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = unsafe max(0, pread(descriptor, buffer.baseAddress, size, 0))
        }
    }

    /// Makes or replaces a file in place, as an editor does that does not rename.
    @discardableResult
    static func write(_ path: [UInt8], _ bytes: [UInt8], truncates: Bool) -> Bool {
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | (truncates ? O_TRUNC : 0)
        let descriptor = unsafe withPath(path) { unsafe open($0, flags, 0o644) }
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let written = unsafe bytes.withUnsafeBytes {
            unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0)
        }
        return written == bytes.count && ftruncate(descriptor, off_t(bytes.count)) == 0
    }

    /// Makes a new file and renames it over the old one.
    static func replace(_ path: [UInt8], _ bytes: [UInt8]) -> Bool {
        let temporary =
            path.prefix(through: path.lastIndex(of: UInt8(ascii: "/")) ?? 0)
            + [UInt8](".swap".utf8)
        guard write([UInt8](temporary), bytes, truncates: true) else { return false }
        if rename([UInt8](temporary), path) { return true }
        remove([UInt8](temporary))
        return false
    }

    static func rename(_ old: [UInt8], _ new: [UInt8]) -> Bool {
        unsafe withPath(old) { old in
            unsafe withPath(new) { new in unsafe Glibc.rename(old, new) == 0 }
        }
    }

    /// Makes every directory above a path; false if something is in the way.
    static func makeParents(of path: [UInt8]) -> Bool {
        for index in path.indices.dropFirst() where path[index] == UInt8(ascii: "/") {
            let parent = [UInt8](path[..<index])
            let made = unsafe withPath(parent) { unsafe mkdir($0, 0o755) == 0 || errno == EEXIST }
            guard made else { return false }
        }
        return true
    }

    @discardableResult
    static func makeDirectory(_ path: [UInt8]) -> Bool {
        unsafe withPath(path) { unsafe mkdir($0, 0o755) == 0 }
    }

    /// Removes a file or a whole tree.
    static func remove(_ path: [UInt8]) {
        guard let status = DiskTree.status(path) else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            _ = unsafe withPath(path) { unsafe unlink($0) }
            return
        }
        for name in DiskTree.names(in: path) { remove(path + [UInt8(ascii: "/")] + name) }
        _ = unsafe withPath(path) { unsafe rmdir($0) }
    }

    static func setModified(_ path: [UInt8], _ time: Timestamp) {
        let instant = timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
        let times = [instant, instant]
        _ = unsafe withPath(path) { unsafe utimensat(AT_FDCWD, $0, times, AT_SYMLINK_NOFOLLOW) }
    }

    static func setMode(_ path: [UInt8], _ mode: UInt32) {
        _ = unsafe withPath(path) { unsafe chmod($0, mode_t(mode)) }
    }

    static func link(_ path: [UInt8], to target: String) {
        _ = unsafe withPath(path) { unsafe symlink(target, $0) }
    }

    static func makeFIFO(_ path: [UInt8]) {
        _ = unsafe withPath(path) { unsafe mkfifo($0, 0o644) }
    }
}

// MARK: - Durability

extension DiskEdits {
    /// Makes durable what is beneath a directory and its names: files and directories one by one.
    static func synchronize(_ directory: String) {
        synchronize([UInt8](directory.utf8), leavesOut: [UInt8](".osssync".utf8))
    }

    private static func synchronize(_ path: [UInt8], leavesOut: [UInt8]?) {
        guard let status = DiskTree.status(path) else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: synchronizeOne(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        case S_IFDIR:
            for name in DiskTree.names(in: path) where name != leavesOut {
                synchronize(path + [UInt8(ascii: "/")] + name, leavesOut: nil)
            }
            synchronizeOne(path, O_RDONLY | O_DIRECTORY)
        default: break
        }
    }

    private static func synchronizeOne(_ path: [UInt8], _ flags: Int32) {
        let descriptor = unsafe withPath(path) { unsafe open($0, flags) }
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// Makes everything on the disk durable.
    static func synchronizeAll(_ directory: String) {
        let descriptor = unsafe withPath([UInt8](directory.utf8)) {
            unsafe open($0, O_RDONLY | O_DIRECTORY)
        }
        guard descriptor >= 0 else { return }
        osssync_sync_file_system(descriptor)
        close(descriptor)
    }
}
