package import SyncModel

/// Which directory of which disk a mirror is.
package struct RootIdentity: Sendable, Hashable {
    /// Distinguishes disks, whose root directories all have the same inode.
    package enum Disk: Sendable, Hashable {
        /// When the directory was made.
        case birth(Timestamp)
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
        guard words.count <= 2, let inode = UInt64(words[0]) else { return nil }
        self.inode = inode
        guard words.count == 2 else {
            disk = nil
            return
        }
        let number = words[1].dropFirst()
        switch words[1].first {
        case "b":
            disk = Int64(number).map { .birth(Timestamp(nanosecondsSince1970: $0)) }
        case "f":
            disk = UInt64(number).map { .fileSystem($0) }
        default: return nil
        }
    }

    package var text: String {
        switch disk {
        case .birth(let time): "\(inode):b\(time.nanosecondsSince1970)"
        case .fileSystem(let number): "\(inode):f\(number)"
        case nil: "\(inode)"
        }
    }

    /// False if they are certainly two directories.
    package func isSame(as other: RootIdentity) -> Bool {
        guard inode == other.inode else { return false }
        switch (disk, other.disk) {
        case (.birth(let a), .birth(let b)): return a == b
        case (.fileSystem(let a), .fileSystem(let b)): return a == b
        // One of them was recorded before this was available, or on another system.
        default: return true
        }
    }
}

extension MirrorDirectory {
    /// Of the directory itself: another one than last time means another disk, a disk that is not
    /// mounted, or a copy.
    package func rootIdentity() throws(LocalError) -> RootIdentity {
        let birth = calls.birth(of: root.descriptor).map(RootIdentity.Disk.birth)
        let fileSystem = calls.fileSystem(of: root.descriptor).map(RootIdentity.Disk.fileSystem)
        return RootIdentity(inode: try inode(of: root), disk: birth ?? fileSystem)
    }

    /// The same for all where a directory gets another number with each mount.
    private func inode(of directory: OpenDirectory) throws(LocalError) -> UInt64 {
        guard try calls.keepsInodeNumbers(directory.descriptor) else { return 1 }
        return try directory.status().identity.inode
    }

    /// False if something else is at the directory's path now, or nothing.
    package func isAtItsPath() throws(LocalError) -> Bool {
        do throws(LocalError) {
            let found = try Self.openRoot(path, createsIfMissing: false, calls: calls)
            return try found.status().isSameObject(as: root.status())
        } catch {
            switch error {
            case .missingDirectory, .notADirectory: return false
            default: throw error
            }
        }
    }

    /// False if files have other inode numbers after the next mount, as far as that is known.
    package func keepsInodeNumbers() throws(LocalError) -> Bool {
        try calls.keepsInodeNumbers(root.descriptor)
    }

    /// Of the directory at `path`, at which another mount begins; nil where the system does not
    /// tell when it was made: what tells disks apart there may be another thing after each mount.
    package func mountIdentity(_ path: RelativePath) -> RootIdentity? {
        guard let opened = try? root.directory(beneath: path),
            let birth = calls.birth(of: opened.descriptor),
            let inode = try? inode(of: opened)
        else { return nil }
        return RootIdentity(inode: inode, disk: .birth(birth))
    }

    /// True if another mount than that of the directory around it begins at `path`.
    ///
    /// - Throws: What keeps it from being looked at; that it is absent is no error.
    package func isMountPoint(_ path: RelativePath) throws(LocalError) -> Bool {
        do throws(LocalError) {
            let parent = try parent(of: path)
            guard let status = try parent.status(of: PathBytes(path.name)) else { return false }
            return try status.isMountPoint(in: parent.status())
        } catch {
            switch error {
            case .absent, .parentIsFile, .symlinkInPath: return false
            default: throw error
            }
        }
    }
}
