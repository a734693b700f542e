internal import CLibrary
internal import SyncModel

/// The names of the manifest's files in the state directory, and what is done to them whole.
package struct ManifestFiles: Sendable {
    enum Kind: Sendable, Hashable {
        case absent
        case regular(size: Int64)
        /// A directory, a link, a device: never ours.
        case other
    }

    package static let databaseName = "manifest.db"
    /// What SQLite keeps beside a database; a stranger's would be taken for part of ours.
    static let companionSuffixes = ["-wal", "-shm", "-journal"]
    static let asidePrefix = "manifest.corrupt-"
    /// How many damaged databases are kept, so that a failing disk does not fill itself with them.
    static let keptAsideCount = 4

    let directory: String
    /// False where the file system has no locks.
    var hasLocks = true

    var databasePath: String { path(Self.databaseName) }
    /// Where a new database is made before it gets its name: `manifest.db` is never half made.
    var newPath: String { path("manifest.new") }
    /// Says that the database was found damaged, or is being replaced for that.
    private var markerPath: String { path("manifest.damaged") }

    func path(_ name: String) -> String { directory + "/" + name }

    func kind(of path: String) throws(ManifestError) -> Kind {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw failure("lstat", path) }
            return .absent
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return .other }
        return .regular(size: Int64(status.st_size))
    }

    var isMarkedDamaged: Bool {
        get throws(ManifestError) { try kind(of: markerPath) != .absent }
    }

    func markDamaged() throws(ManifestError) {
        try create(markerPath, flags: O_CREAT | O_WRONLY)
    }

    func unmarkDamaged() throws(ManifestError) { try remove(markerPath) }

    /// The companions that are there, by their suffixes.
    func companions(of path: String) throws(ManifestError) -> [String] {
        var found: [String] = []
        for suffix in Self.companionSuffixes where try kind(of: path + suffix) != .absent {
            found.append(suffix)
        }
        return found
    }

    /// Makes an empty file that only its owner can read, in place of one that a crash has left.
    func prepareNew() throws(ManifestError) {
        try remove(newPath)
        try removeNewCompanions()
        try create(newPath, flags: O_CREAT | O_EXCL | O_WRONLY)
    }

    private func removeNewCompanions() throws(ManifestError) {
        for suffix in Self.companionSuffixes { try remove(newPath + suffix) }
    }

    /// Gives the new database its name once the disk has it.
    func publishNew() throws(ManifestError) {
        // SQLite says nothing of those that it could not remove.
        try removeNewCompanions()
        try synchronize(newPath, flags: O_RDONLY)
        try rename(newPath, to: databasePath)
        try synchronize(directory, flags: O_RDONLY | O_DIRECTORY)
    }

    /// Renames the database and its companions; the new name of the database, nil if nothing was
    /// there.
    func moveAside(now: Timestamp) throws(ManifestError) -> String? {
        let base = Self.asidePrefix + CivilTime(now).basicText
        var name = base
        var attempt = 1
        while try kind(of: path(name)) != .absent {
            attempt += 1
            name = base + "-\(attempt)"
        }
        var isAnythingMoved = false
        // The database last: if this is interrupted, the rest is moved by the next opening.
        for suffix in try companions(of: databasePath) {
            try rename(databasePath + suffix, to: path(name) + suffix)
            isAnythingMoved = true
        }
        if try kind(of: databasePath) != .absent {
            try rename(databasePath, to: path(name))
            isAnythingMoved = true
        }
        return isAnythingMoved ? name : nil
    }

    /// Removes all but the newest databases that were set aside; names sort by time.
    func pruneAside() throws(ManifestError) {
        let names = try names(withPrefix: Self.asidePrefix)
        let databases = names.filter { name in
            !Self.companionSuffixes.contains { name.hasSuffix($0) }
        }
        for name in databases.sorted().dropLast(Self.keptAsideCount) {
            // A directory under the name was never ours and stays.
            guard case .regular = try kind(of: path(name)) else { continue }
            for suffix in Self.companionSuffixes { try remove(path(name) + suffix) }
            try remove(path(name))
        }
    }

    /// What changes whenever somebody writes the database or its log.
    func stamp() throws(ManifestError) -> [Int64] {
        var stamp: [Int64] = []
        for suffix in [""] + Self.companionSuffixes where suffix != "-shm" {
            var status = stat()
            guard unsafe lstat(databasePath + suffix, &status) == 0 else {
                guard errno == ENOENT else { throw failure("lstat", databasePath + suffix) }
                stamp.append(-1)
                continue
            }
            #if canImport(Glibc)
            let modified = status.st_mtim
            #else
            let modified = status.st_mtimespec
            #endif
            stamp += [
                Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size),
                Int64(modified.tv_sec), Int64(modified.tv_nsec),
            ]
        }
        return stamp
    }

    /// Copies a regular file; one that is absent is removed there, too.
    func copy(_ path: String, to newPath: String) throws(ManifestError) {
        try remove(newPath)
        guard case .regular = try kind(of: path) else { return }
        let source = repeated { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        guard source >= 0 else { throw failure("open", path) }
        defer { close(source) }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let target = repeated { unsafe open(newPath, flags, 0o600) }
        guard target >= 0 else { throw failure("open", newPath) }
        defer { close(target) }
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = repeated { Int32(clamping: unsafe read(source, &buffer, buffer.count)) }
            guard count >= 0 else { throw failure("read", path) }
            guard count > 0 else { return }
            var written = 0
            while written < Int(count) {
                let step = unsafe buffer[written..<Int(count)].withUnsafeBytes { bytes in
                    repeated {
                        Int32(clamping: unsafe write(target, bytes.baseAddress, bytes.count))
                    }
                }
                guard step > 0 else { throw failure("write", newPath) }
                written += Int(step)
            }
        }
    }

    /// Throws if the disk does not give all that a regular file has.
    func readThrough(_ path: String) throws(ManifestError) {
        guard case .regular = try kind(of: path) else { return }
        let descriptor = repeated { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = repeated { Int32(clamping: unsafe read(descriptor, &buffer, buffer.count)) }
            guard count >= 0 else { throw failure("read", path) }
            if count == 0 { return }
        }
    }

    // MARK: - System calls

    private func create(_ path: String, flags: Int32) throws(ManifestError) {
        let descriptor = repeated { unsafe open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        guard descriptor >= 0 else { throw failure("open", path) }
        // After EINTR it is closed all the same.
        guard close(descriptor) == 0 || errno == EINTR else { throw failure("close", path) }
    }

    private func synchronize(_ path: String, flags: Int32) throws(ManifestError) {
        let descriptor = repeated { unsafe open(path, flags | O_CLOEXEC) }
        guard descriptor >= 0 else { throw failure("open", path) }
        let result = repeated { fsync(descriptor) }
        let number = errno
        close(descriptor)
        // Some file systems can't synchronize a directory, and say so with EINVAL.
        guard result == 0 || number == EINVAL else {
            throw .systemCall(call: "fsync", path: path, errno: number)
        }
    }

    private func rename(_ path: String, to newPath: String) throws(ManifestError) {
        let result = unsafe CLibrary.rename(path, newPath)
        guard result == 0 else { throw failure("rename", path) }
    }

    private func names(withPrefix prefix: String) throws(ManifestError) -> [String] {
        guard let stream = unsafe opendir(directory) else { throw failure("opendir", directory) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { buffer in
                unsafe String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.utf8.starts(with: prefix.utf8) { names.append(name) }
        }
        return names
    }

    private func remove(_ path: String) throws(ManifestError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("unlink", path) }
    }

    private func failure(_ call: String, _ path: String) -> ManifestError {
        let number = errno
        switch number {
        case ENOSPC: return .diskFull(path: path)
        case EDQUOT: return .quotaExceeded(path: path)
        default: return .systemCall(call: call, path: path, errno: number)
        }
    }
}

/// The answer of a call that is made again as long as a signal interrupts it.
private func repeated(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

/// The system's text for an error number.
func systemMessage(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
}
