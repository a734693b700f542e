import Glibc
import SyncModel
import Testing

@testable import LocalStorage

/// A real directory for one test, gone with the last reference.
///
/// It has its own way to the file system: what it says does not depend on the code under test.
///
/// Safe, because every pointer is used within the call that it is made for.
final class TemporaryDirectory: Sendable {
    let path: String
    /// The mirrored directory.
    var mirrorPath: String { path + "/mirror" }

    init() throws {
        // Memory, where there is such a place: these tests synchronize more often than disks like.
        let memory = unsafe access("/dev/shm", W_OK) == 0
        let base = (memory ? "/dev/shm" : "/tmp") + "/osssync-local-"
        var generator = SystemRandomNumberGenerator()
        path = base + String(generator.next() as UInt64, radix: 16)
        try Self.check("mkdir", unsafe mkdir(path, 0o700))
        try Self.check("mkdir", unsafe mkdir(mirrorPath, 0o755))
    }

    deinit {
        try? Self.removeTree([UInt8](path.utf8))
    }

    struct Failure: Error {
        let call: String
        let errno: Int32
    }

    static func check(_ call: String, _ result: some SignedInteger) throws {
        guard result >= 0 else { throw Failure(call: call, errno: errno) }
    }

    // MARK: - Making things beneath the mirrored directory

    /// `name` beneath the mirrored directory, ready for a C call.
    private func place(_ name: some Sequence<UInt8>) -> [CChar] {
        ([UInt8]((mirrorPath + "/").utf8) + name).map { CChar(bitPattern: $0) } + [0]
    }

    func write(_ name: String, _ content: String) throws {
        try write([UInt8](name.utf8), [UInt8](content.utf8))
    }

