internal import SyncModel

/// How a walk looks beneath a directory whose name no key can have.
///
/// A renamed directory takes its files along, and their objects may be the only copies: a run that
/// deletes objects is told of each file. Not told are those on another mount, beyond a limit, or
/// in directories that cannot be read: nothing that was renamed here needs to be there.
struct UnnamedTree {
    /// Names that a walk looks at beneath all such directories.
    static let mostNames = 100_000
    /// All of them are open.
    static let mostLevels = 64

    private struct Level {
        let directory: OpenDirectory
        let status: FileStatus
        let names: DirectoryNames
        /// The path with a "/" at its end.
        let prefix: [UInt8]
        var position = 0
    }

    /// A file or directory beneath them.
    struct Element {
        let path: [UInt8]
        let name: PathBytes
        let isDirectory: Bool
        /// True for a name that the mirror keeps to itself.
        let isReserved: Bool
        let directory: OpenDirectory
        /// That directory's.
        let status: FileStatus
    }

    /// The first directory of such a name.
    var path: [UInt8] = []
    private var levels: [Level] = []
    private var seen = 0

    /// True if nothing is left of it.
    var isEmpty: Bool { levels.isEmpty }

    /// Looks beneath a directory from now on, if that can be entered.
    mutating func enter(
        _ path: [UInt8],
        _ name: PathBytes,
        in directory: OpenDirectory,
        _ around: FileStatus
    ) {
        guard levels.count < Self.mostLevels,
            let opened = try? directory.subdirectory(name), let status = try? opened.status(),
            !status.isMountPoint(in: around), let names = try? DirectoryNames(of: opened),
            !names.mayBeState || !IdentityFile.isState(opened)
        else { return }
        let prefix = path + [UInt8(ascii: "/")]
        levels.append(Level(directory: opened, status: status, names: names, prefix: prefix))
    }

    /// The next name; nil at the end of a directory.
    mutating func next() -> Element? {
        guard let level = levels.last else { return nil }
        guard level.position < level.names.elements.count, seen < Self.mostNames else {
            levels.removeLast()
            return nil
        }
        seen += 1
        levels[levels.count - 1].position += 1
        let element = level.names.elements[level.position]
        let name = level.names.bytes(of: element)
        return Element(
            path: level.prefix + name,
            name: level.names.name(of: element),
            isDirectory: element.isDirectory,
            isReserved: RelativePath.isReserved(name),
            directory: level.directory,
            status: level.status
        )
    }
}
