internal import CLibrary
internal import CSystem
internal import SyncModel

/// Every system call of this target: repeated after EINTR, its error number kept, failing on demand
/// in tests.
///
/// A name that is absent is an ordinary answer and comes back as nil or false where a caller has a
/// use for it.
package struct SystemCalls: Sendable {
    /// False takes the path that kernels without openat2 take.
    let usesOpenat2: Bool
    let faults: SystemCallFaults?
    /// What the file system was found not to do.
    var refusals = DiskRefusals()
    /// True where files show fractions of seconds that are gone later.
    var dropsFractions = false
    /// Where Linux provides the ID of the current boot.
    package var bootIDPath = "/proc/sys/kernel/random/boot_id"
    /// The clock and the processes of the machine, as leases ask for them; a simulation has several
    /// machines.
    package var leaseHost = LeaseHost.system

    package init(usesOpenat2: Bool, faults: SystemCallFaults?) {
        self.usesOpenat2 = usesOpenat2
        self.faults = faults
    }

    /// As the program runs.
    package static let standard = SystemCalls(usesOpenat2: true, faults: nil)

    /// The answer of `body`, which is negative after an error, and the error number then.
    func attempt<Value: SignedInteger>(
        _ call: StaticString,
        _ body: () -> Value
    ) -> (value: Value, errno: Int32) {
        while true {
            var code = faults?.errno(for: call) ?? 0
            if code == 0 {
                let value = body()
                if value >= 0 { return (value, 0) }
                code = errno
            }
            if code != EINTR { return (-1, code) }
        }
    }

    @discardableResult
    func check<Value: SignedInteger>(
        _ call: StaticString,
        _ path: PathBytes? = nil,
        _ body: () -> Value
    ) throws(LocalError) -> Value {
        let (value, code) = attempt(call, body)
        guard code == 0 else { throw failure(call, code, path) }
        return value
    }

    func failure(_ call: StaticString, _ errno: Int32, _ path: PathBytes?) -> LocalError {
        .systemCall(SystemCallError(call: call.description, errno: errno, path: path?.display))
    }
}

// MARK: - Names

extension SystemCalls {
    /// The meaning of `directory` for paths of the user: relative to the working directory.
    static var workingDirectory: Int32 { AT_FDCWD }

    static let directoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    /// For paths that the user gave, which may lead over links of the user's own.
    static let followingDirectoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    static let creationFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    static let lockFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    /// A FIFO or device that took a file's place does not block the open.
    static let updatingFlags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    static let readingFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC

    func open(
        at directory: Int32,
        _ path: PathBytes,
        flags: Int32,
        mode: UInt32
    ) throws(LocalError) -> Int32 {
        try check("openat", path) {
            unsafe path.withPointer { unsafe osssync_openat(directory, $0, flags, mode) }
        }
    }

    /// Opens beneath `directory` in one call, no component being a link; nil if this kernel (or the
    /// sandbox around us) has no such call.
    func openBeneath(
        _ directory: Int32,
        _ path: PathBytes,
        flags: Int32
    ) throws(LocalError) -> Int32? {
        guard usesOpenat2 else { return nil }
        let (value, code) = attempt("openat2") {
            unsafe path.withPointer {
                unsafe osssync_openat2_beneath(directory, $0, UInt64(flags), 0)
            }
        }
        switch code {
        case 0: return value
        case ENOSYS, EPERM, EAGAIN, ENAMETOOLONG: return nil
        default: throw failure("openat2", code, path)
        }
    }

    /// Nil if there is no such name; links are not followed.
    func status(at directory: Int32, _ name: PathBytes) throws(LocalError) -> FileStatus? {
        var raw = osssync_status()
        let (_, code) = attempt("fstatat") {
            unsafe name.withPointer {
                unsafe osssync_status_at(directory, $0, AT_SYMLINK_NOFOLLOW, &raw)
            }
        }
        if code == ENOENT { return nil }
        guard code == 0 else { throw failure("fstatat", code, name) }
        return FileStatus(raw, dropsFractions: dropsFractions)
    }

    /// Of a path that is no part of a mirror; nil if it cannot be looked at.
    func statusFollowingLinks(_ path: PathBytes) -> FileStatus? {
        var raw = osssync_status()
        let (_, code) = attempt("fstatat") {
            unsafe path.withPointer {
                unsafe osssync_status_at(Self.workingDirectory, $0, 0, &raw)
            }
        }
        return code == 0 ? FileStatus(raw, dropsFractions: dropsFractions) : nil
    }

    func status(of descriptor: Int32) throws(LocalError) -> FileStatus {
        var raw = osssync_status()
        try check("fstat") { unsafe osssync_status_at(descriptor, "", 0, &raw) }
        return FileStatus(raw, dropsFractions: dropsFractions)
    }

    /// Nil if the file system does not provide it.
    func birth(of descriptor: Int32) -> Timestamp? { birth(at: descriptor, PathBytes("")) }

    /// The same of a name in a directory; links are not followed.
    func birth(at directory: Int32, _ name: PathBytes) -> Timestamp? {
        var seconds: Int64 = 0
        var nanoseconds: Int64 = 0
        unsafe name.withPointer {
            unsafe osssync_birth_time(directory, $0, &seconds, &nanoseconds)
        }
        guard seconds != 0 || nanoseconds != 0 else { return nil }
        return Timestamp(seconds, nanoseconds)
    }

