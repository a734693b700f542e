internal import CLibrary
internal import SyncModel

/// A directory of our own state: accessible only to this user, and not a link.
///
/// With `keepsMode`, others may read an existing one, whose mode is the user's own choice.
enum PrivateDirectory {
    static func open(
        at parent: Int32,
        _ name: PathBytes,
        path: String,
        createsIfMissing: Bool,
        keepsMode: Bool = false,
        calls: SystemCalls
    ) throws(LocalError) -> OpenDirectory {
        let shown = displayText(path.utf8)
        let (directory, isMade): (OpenDirectory, Bool)
        do throws(LocalError) {
            (directory, isMade) = try openOrMake(at: parent, name, createsIfMissing, calls)
        } catch {
            switch error.errno {
            case ENOENT: throw .missingDirectory(path: shown)
            case ENOTDIR, ELOOP:
                throw .unsafeDirectory(
                    path: shown,
                    reason: "it is a symbolic link or not a directory"
                )
            default: throw error
            }
        }
        let status = try directory.status()
        guard status.owner == SystemCalls.effectiveUser else {
            throw .unsafeDirectory(path: shown, reason: "it belongs to another user")
        }
        guard status.permissions & 0o022 == 0 else {
            if isMade {
                _ = try? calls.removeEmptyDirectory(at: parent, name)
                throw .unsafeDirectory(path: shown, reason: Self.withoutPermissions)
            }
            throw .unsafeDirectory(
                path: shown,
                reason: "other users can write to it; check what it contains, then chmod 700"
            )
        }
        if status.permissions & 0o077 != 0, !keepsMode {
            try calls.setMode(directory.descriptor, 0o700)
        }
        return directory
    }

    /// What is said of a file system on which everybody may write.
    private static var withoutPermissions: String {
        "this file system keeps no permissions, and other users can write to it; specify "
            + Wording.of(library: "a directory", program: "a --state-dir")
            + " on another one, or mount it with 'umask=077'"
    }

    /// The directory, and whether it was made.
    private static func openOrMake(
        at parent: Int32,
        _ name: PathBytes,
        _ createsIfMissing: Bool,
        _ calls: SystemCalls
    ) throws(LocalError) -> (OpenDirectory, Bool) {
        func open() throws(LocalError) -> OpenDirectory {
            let descriptor = try calls.open(
                at: parent,
                name,
                flags: SystemCalls.directoryFlags,
                mode: 0
            )
            return OpenDirectory(adopting: descriptor, calls: calls)
        }
        do throws(LocalError) {
            return (try open(), false)
        } catch {
            guard error.errno == ENOENT, createsIfMissing else { throw error }
            let isMade = try calls.makeDirectory(at: parent, name, mode: 0o700)
            return (try open(), isMade)
        }
    }
}

extension OpenDirectory {
    /// A directory of our own state in this one, whose path is `path`.
    ///
    /// - Throws: `missingDirectory`, `unsafeDirectory`.
    func privateDirectory(
        _ name: String,
        in path: String,
        makes: Bool
    ) throws(LocalError) -> OpenDirectory {
        try PrivateDirectory.open(
            at: descriptor,
            PathBytes(name.utf8),
            path: path + "/" + name,
            createsIfMissing: makes,
            calls: calls
        )
    }
}
