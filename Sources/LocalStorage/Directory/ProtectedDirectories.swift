internal import SyncModel

/// Directories that no run may fill, identified by inode, not by path.
enum ProtectedDirectories {
    private static let systemDirectories: [StaticString] = [
        "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/opt", "/proc",
        "/run", "/sbin", "/sys", "/usr", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/local",
        "/usr/local/bin", "/usr/local/lib", "/usr/sbin", "/usr/share", "/var", "/var/lib",
        "/var/log", "/Applications", "/Library", "/System", "/Users", "/private", "/private/etc",
        "/private/var",
    ]

    private static let privateNames: [StaticString] = [
        "/.ssh", "/.gnupg", "/.aws", "/.aliyun", "/.config", "/.local", "/Library",
    ]

    /// Why `directory` must not be mirrored; nil if it may be.
    private static func refusal(
        of directory: FileStatus,
        homeDirectory: String?,
        calls: SystemCalls
    ) -> String? {
        func isAt(_ path: some Collection<UInt8>) -> Bool {
            calls.statusFollowingLinks(PathBytes(path))?.isSameObject(as: directory) ?? false
        }
        if isAt("/".utf8) { return "it is the root of the file system" }
        for path in systemDirectories where isAt(path.description.utf8) {
            return "it is a directory of the system"
        }
        guard let homeDirectory, !homeDirectory.isEmpty, !homeDirectory.utf8.contains(0) else {
            return nil
        }
        if isAt(homeDirectory.utf8) {
            return "it is your home directory, where programs look for their configuration"
        }
        for name in privateNames where isAt((homeDirectory + name.description).utf8) {
            return "it holds your credentials or settings"
        }
        return nil
    }

    /// Why nothing may be written into the directory; nil if it may.
    ///
    /// - Throws: The same where osssync's own files would be in it, and for a directory that is of
    ///   no use to anyone else.
    static func check(
        _ root: OpenDirectory,
        _ status: FileStatus,
        path: String,
        homeDirectory: String?,
        mayBePushed: Bool
    ) throws(LocalError) -> LocalError? {
        let shown = displayText(path.utf8)
        let reason = refusal(
            of: status,
            homeDirectory: homeDirectory,
            calls: root.calls
        )
        let refusal = reason.map { LocalError.refusedDirectory(path: shown, reason: $0) }
        if let refusal, !mayBePushed { throw refusal }
        if let kind = root.calls.pseudoFileSystem(root.descriptor) {
            throw .unsafeDirectory(
                path: shown,
                reason: "it is the \(kind) file system of the kernel"
            )
        }
        if IdentityFile.isState(root) {
            throw .unsafeDirectory(path: shown, reason: "it is the state directory of a mirror")
        }
        return refusal
    }
}
