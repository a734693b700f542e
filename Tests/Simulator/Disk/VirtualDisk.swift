internal import CVirtualFiles
internal import Glibc
internal import SyncModel

/// The disk in memory that the engine works on without knowing.
///
/// Unchecked, because a simulation has one thread.
final class VirtualDisk: @unchecked Sendable {
    static let mirror = VIRTUAL_FILES_ROOT + "/mirror"
    /// Where the state is unless it is kept elsewhere; the directory's marker always.
    static let ownState = mirror + "/.osssync"
    /// Where `--state-dir` puts it.
    static let otherState = VIRTUAL_FILES_ROOT + "/state"
    static let bootIDPath = VIRTUAL_FILES_ROOT + "/boot_id"
    static let outside = VIRTUAL_FILES_ROOT + "/outside"
    /// What stands where the mirror stood before.
    static let moved = VIRTUAL_FILES_ROOT + "/moved"
    /// The tops of what is mounted.
    static let volumes = VIRTUAL_FILES_ROOT + "/volumes"

    /// What a call is, as far as faults and oracles ask.
    enum Kind: String, CaseIterable, Sendable {
        case open, read, write, resize, sync, name, status, walk, lock, other

        init(_ name: String) {
            self =
                switch name {
                case "openat", "open", "openat2", "creat", "fopen", "opendir", "fdopendir": .open
                case "read", "pread", "readv", "preadv", "mmap", "copy_file_range": .read
                case "write", "pwrite", "writev", "pwritev": .write
                case "ftruncate", "truncate", "fallocate", "posix_fallocate": .resize
                case "fsync", "fdatasync", "syncfs", "sync", "sync_file_range", "msync": .sync
                case "renameat", "renameat2", "rename", "linkat", "link", "unlinkat", "unlink",
                    "rmdir", "mkdirat", "mkdir", "symlinkat", "mkfifoat":
                    .name
                case "readdir", "getdents", "scandir", "rewinddir": .walk
                case "flock", "fcntl": .lock
                case "fstat", "fstatat", "stat", "lstat", "statx", "access", "faccessat",
                    "readlinkat", "statfs", "fstatfs", "statvfs", "fstatvfs":
                    .status
                default: .other
                }
        }
    }

    struct Call {
        let kind: Kind
        let name: String
        let path: String?
        /// The last component of the name that a rename or a link gives.
        let newName: Substring?
        let descriptor: Int32
        let changes: Bool
        let bytes: Int64
        /// Counts all calls since the disk was made.
        let number: UInt64

        /// Where the call goes: the descriptor's place and what is relative to it.
        var place: String {
            var place = path ?? ""
            if descriptor >= 0 {
                let base = VirtualDisk.path(of: descriptor)
                place = path.map { base + "/" + $0 } ?? base
            }
            return place
        }
    }

    /// Where the state is.
    var stateDirectory = VirtualDisk.ownState
    /// Says what becomes of a call: 0 to go on, an error number, or minus how many bytes it moves.
    var onCall: ((Call) -> Int32)?
    /// By the address of the name, which is a literal of C.
    private var kinds: [UInt: (kind: Kind, name: String)] = [:]

    /// An empty disk with a mirror's parent on it.
    func reset(entropy: UInt64) {
        virtual_files_reset()
        virtual_files_set_entropy(entropy)
        virtual_files_set_clock(true)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe virtual_files_set_hook(
            { context, call in
                guard let context = unsafe context else { return 0 }
                let disk = unsafe Unmanaged<VirtualDisk>.fromOpaque(context).takeUnretainedValue()
                return unsafe disk.judge(call)
            },
            context
        )
    }

    private func judge(_ call: UnsafePointer<virtual_files_call>) -> Int32 {
        guard let onCall else { return 0 }
        let raw = unsafe call.pointee
        let address = unsafe UInt(bitPattern: raw.name)
        let known: (kind: Kind, name: String)
        if let found = kinds[address] {
            known = found
        } else {
            let name = unsafe String(cString: raw.name)
            known = (Kind(name), name)
            kinds[address] = known
        }
        let path = unsafe raw.path.map { unsafe String(cString: $0) }
        let other = unsafe raw.other_path.map { unsafe String(cString: $0) }
        let heard = unsafe Call(
            kind: known.kind,
            name: known.name,
            path: path,
            newName: other?.split(separator: "/").last,
            descriptor: raw.descriptor,
            changes: raw.changes,
            bytes: raw.bytes,
            number: raw.number
        )
        return onCall(heard)
    }

    static func path(of descriptor: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let length = unsafe virtual_files_path(descriptor, &buffer, buffer.count)
        let bytes = buffer.prefix(length).map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Where open descriptors lead, for a message.
    static func openPlaces() -> [String] {
        (0..<1_024).map { path(of: $0) }.filter { !$0.isEmpty }
    }

    /// Runs `body` as the world does, unseen by the hook.
    func unseen<Value>(_ body: () -> Value) -> Value {
        virtual_files_set_hook_enabled(false)
        defer { virtual_files_set_hook_enabled(true) }
        return body()
    }

    func setTime(_ time: Timestamp) {
        virtual_files_set_time(time.seconds, Int64(time.nanoseconds))
    }

    func freeze() { virtual_files_freeze() }
}