    func write(_ name: [UInt8], _ content: [UInt8]) throws {
        let descriptor = unsafe open(place(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        try Self.check("open", descriptor)
        defer { close(descriptor) }
        let count = unsafe Glibc.write(descriptor, content, content.count)
        try #require(count == content.count)
    }

    /// Nil if there is nothing that can be read.
    func read(_ name: String) -> String? {
        Self.content(of: mirrorPath + "/" + name)
    }

    /// The text of a file anywhere; nil if there is nothing that can be read.
    static func content(of path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    func makeDirectory(_ name: String) throws {
        try makeDirectory([UInt8](name.utf8))
    }

    func makeDirectory(_ name: [UInt8]) throws {
        try Self.check("mkdir", unsafe mkdir(place(name), 0o755))
    }

    func makeLink(_ name: String, to target: String) throws {
        try Self.check("symlink", unsafe symlink(target, place(name.utf8)))
    }

    func makeHardLink(_ name: String, to target: String) throws {
        try Self.check("link", unsafe link(place(target.utf8), place(name.utf8)))
    }

    func makeFIFO(_ name: String) throws {
        try Self.check("mkfifo", unsafe mkfifo(place(name.utf8), 0o644))
    }

    func rename(_ name: String, to newName: String) throws {
        try Self.check("rename", unsafe Glibc.rename(place(name.utf8), place(newName.utf8)))
    }

    func remove(_ name: String) throws {
        try Self.check("remove", unsafe Glibc.remove(place(name.utf8)))
    }

    func setMode(_ name: String, _ mode: mode_t) throws {
        try Self.check("chmod", unsafe chmod(place(name.utf8), mode))
    }

    func setModified(_ name: String, seconds: Int) throws {
        let time = timespec(tv_sec: seconds, tv_nsec: 0)
        let result = unsafe utimensat(AT_FDCWD, place(name.utf8), [time, time], 0)
        try Self.check("utimensat", result)
    }

    func status(_ name: String) throws -> stat {
        var raw = stat()
        try Self.check("lstat", unsafe lstat(place(name.utf8), &raw))
        return raw
    }

    func permissions(_ name: String) throws -> UInt32 {
        try status(name).st_mode & 0o7777
    }

    func exists(_ name: String) -> Bool {
        (try? status(name)) != nil
    }

    // MARK: - Looking at whole trees

    /// Every path beneath `name` with its content: a file's text, `directory`, or `link`.
    func tree(_ name: String = "") throws -> [String: String] {
        var result: [String: String] = [:]
        var pending = [name]
        while let next = pending.popLast() {
            for child in try Self.names(place(next.utf8)) {
                let text = String(decoding: child, as: UTF8.self)
                let path = next.isEmpty ? text : next + "/" + text
                switch try status(path).st_mode & S_IFMT {
                case S_IFDIR:
                    result[path] = "directory"
                    pending.append(path)
                case S_IFREG: result[path] = read(path) ?? "unreadable"
                case S_IFLNK: result[path] = "link"
                default: result[path] = "special"
                }
            }
        }
        return result
    }

    /// The user's part of the tree, without our own state.
    func userTree() throws -> [String: String] {
        try tree().filter { !$0.key.hasPrefix(".osssync") }
    }

    /// The names in a directory anywhere.
    static func namesOutside(_ path: String) throws -> [String] {
        try names(path.utf8.map { CChar(bitPattern: $0) } + [0]).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private static func names(_ path: [CChar]) throws -> [[UInt8]] {
        guard let stream = unsafe opendir(path) else {
            throw Failure(call: "opendir", errno: errno)
        }
        defer { unsafe closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe [UInt8](bytes.prefix { $0 != 0 })
            }
            if name != [46] && name != [46, 46] { names.append(name) }
        }
        return names
    }

    static func removeTree(_ path: [UInt8]) throws {
        let place = path.map { CChar(bitPattern: $0) } + [0]
        var raw = stat()
        guard unsafe lstat(place, &raw) == 0 else { return }
        if raw.st_mode & S_IFMT == S_IFDIR {
            unsafe chmod(place, 0o700)
            for name in try names(place) { try removeTree(path + [47] + name) }
        }
        unsafe Glibc.remove(place)
    }
}

extension TemporaryDirectory {
    /// The mirror with system calls that fail by rule.
    func mirror(failing rules: SystemCallFaults.Rule...) throws -> MirrorDirectory {
        try mirror(calls: SystemCalls(usesOpenat2: true, faults: SystemCallFaults(rules)))
    }

    /// The mirror, with system calls as the program has them or as a test wants them.
    func mirror(calls: SystemCalls = .standard) throws -> MirrorDirectory {
        try MirrorDirectory(
            path: mirrorPath,
            stateDirectory: nil,
            homeDirectory: nil,
            createsIfMissing: true,
            calls: calls
        )
    }
}

/// A path from text that is a safe key.
func relative(_ text: String) throws -> RelativePath {
    try RelativePath(key: ObjectKey(text))
}

/// Of this user's own file, without a list.
func ordinaryRights(_ permissions: UInt32) -> FileRights {
    FileRights(permissions: permissions, owner: geteuid(), group: getegid(), list: nil)
}

/// Both ways to open a path of several components.
let bothWays = [
    SystemCalls.standard,
    SystemCalls(usesOpenat2: false, faults: nil),
]

extension MirrorDirectory {
    /// A finished temporary file with `content`.
    func partial(_ content: String) throws -> String {
        let bytes = [UInt8](content.utf8)
        let (name, file) = try partials.create(size: Int64(bytes.count))
        try file.write(bytes, at: 0)
        return name
    }

    /// A publication of `content` at `path`, whatever the rest.
    func publication(
        _ content: String,
        at text: String,
        expecting expected: ExpectedTarget,
        backup: BackupPolicy = .replace
    ) throws -> Publication {
        Publication(
            partialName: try partial(content),
            path: try relative(text),
            modified: Timestamp(seconds: 1_000_000_000, nanoseconds: 123_456_789),
            expected: expected,
            backup: backup
        )
    }

    /// The same of a file that was made whole at once.
    func readyPublication(
        _ content: String,
        at text: String,
        expecting expected: ExpectedTarget
    ) throws -> Publication {
        let time = Timestamp(seconds: 1_000_000_000, nanoseconds: 123_456_789)
        let (ready, _) = unsafe try partials.create(
            holding: Array(content.utf8).span.bytes,
            modified: time,
            keepsOpen: false
        )
        return Publication(
            partialName: ready.name,
            path: try relative(text),
            modified: time,
            expected: expected,
            backup: .replace,
            ready: ready
        )
    }

    /// The whole walk in batches of `limit`.
    func walkAll(limit: Int, within ranges: KeyRanges = .all) throws -> WalkBatch {
        let walk = walk(within: ranges) { _, _ in false }
        var all = WalkBatch(entries: [], issues: [], isFinished: false)
        while !all.isFinished {
            let batch = try walk.next(limit: limit)
            all.entries += batch.entries
            all.issues += batch.issues
            all.isFinished = batch.isFinished
        }
        return all
    }

    func fileIdentity(_ text: String) throws -> FileIdentity {
        guard case .file(let identity) = try identity(of: relative(text)) else {
            throw TemporaryDirectory.Failure(call: "no file at \(text)", errno: 0)
        }
        return identity
    }
}