    /// The identifier of the file system that holds it; nil where that has none.
    func fileSystem(of descriptor: Int32) -> UInt64? {
        var raw = statvfs()
        guard unsafe fstatvfs(descriptor, &raw) == 0, raw.f_fsid != 0 else { return nil }
        return UInt64(raw.f_fsid)
    }

    /// False if the name is taken.
    func makeDirectory(
        at directory: Int32,
        _ name: PathBytes,
        mode: UInt32
    ) throws(LocalError) -> Bool {
        let (_, code) = attempt("mkdirat") {
            unsafe name.withPointer { unsafe mkdirat(directory, $0, mode_t(mode)) }
        }
        if code == EEXIST { return false }
        guard code == 0 else { throw failure("mkdirat", code, name) }
        return true
    }

    /// Replaces what is at the new name.
    func rename(
        from directory: Int32,
        _ name: PathBytes,
        to newDirectory: Int32,
        _ newName: PathBytes
    ) throws(LocalError) {
        try check("renameat", newName) {
            unsafe name.withPointer { name in
                unsafe newName.withPointer { newName in
                    unsafe renameat(directory, name, newDirectory, newName)
                }
            }
        }
    }

    /// False if the new name is taken.
    ///
    /// File systems without the exclusive form, such as NFS, get a second name, which is never one
    /// that is there, and lose the first; those without second names a look and a plain rename.
    func renameExclusively(
        from directory: Int32,
        _ name: PathBytes,
        to newDirectory: Int32,
        _ newName: PathBytes
    ) throws(LocalError) -> Bool {
        let (_, code) = attempt("renameat2") {
            unsafe name.withPointer { name in
                unsafe newName.withPointer { newName in
                    unsafe osssync_renameat_exclusive(directory, name, newDirectory, newName)
                }
            }
        }
        switch code {
        case 0: return true
        case EEXIST: return false
        case EINVAL, ENOSYS, ENOTSUP:
            if let isMoved = try moveByLink(from: directory, name, to: newDirectory, newName) {
                return isMoved
            }
            guard try status(at: newDirectory, newName) == nil else { return false }
            try rename(from: directory, name, to: newDirectory, newName)
            return true
        default: throw failure("renameat2", code, newName)
        }
    }

    /// False if the new name is taken; nil if there can be no second name.
    private func moveByLink(
        from directory: Int32,
        _ name: PathBytes,
        to newDirectory: Int32,
        _ newName: PathBytes
    ) throws(LocalError) -> Bool? {
        do throws(LocalError) {
            try link(from: directory, name, to: newDirectory, newName)
        } catch {
            return error.errno == EEXIST ? false : nil
        }
        do throws(LocalError) {
            try unlink(at: directory, name)
            return true
        } catch {
            // Two names of one file must not stay.
            _ = try? unlink(at: newDirectory, newName)
            throw error
        }
    }

    /// Gives each of two names what the other had, in one step; false if this file system cannot.
    func exchange(
        _ directory: Int32,
        _ name: PathBytes,
        _ otherDirectory: Int32,
        _ otherName: PathBytes
    ) throws(LocalError) -> Bool {
        let (_, code) = attempt("renameat2") {
            unsafe name.withPointer { name in
                unsafe otherName.withPointer { otherName in
                    unsafe osssync_renameat_exchange(directory, name, otherDirectory, otherName)
                }
            }
        }
        switch code {
        case 0: return true
        case EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP: return false
        default: throw failure("renameat2", code, otherName)
        }
    }

    /// Makes a symbolic link with the text `target`; fails if the name is taken.
    func makeLink(_ target: PathBytes, at directory: Int32, _ name: PathBytes) throws(LocalError) {
        try check("symlinkat", name) {
            unsafe target.withPointer { target in
                unsafe name.withPointer { unsafe symlinkat(target, directory, $0) }
            }
        }
    }

    /// Opens a symbolic link itself.
    func openLink(at directory: Int32, _ name: PathBytes) throws(LocalError) -> Int32 {
        try check("openat", name) {
            unsafe name.withPointer { unsafe osssync_open_link(directory, $0) }
        }
    }

    /// A second name for a file (of a link: for the link itself).
    func link(
        from directory: Int32,
        _ name: PathBytes,
        to newDirectory: Int32,
        _ newName: PathBytes
    ) throws(LocalError) {
        try check("linkat", newName) {
            unsafe name.withPointer { name in
                unsafe newName.withPointer { newName in
                    unsafe linkat(directory, name, newDirectory, newName, 0)
                }
            }
        }
    }

    /// False if there is no such name.
    @discardableResult
    func unlink(at directory: Int32, _ name: PathBytes) throws(LocalError) -> Bool {
        let (_, code) = attempt("unlinkat") {
            unsafe name.withPointer { unsafe unlinkat(directory, $0, 0) }
        }
        if code == ENOENT { return false }
        guard code == 0 else { throw failure("unlinkat", code, name) }
        return true
    }

    /// False if it is absent, not empty, not a directory, or a mount point: all reasons to leave
    /// it.
    func removeEmptyDirectory(
        at directory: Int32,
        _ name: PathBytes
    ) throws(LocalError) -> Bool {
        let (_, code) = attempt("unlinkat") {
            unsafe name.withPointer { unsafe unlinkat(directory, $0, AT_REMOVEDIR) }
        }
        switch code {
        case 0: return true
        case ENOENT, ENOTEMPTY, EEXIST, ENOTDIR, EBUSY: return false
        default: throw failure("unlinkat", code, name)
        }
    }
}
