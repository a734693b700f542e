package import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// What is at a name that is neither a regular file nor a directory.
package enum SpecialFileKind: Sendable, Hashable {
    case symbolicLink
    case fifo
    case socket
    case characterDevice
    case blockDevice
    case unknown

    /// With its article, for a sentence.
    package var description: String {
        switch self {
        case .symbolicLink: "a symbolic link"
        case .fifo: "a FIFO"
        case .socket: "a socket"
        case .characterDevice: "a character device"
        case .blockDevice: "a block device"
        case .unknown: "neither a file nor a directory"
        }
    }
}

/// What is at a path; links are not followed.
package enum LocalState: Sendable, Hashable {
    case absent
    case file(FileIdentity)
    case directory
    case other(SpecialFileKind)
}

/// The part of `struct stat` that decisions are made from.
struct FileStatus: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case file
        case directory
        case special(SpecialFileKind)
    }

    let kind: Kind
    let identity: FileIdentity
    let owner: UInt32
    let linkCount: UInt64
    /// The twelve permission bits.
    let permissions: UInt32

    init(_ raw: stat) {
        kind = Self.kind(ofMode: raw.st_mode)
        #if canImport(Glibc)
        let (modified, changed) = (raw.st_mtim, raw.st_ctim)
        #else
        let (modified, changed) = (raw.st_mtimespec, raw.st_ctimespec)
        #endif
        identity = FileIdentity(
            size: Int64(raw.st_size),
            modified: Timestamp(modified),
            changed: Timestamp(changed),
            inode: UInt64(raw.st_ino),
            device: UInt64(truncatingIfNeeded: raw.st_dev)
        )
        owner = raw.st_uid
        linkCount = UInt64(raw.st_nlink)
        permissions = UInt32(raw.st_mode) & 0o7777
    }

    private static func kind(ofMode mode: mode_t) -> Kind {
        switch mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .directory
        case S_IFLNK: .special(.symbolicLink)
        case S_IFIFO: .special(.fifo)
        case S_IFSOCK: .special(.socket)
        case S_IFCHR: .special(.characterDevice)
        case S_IFBLK: .special(.blockDevice)
        default: .special(.unknown)
        }
    }

    var state: LocalState {
        switch kind {
        case .file: .file(identity)
        case .directory: .directory
        case .special(let kind): .other(kind)
        }
    }

    /// True if both are the same object of the file system, whatever its content.
    func isSameObject(as other: FileStatus) -> Bool {
        identity.inode == other.identity.inode && identity.device == other.identity.device
    }

    /// True if that object has the same content, as far as its size and modification time tell;
    /// the time of its last change moves with each of its names.
    func isSameVersion(as other: FileStatus) -> Bool {
        isSameObject(as: other) && kind == other.kind
            && identity.size == other.identity.size
            && identity.modified == other.identity.modified
    }
}

extension Timestamp {
    /// A file system may hand out nanoseconds beyond a second; they are clamped, not trapped on.
    init(_ time: timespec) {
        self.init(
            seconds: Int64(time.tv_sec),
            nanoseconds: Int32(min(max(Int(time.tv_nsec), 0), 999_999_999))
        )
    }
}
