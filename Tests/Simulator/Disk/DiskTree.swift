internal import CSystem
internal import Glibc
internal import SyncModel

/// What is at one path.
enum DiskEntry: Hashable {
    /// Nil for content that nobody wrote.
    case file(ContentID?)
    case directory
    case link
    case other
}

/// Reads the mirror as it is now.
///
/// What was read once is not read again while size, times and inode stay.
struct DiskTree {
    private struct Stamp: Hashable {
        let inode: UInt64
        let size: Int64
        let modified: Int64
        let changed: Int64
    }

    private var known: [Stamp: ContentID?] = [:]
    /// Of the last scan: what the files without a content hold.
    private(set) var strangers: [ObjectKey: [UInt8]] = [:]
    private(set) var entries: [ObjectKey: DiskEntry] = [:]
    /// When each file's inode last changed, in nanoseconds since 1970.
    private(set) var changed: [ObjectKey: Int64] = [:]
    /// The contents in the trash.
    private(set) var trash: Set<ContentID> = []
    /// The directory that is read.
    var root = VirtualDisk.mirror
    /// Where the state is.
    var stateDirectory = VirtualDisk.ownState
    /// Whether two states of a file differ in their times.
    var believesTimes = true
    /// Names in `partial` of the state.
    private(set) var partials = 0

    /// Reads everything below the mirror but the state's own files.
    mutating func scan(_ contents: borrowing Contents) {
        entries = [:]
        strangers = [:]
        changed = [:]
        trash = []
        walk([UInt8](root.utf8), below: [], contents) { tree, path, entry in
            tree.entries[path] = entry
        }
        partials = 0
        // Where a rename does not reach the state, these two stay in the mirror.
        for state in workPlaces {
            walk([UInt8]((state + "/trash").utf8), below: [], contents) { tree, _, entry in
                if case .file(let id?) = entry { tree.trash.insert(id) }
            }
            partials += Self.names(in: [UInt8]((state + "/partial").utf8)).count
        }
    }

    /// The state, and what states that are elsewhere keep in the mirror.
    private var workPlaces: [String] {
        let works = [VirtualDisk.ownState, root + "/.osssync-work"].flatMap { place in
            Self.names(in: [UInt8](place.utf8)).map { String(decoding: $0, as: UTF8.self) }
                .filter { $0.hasPrefix("work-") }.map { place + "/" + $0 }
        }
        return Set([stateDirectory, VirtualDisk.ownState] + works).sorted()
    }

    private mutating func walk(
        _ directory: [UInt8],
        below path: [UInt8],
        _ contents: borrowing Contents,
        _ take: (inout DiskTree, ObjectKey, DiskEntry) -> Void
    ) {
        for name in Self.names(in: directory) {
            let isOwn = [".osssync", ".osssync-work"].contains { name.elementsEqual($0.utf8) }
            if path.isEmpty, isOwn { continue }
            let full = directory + [UInt8(ascii: "/")] + name
            let relative = path.isEmpty ? name : path + [UInt8(ascii: "/")] + name
            guard let status = Self.status(full) else { continue }
            if EscapedName.holds(path: relative), status.st_mode & S_IFMT == S_IFDIR {
                walk(full, below: relative, contents, take)
                continue
            }
            let key = EscapedName.key(ofPath: relative) ?? ObjectKey(relative)
            switch status.st_mode & S_IFMT {
            case S_IFREG:
                take(&self, key, .file(content(full, status, at: key, contents)))
            case S_IFDIR:
                take(&self, key, .directory)
                walk(full, below: relative, contents, take)
            case S_IFLNK: take(&self, key, .link)
            default: take(&self, key, .other)
            }
        }
    }

    private mutating func content(
        _ path: [UInt8],
        _ status: stat,
        at key: ObjectKey,
        _ contents: borrowing Contents
    ) -> ContentID? {
        let stamp = Stamp(
            inode: UInt64(status.st_ino),
            size: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec),
            changed: Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
        )
        changed[key] = stamp.changed
        if believesTimes, let id = known[stamp], let id { return id }
        let bytes = DiskEdits.read(path) ?? []
        let id = contents.identify(bytes)
        if id == nil { strangers[key] = bytes }
        known[stamp] = .some(id)
        return id
    }

    /// Of which nothing is known any more, as after a reboot.
    mutating func forget() { known = [:] }

    static func names(in directory: [UInt8]) -> [[UInt8]] {
        let opened = unsafe DiskEdits.withPath(directory) { unsafe opendir($0) }
        guard let stream = unsafe opened else { return [] }
        defer { unsafe closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { buffer in
                unsafe [UInt8](buffer.prefix { $0 != 0 })
            }
            if name != [UInt8(ascii: ".")], name != [UInt8(ascii: "."), UInt8(ascii: ".")] {
                names.append(name)
            }
        }
        return names.sorted { bytesPrecede($0, $1) }
    }

    static func status(_ path: [UInt8]) -> stat? {
        var status = stat()
        let result = unsafe DiskEdits.withPath(path) { unsafe lstat($0, &status) }
        return result == 0 ? status : nil
    }
}
