internal import CLibrary
internal import OSSSync

/// The directory that a command is about, and the paths in it to which the command is limited.
struct MirrorPlace: Sendable, Hashable {
    /// As it was given where it is the mirror itself; else its real path.
    let directory: String
    /// Relative to the directory; none for all of it.
    let paths: [String]
    /// What `--to` names, relative to the directory.
    var target: String?

    /// The file that a directory with a link has, and the one that is in a directory whose state is
    /// kept elsewhere.
    private static let linkFile = "/.osssync/config"
    private static let markerFile = "/.osssync/marker"
    /// The file that a state directory has.
    private static let manifestFile = "/manifest.db"

    /// Finds the directory by what was typed and what is on the disk.
    ///
    /// With a REMOTE the first path is the directory itself, which may lie in a mirror only if it
    /// is linked: a mirror in another one is made on purpose, by `init`. Without one, it may lie in
    /// a mirror: then it is the directory and a path in one, and so is each further one that lies
    /// in the same mirror, and what `--to` names; but "." before further ones is only the place of
    /// those, as at the top. Without any path the mirror that holds the current directory
    /// is meant, as in git.
    ///
    /// With `--state-dir` nothing above a given DIR is looked at: a mirror there need not be the
    /// one that has this state.
    ///
    /// - Returns: Nil if no directory was given and the current one is in no mirror.
    static func find(
        _ arguments: ParsedArguments,
        _ command: CommandSpecification
    ) throws(UsageError) -> MirrorPlace? {
        let typed = arguments.mirror
        let isElsewhere = arguments.values[.stateDirectory] != nil
        guard let first = typed.paths.first else {
            return mirror(holding: ".", isElsewhere ? markerFile : linkFile).map { found in
                MirrorPlace(directory: found.root, paths: [])
            }
        }
        let further = [String](typed.paths.dropFirst())
        let target = arguments.values[.to]
        let given = MirrorPlace(directory: first, paths: further, target: target)
        let isHere = first == "." || first == "./"
        if isElsewhere || typed.remote != nil || isThere(first + linkFile) {
            let isLinked = isElsewhere || command.name == .`init` || isThere(first + linkFile)
            if !isLinked, let outer = mirror(holding: first, linkFile) {
                throw .remoteWithinMirror(
                    String(terminalSafe: first),
                    command: command.name,
                    mirror: String(terminalSafe: outer.root)
                )
            }
            // At the top, too, all of the current directory is one path.
            if isHere, further.isEmpty, command.needsPath {
                return MirrorPlace(directory: first, paths: ["."], target: target)
            }
            return try given.checked(command)
        }
        guard let found = mirror(holding: first, linkFile), let path = found.path else {
            return try given.checked(command)
        }
        guard command.takes(ArgumentSpecification.pathName) else {
            throw .pathWithinMirror(
                String(terminalSafe: first),
                command: command.name,
                mirror: String(terminalSafe: found.root)
            )
        }
        let place = { (text: String) in
            guard let other = mirror(holding: text, linkFile), other.root == found.root else {
                return text
            }
            return other.path ?? text
        }
        return try MirrorPlace(
            directory: found.root,
            // As at the top, it is only the place of the PATHs.
            paths: (isHere && !further.isEmpty ? [] : [path]) + further.map(place),
            target: target.map(place)
        ).checked(command)
    }

    /// Refuses fewer or more paths than the command takes, which are not told from DIR before.
    private func checked(_ command: CommandSpecification) throws(UsageError) -> MirrorPlace {
        let path = command.arguments.first { $0.name == ArgumentSpecification.pathName }
        if let path, !path.isRepeated, paths.count > 1 {
            throw .surplusArgument(String(terminalSafe: paths[1]), command: command.name)
        }
        if command.needsPath, paths.isEmpty {
            throw .missingArgument(ArgumentSpecification.pathName, command: command.name)
        }
        return self
    }

    /// The nearest directory at or above `path` that is a mirror, and the way from there.
    ///
    /// Links are followed first, so that ".." and the names of parents mean what they mean to the
    /// system. Whether the state found there may be trusted is judged when it is opened.
    private static func mirror(
        holding path: String,
        _ file: String
    ) -> (root: String, path: String?)? {
        guard let real = realPath(path) else { return nil }
        var parts = real.split(separator: "/")
        var below: [Substring] = []
        while true {
            let root = "/" + parts.joined(separator: "/")
            if isThere((root == "/" ? "" : root) + file) {
                return (root, below.isEmpty ? nil : below.reversed().joined(separator: "/"))
            }
            guard let last = parts.popLast() else { return nil }
            below.append(last)
        }
    }

    /// The mirror at or above a path; nil if there is none.
    static func mirror(holding path: String) -> String? {
        (mirror(holding: path, linkFile) ?? mirror(holding: path, markerFile)
            ?? mirror(holding: path, manifestFile))?.root
    }

    /// The path without links, of which the last parts need not exist.
    static func realPath(_ path: String) -> String? {
        var rest = absolutePath(path).split(separator: "/")
        var missing: [Substring] = []
        while true {
            let known = "/" + rest.joined(separator: "/")
            if let pointer = unsafe realpath(known, nil) {
                defer { unsafe free(pointer) }
                guard let real = unsafe String(validatingCString: pointer) else { return nil }
                return ([real == "/" ? "" : real] + missing.reversed().map(String.init))
                    .joined(separator: "/")
            }
            // What ".." leads to from a place that does not exist, nobody knows.
            guard let last = rest.popLast(), last != ".." else { return nil }
            missing.append(last)
        }
    }

    private static func isThere(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }
}
