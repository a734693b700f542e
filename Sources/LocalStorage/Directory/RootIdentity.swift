package import SyncModel

/// Which directory of which disk a mirror is.
package struct RootIdentity: Sendable, Hashable {
    /// Distinguishes disks, whose root directories all have the same inode.
    package enum Disk: Sendable, Hashable {
        /// When the directory was made, and the identifier of its file system if that lasts: a
        /// script may have made several disks in one second.
        case birth(Timestamp, fileSystem: UInt64? = nil)
        /// The identifier of its file system, where that does not say when a directory was made.
        case fileSystem(UInt64)
    }

    /// No directory's.
    package static let unknown = RootIdentity(inode: 0, disk: nil)

    let inode: UInt64
    let disk: Disk?

    package init(inode: UInt64, disk: Disk?) {
        self.inode = inode
        self.disk = disk
    }

    /// Parses ``text``; nil if it is not an identity.
    package init?(text: String) {
        let words = text.split(separator: ":", omittingEmptySubsequences: false)
        guard words.count <= 3, let inode = UInt64(words[0]) else { return nil }
        self.inode = inode
        guard words.count > 1 else {
            disk = nil
            return
        }
        let number = words[1].dropFirst()
        switch words[1].first {
        case "b":
            let fileSystem = words.count == 3 ? UInt64(words[2].dropFirst()) : nil
            disk = Int64(number).map {
                .birth(Timestamp(nanosecondsSince1970: $0), fileSystem: fileSystem)
            }
        case "f":
            disk = UInt64(number).map { .fileSystem($0) }
        default: return nil
        }
    }

    package var text: String {
        switch disk {
        case .birth(let time, let fileSystem):
            "\(inode):b\(time.nanosecondsSince1970)" + (fileSystem.map { ":f\($0)" } ?? "")
        case .fileSystem(let number): "\(inode):f\(number)"
        case nil: "\(inode)"
        }
    }

    /// False if they are certainly two directories.
    package func isSame(as other: RootIdentity) -> Bool {
        guard inode == other.inode else { return false }
        switch (disk, other.disk) {
        case (.birth(let a, let one), .birth(let b, let two)):
            return a == b && (one == two || one == nil || two == nil)
        case (.fileSystem(let a), .fileSystem(let b)): return a == b
        // One of them was recorded before this was available, or on another system.
        default: return true
        }
    }
}

extension RootIdentity {
    /// Of a directory: another one than last time means another disk, a disk that is not mounted,
    /// or a copy.
    init(of directory: OpenDirectory) throws(LocalError) {
        let (calls, descriptor) = (directory.calls, directory.descriptor)
        let fileSystem = calls.fileSystem(of: descriptor)
        let lasts = try calls.keepsFileSystemIdentifier(descriptor)
        let birth = calls.birth(of: descriptor).map {
            Disk.birth($0, fileSystem: lasts ? fileSystem : nil)
        }
        // The same for all where a directory gets another number with each mount.
        let keepsNumbers = try calls.keepsInodeNumbers(descriptor)
        let inode = keepsNumbers ? try directory.status().identity.inode : 1
        self.init(inode: inode, disk: birth ?? fileSystem.map(Disk.fileSystem))
    }
}
