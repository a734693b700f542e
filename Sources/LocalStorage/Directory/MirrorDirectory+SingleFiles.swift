internal import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension MirrorDirectory {
    /// The path of the file that `path` leads to, over all symbolic links.
    ///
    /// Only for paths that a user gave: what is found below a mirror is never followed.
    package static func resolved(_ path: String) throws(LocalError) -> String {
        guard !path.utf8.contains(0) else { throw .missingDirectory(path: displayText(path.utf8)) }
        guard let found = unsafe realpath(path, nil) else {
            if errno == ENOENT { throw .missingFile }
            throw .systemCall(
                SystemCallError(call: "realpath", errno: errno, path: displayText(path.utf8))
            )
        }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }
}
