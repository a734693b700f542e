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

    struct Level {
        let directory: OpenDirectory
        let status: FileStatus
        let names: DirectoryNames
        /// The path with a "/" at its end.
        let prefix: [UInt8]
        var position = 0
    }

    /// The first directory of such a name.
    var path: [UInt8] = []
    var levels: [Level] = []
    var seen = 0
}

extension DirectoryWalk.State {
    /// What has a name that no key can have: a file, or a link that is stored.
    func file(of name: PathBytes, in directory: OpenDirectory) -> [FileIdentity] {
        guard let found = try? status(of: name, in: directory) else { return [] }
        switch found.kind {
        case .file: return [found.identity]
        case .special(.symbolicLink) where links == .store: return [found.identity]
        default: return []
        }
    }

    /// Looks beneath a directory of such a name from now on.
    mutating func enterUnnamed(_ path: [UInt8], _ name: PathBytes, in directory: OpenDirectory) {
        guard looksBeneathUnnamed, let around = levels.last?.status else { return }
        unnamed.path = path
        enter(path, name, in: directory, around)
    }

    private mutating func enter(
        _ path: [UInt8],
        _ name: PathBytes,
        in directory: OpenDirectory,
        _ around: FileStatus
    ) {
        guard unnamed.levels.count < UnnamedTree.mostLevels,
            let opened = try? directory.subdirectory(name), let status = try? opened.status(),
            !status.isMountPoint(in: around), let names = try? DirectoryNames(of: opened),
            !names.mayBeState || !IdentityFile.isState(opened)
        else { return }
        unnamed.levels.append(
            UnnamedTree.Level(
                directory: opened,
                status: status,
                names: names,
                prefix: path + [UInt8(ascii: "/")]
            )
        )
    }

    /// Looks at one name beneath it.
    mutating func stepUnnamed(_ batch: inout WalkBatch) {
        guard let level = unnamed.levels.last else { return }
        guard level.position < level.names.elements.count, unnamed.seen < UnnamedTree.mostNames
        else {
            unnamed.levels.removeLast()
            return
        }
        unnamed.seen += 1
        unnamed.levels[unnamed.levels.count - 1].position += 1
        let element = level.names.elements[level.position]
        let name = level.names.bytes(of: element)
        let path = level.prefix + name
        guard !RelativePath.isReserved(name), !isExcluded(path, element.isDirectory) else { return }
        let found = level.names.name(of: element)
        if element.isDirectory {
            enter(path, found, in: level.directory, level.status)
        } else {
            let files = file(of: found, in: level.directory)
            if !files.isEmpty {
                batch.issues.append(
                    WalkIssue(path: unnamed.path, reason: .beneathUnnamed, files: files)
                )
            }
        }
    }
}
