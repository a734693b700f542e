internal import CLibrary
internal import CSystem
package import SyncModel

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

    /// What messages call it.
    package var description: String {
        switch self {
        case .absent: "nothing"
        case .file: "a file"
        case .directory: "a directory"
        case .other(let kind): kind.description
        }
    }
}

/// The part of `struct stat` that decisions are made from.
struct FileStatus: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case file
        case directory
        case special(SpecialFileKind)

        /// What is at the path of a file, or of a link.
        static func of(_ path: RelativePath) -> Kind {
            path.isLink ? .special(.symbolicLink) : .file
        }
    }

    let kind: Kind
    let identity: FileIdentity
    let owner: UInt32
    let group: UInt32
    /// True if nobody may change it or take its name.
    let isFixed: Bool
    let isEncrypted: Bool
    let linkCount: UInt64
    /// The twelve permission bits.
    let permissions: UInt32
    /// The mount that it is seen through; 0 if the kernel does not provide it.
    let mount: UInt64
}

extension FileStatus {
    init(_ raw: osssync_status, dropsFractions: Bool) {
        let fraction: Int64 = dropsFractions ? 0 : 1
        kind = Self.kind(ofMode: mode_t(raw.mode))
        identity = FileIdentity(
            size: raw.size,
            modified: Timestamp(raw.modified_seconds, raw.modified_nanoseconds * fraction),
            changed: Timestamp(raw.changed_seconds, raw.changed_nanoseconds * fraction),
            inode: raw.inode,
            device: raw.device
        )
        owner = raw.owner
        group = raw.group
        isFixed = raw.fixed != 0
        isEncrypted = raw.encrypted != 0
        linkCount = raw.links
        permissions = raw.mode & 0o7777
        mount = raw.mount
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

    /// The permissions of a directory whose marker was not asked for them yet.
    static let unasked: UInt32 = 0o1700

    /// True for such a directory; no other one needs the sticky bit if only its owner may write.
    var isUnasked: Bool { kind == .directory && permissions & 0o1777 == Self.unasked }

    var state: LocalState {
        switch kind {
        case .file: .file(identity)
        case .directory: .directory
        case .special(let kind): .other(kind)
        }
    }

    /// True if a rename reaches from one directory to the other.
    ///
    /// It does not from mount to mount, even of one file system, nor to a part of a mount with a
    /// device number of its own, such as a subvolume.
    func isSameMount(as other: FileStatus) -> Bool {
        mount == other.mount && identity.device == other.identity.device
    }

    /// True if something begins here that may not be there in the next run: another mount than that
    /// of the directory around it.
    ///
    /// Single files are mounted, too; their device numbers say nothing, because an overlay gives
    /// files and directories different ones.
    func isMountPoint(in directory: FileStatus) -> Bool {
        kind == .directory ? !isSameMount(as: directory) : mount != directory.mount
    }

    /// True if both are the same object of the file system, regardless of content.
    func isSameObject(as other: FileStatus) -> Bool {
        identity.inode == other.identity.inode && identity.device == other.identity.device
    }

    /// True if that object has the same content, judging by its size and modification time; the
    /// time of its last change moves with each of its names.
    func isSameVersion(as other: FileStatus) -> Bool {
        isSameObject(as: other) && kind == other.kind
            && identity.size == other.identity.size
            && identity.modified == other.identity.modified
    }
}

extension Timestamp {
    /// A file system may hand out nanoseconds beyond a second; they are clamped, not trapped on.
    init(_ seconds: Int64, _ nanoseconds: Int64) {
        self.init(
            seconds: seconds,
            nanoseconds: Int32(min(max(nanoseconds, 0), 999_999_999))
        )
    }
}
