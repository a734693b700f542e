internal import CLibrary
internal import CSystem
internal import SyncModel

// The calls on an open descriptor, and those that ask for facts of the machine.
extension SystemCalls {
    static func close(_ descriptor: Int32) {
        // After EINTR the descriptor is gone on Linux; closing again could hit another file.
        _ = CLibrary.close(descriptor)
    }

    /// Fills `buffer` from `offset`; less only at the end of the file.
    func read(
        _ descriptor: Int32,
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(LocalError) -> Int {
        var done = 0
        while done < buffer.count {
            let wanted = faults?.length(buffer.count - done) ?? buffer.count - done
            let count = try check("pread") {
                unsafe pread(
                    descriptor,
                    buffer.baseAddress.map { unsafe $0 + done },
                    wanted,
                    off_t(offset) + off_t(done)
                )
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    func write(
        _ descriptor: Int32,
        _ buffer: UnsafeRawBufferPointer,
        at offset: Int64
    ) throws(LocalError) {
        var done = 0
        while done < buffer.count {
            let wanted = faults?.length(buffer.count - done) ?? buffer.count - done
            let count = try check("pwrite") {
                unsafe pwrite(
                    descriptor,
                    buffer.baseAddress.map { unsafe $0 + done },
                    wanted,
                    off_t(offset) + off_t(done)
                )
            }
            guard count > 0 else { throw failure("pwrite", EIO, nil) }
            done += count
        }
    }

    /// Random numbers for the price of one call: at most 32, which is all that it gives at once.
    static func randomNumbers(_ count: Int) -> [UInt64] {
        var numbers = [UInt64](repeating: 0, count: count)
        let code = unsafe numbers.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return Int32(-1) }
            return unsafe getentropy(base, bytes.count)
        }
        if code == 0 { return numbers }
        var generator = SystemRandomNumberGenerator()
        return numbers.map { _ in generator.next() }
    }

    func truncate(_ descriptor: Int32, to size: Int64) throws(LocalError) {
        try check("ftruncate") { ftruncate(descriptor, off_t(size)) }
    }

    func preallocate(_ descriptor: Int32, size: Int64) throws(LocalError) {
        try check("fallocate") { osssync_preallocate(descriptor, size) }
    }

    func setMode(_ descriptor: Int32, _ mode: UInt32) throws(LocalError) {
        try check("fchmod") { fchmod(descriptor, mode_t(mode)) }
    }

    /// The same of a file of the user's, which has what the file system gives if it has no others.
    func setModeIfPossible(_ descriptor: Int32, _ mode: UInt32) throws(LocalError) {
        try unlessRefused(.permissions) { () throws(LocalError) in
            try setMode(descriptor, mode)
        }
    }

    /// Does without what a file system does not have, or does not let this user do.
    private func unlessRefused(
        _ refusal: DiskRefusal,
        _ body: () throws(LocalError) -> Void
    ) throws(LocalError) {
        do throws(LocalError) {
            try body()
        } catch {
            guard error.isRefusedAttribute else { throw error }
            refusals.note(refusal)
        }
    }

    /// Follows links: only for a directory in which no other user can make one.
    func setMode(at directory: Int32, _ name: PathBytes, _ mode: UInt32) throws(LocalError) {
        try check("fchmodat", name) {
            unsafe name.withPointer { unsafe fchmodat(directory, $0, mode_t(mode), 0) }
        }
    }

    /// The time of last access becomes now; where times cannot be set, the file keeps its own.
    func setModified(_ descriptor: Int32, _ time: Timestamp) throws(LocalError) {
        try unlessRefused(.times) { () throws(LocalError) in
            _ = try check("futimens") {
                osssync_set_modified(descriptor, time.seconds, fraction(of: time))
            }
        }
    }

    private func fraction(of time: Timestamp) -> Int64 {
        dropsFractions ? 0 : Int64(time.nanoseconds)
    }

    /// The same of a name; of a link, its own time.
    func setModified(
        at directory: Int32,
        _ name: PathBytes,
        _ time: Timestamp
    ) throws(LocalError) {
        try unlessRefused(.times) { () throws(LocalError) in
            _ = try check("utimensat", name) {
                unsafe name.withPointer {
                    unsafe osssync_set_modified_at(
                        directory,
                        $0,
                        time.seconds,
                        fraction(of: time)
                    )
                }
            }
        }
    }

    /// The text of a symbolic link that is open itself.
    func readLink(_ descriptor: Int32) throws(LocalError) -> [UInt8] {
        // One byte more than any link has, so that a longer one would show.
        var text = [UInt8](repeating: 0, count: RelativePath.maximumLinkLength + 1)
        let count = unsafe text.withUnsafeMutableBytes { bytes in
            Result { () throws(LocalError) in
                try check("readlinkat") {
                    unsafe osssync_read_link(
                        descriptor,
                        bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                        bytes.count
                    )
                }
            }
        }
        return [UInt8](text[..<(try count.get())])
    }

    /// Where directories cannot be synchronized, their whole file system is, if that can be.
    func synchronize(_ descriptor: Int32) throws(LocalError) {
        do throws(LocalError) {
            try check("fsync") { fsync(descriptor) }
        } catch {
            guard [EINVAL, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(error.errno),
                try status(of: descriptor).kind == .directory
            else { throw error }
            refusals.note(.directorySynchronization)
            try synchronizeFileSystem(descriptor)
        }
    }

    /// Why this user may not create files in the directory; nil if they may.
    func writingRefusal(_ directory: Int32, _ path: String) -> LocalError? {
        let (_, code) = attempt("faccessat") { unsafe faccessat(directory, ".", W_OK, 0) }
        let error = SystemCallError(call: "faccessat", errno: code, path: path)
        return error.isWriteRefused ? .systemCall(error) : nil
    }

    /// Writes out the whole file system that holds `descriptor`.
    func synchronizeFileSystem(_ descriptor: Int32) throws(LocalError) {
        do throws(LocalError) {
            try check("syncfs") { osssync_sync_file_system(descriptor) }
        } catch {
            // Some sandboxes refuse it.
            guard error.isRefusedAttribute else { throw error }
            try check("sync") {
                sync()
                return 0
            }
        }
    }

    /// False if the file system cannot share blocks between these two files.
    func clone(_ source: Int32, into destination: Int32) throws(LocalError) -> Bool {
        let (_, code) = attempt("ioctl") { osssync_clone_file(destination, source) }
        switch code {
        case 0: return true
        case EOPNOTSUPP, ENOTSUP, ENOSYS, ENOTTY, EXDEV, EINVAL, EPERM, ETXTBSY: return false
        default: throw failure("ioctl", code, nil)
        }
    }

    /// False if someone else has the lock.
    func lockExclusively(_ descriptor: Int32) throws(LocalError) -> Bool {
        let (_, code) = attempt("flock") { flock(descriptor, LOCK_EX | LOCK_NB) }
        if code == EWOULDBLOCK { return false }
        guard code == 0 else { throw failure("flock", code, nil) }
        return true
    }

    /// False if another process holds an exclusive lock.
    func lockShared(_ descriptor: Int32) throws(LocalError) -> Bool {
        let (_, code) = attempt("flock") { flock(descriptor, LOCK_SH | LOCK_NB) }
        if code == EWOULDBLOCK { return false }
        guard code == 0 else { throw failure("flock", code, nil) }
        return true
    }

    /// False if the file system has no locks of ranges, such as SQLite takes.
    func hasRecordLocks(_ descriptor: Int32) -> Bool {
        func set(_ type: Int32) -> Int32 {
            attempt("fcntl") { osssync_lock_range(descriptor, type) }.errno
        }
        guard ![ENOSYS, EOPNOTSUPP, ENOLCK].contains(set(Int32(F_RDLCK))) else { return false }
        _ = set(Int32(F_UNLCK))
        return true
    }

    /// True if another process holds an exclusive lock; for an instant, it is shared.
    func isLocked(_ descriptor: Int32) throws(LocalError) -> Bool {
        defer { Self.unlock(descriptor) }
        return try !lockShared(descriptor)
    }

    static func unlock(_ descriptor: Int32) {
        _ = flock(descriptor, LOCK_UN)
    }

    /// What a file system has left for us.
    struct FreeSpace {
        let bytes: Int64
        /// What could be had at most, as by root of the blocks that are kept for it; nil where the
        /// file system does not count.
        let mostBytes: Int64?
        /// Nil where the file system does not count them.
        let inodes: Int64?
        let blockSize: Int64

        /// Bytes that this user may still write.
        var ownBytes: Int64 { SystemCalls.effectiveUser == 0 ? mostBytes ?? bytes : bytes }

        init(_ raw: statvfs) {
            func bytes(_ blocks: UInt64) -> Int64 {
                let (bytes, overflow) = blocks.multipliedReportingOverflow(by: UInt64(raw.f_frsize))
                return overflow ? Int64.max : Int64(clamping: bytes)
            }
            let (all, free) = (UInt64(raw.f_bavail), UInt64(raw.f_bfree))
            // Beside those of root, ext4 keeps blocks that no file gets: at most 4,096, or a 50th
            // of the disk, which has up to a fifth more than is counted here, its own tables.
            let kept = free > all ? min(UInt64(raw.f_blocks) / 40, 4_096) : 0
            self.bytes = bytes(all)
            blockSize = Int64(clamping: UInt64(raw.f_frsize))
            mostBytes = raw.f_blocks == 0 ? nil : bytes(max(all, free - min(kept, free)))
            inodes = raw.f_files == 0 ? nil : Int64(clamping: UInt64(raw.f_favail))
        }
    }

    func freeSpace(_ descriptor: Int32) throws(LocalError) -> FreeSpace {
        var raw = statvfs()
        try check("fstatvfs") { unsafe fstatvfs(descriptor, &raw) }
        return FreeSpace(raw)
    }

    func isNetworkFileSystem(_ descriptor: Int32) throws(LocalError) -> Bool {
        try check("fstatfs") { osssync_is_network_file_system(descriptor) } == 1
    }

    /// The name of a file system that shows the kernel, and holds no files; nil for any other.
    func pseudoFileSystem(_ descriptor: Int32) -> String? {
        unsafe osssync_pseudo_file_system(descriptor).map { unsafe String(cString: $0) }
    }

    /// False if the file system is known to give files other inode numbers from time to time.
    func keepsInodeNumbers(_ descriptor: Int32) throws(LocalError) -> Bool {
        try check("fstatfs") { osssync_keeps_inode_numbers(descriptor) } == 1
    }

    /// False if the file system gives a file another time of birth when it is changed.
    func keepsBirthTimes(_ descriptor: Int32) throws(LocalError) -> Bool {
        try check("fstatfs") { osssync_keeps_birth_times(descriptor) } == 1
    }

    /// True if the identifier of the file system is one of the disk, not of the mount or device.
    func keepsFileSystemIdentifier(_ descriptor: Int32) throws(LocalError) -> Bool {
        try check("fstatfs") { osssync_keeps_file_system_identifier(descriptor) } == 1
    }

    /// True if the file system forgets the fractions of times, sooner or later.
    func keepsWholeSeconds(_ descriptor: Int32) throws(LocalError) -> Bool {
        try check("fstatfs") { osssync_keeps_whole_seconds(descriptor) } == 1
    }

    /// The names in a directory but "." and "..", in no order.
    func names(
        in directory: Int32,
        _ body: (_ name: UnsafeBufferPointer<UInt8>, _ type: EntryType) -> Void
    ) throws(LocalError) {
        try unsafe readNames(in: directory) { name, type in
            unsafe body(name, type)
            return true
        }
    }

    /// The same for as long as `isMore` says so of each.
    func readNames(
        in directory: Int32,
        while isMore: (_ name: UnsafeBufferPointer<UInt8>, _ type: EntryType) -> Bool
    ) throws(LocalError) {
        // A descriptor of its own: the stream closes it and moves its position.
        let descriptor = try open(
            at: directory,
            PathBytes("."),
            flags: Self.directoryFlags,
            mode: 0
        )
        guard let stream = unsafe fdopendir(descriptor) else {
            let code = errno
            Self.close(descriptor)
            throw failure("fdopendir", code, nil)
        }
        defer { unsafe closedir(stream) }
        while true {
            if let code = faults?.errno(for: "readdir"), code != EINTR {
                throw failure("readdir", code, nil)
            }
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                let code = errno
                guard code == 0 else { throw failure("readdir", code, nil) }
                return
            }
            let type = unsafe EntryType(entry.pointee.d_type)
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else {
                preconditionFailure("d_name is a stored field")
            }
            let name = unsafe (UnsafeRawPointer(entry) + offset).assumingMemoryBound(
                to: UInt8.self
            )
            let length = unsafe strlen(
                UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self)
            )
            let isDot = unsafe name[0] == UInt8(ascii: ".")
            if isDot, length == 1 { continue }
            if isDot, length == 2, unsafe name[1] == UInt8(ascii: ".") { continue }
            guard unsafe isMore(UnsafeBufferPointer(start: name, count: length), type) else {
                return
            }
        }
    }

    /// What a directory says of an entry without a look at it.
    enum EntryType: Sendable, Hashable {
        case directory
        case link
        case file
        /// A device, FIFO or socket.
        case special
        /// The file system does not say.
        case unknown

        init(_ raw: UInt8) {
            switch Int(raw) {
            case Int(DT_DIR): self = .directory
            case Int(DT_LNK): self = .link
            case Int(DT_REG): self = .file
            case Int(DT_UNKNOWN): self = .unknown
            default: self = .special
            }
        }
    }

    /// Does not change while the program runs.
    static let effectiveUser: UInt32 = geteuid()
}

/// The system's sentence for an error number.
func errorText(_ code: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    unsafe buffer.withUnsafeMutableBufferPointer { buffer in
        unsafe osssync_error_text(code, buffer.baseAddress, buffer.count)
    }
    return displayText(buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
}
