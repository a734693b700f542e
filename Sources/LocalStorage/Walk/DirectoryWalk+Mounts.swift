internal import SyncModel

/// Directories that a walk does not enter for what they are.
extension DirectoryWalk.State {
    /// Notes a directory at which another mount begins; why it is left out, or nil.
    ///
    /// What shows the kernel is no part of the mirror, also where it is not mounted later.
    mutating func noteMount(
        at path: [UInt8],
        _ directory: OpenDirectory,
        _ status: FileStatus
    ) -> WalkIssue.Reason? {
        guard let around = levels.last, status.isMountPoint(in: around.status) else { return nil }
        if let kind = directory.calls.pseudoFileSystem(directory.descriptor) {
            return .pseudoFileSystem(kind)
        }
        // Where the walk asks of tags, it comes again.
        if mountPoints.last != path { mountPoints.append(path) }
        return tags.staysOnFileSystem ? .otherFileSystem : nil
    }

    /// The same of a file, which may be a name that the kernel gives to something of its own.
    mutating func noteMount(
        ofFile path: [UInt8],
        _ name: PathBytes,
        in directory: OpenDirectory,
        _ status: FileStatus
    ) -> WalkIssue.Reason? {
        guard let around = levels.last, status.isMountPoint(in: around.status) else { return nil }
        let calls = directory.calls
        if let descriptor = try? calls.openLink(at: directory.descriptor, name),
            let kind = calls.pseudoFileSystem(
                OpenFile(adopting: descriptor, name: "", calls: calls).descriptor
            )
        {
            return .pseudoFileSystem(kind)
        }
        mountPoints.append(path)
        return nil
    }
}
