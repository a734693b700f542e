internal import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// How a walk looks at symbolic links that are mirrored.
extension DirectoryWalk.State {
    /// What is at a name; nil if nothing is.
    ///
    /// A file that is gone by now is no entry. One that a program saves by putting a new one in its
    /// place can lack its name for a moment, so absence is seen twice.
    func status(
        of name: PathBytes,
        in directory: OpenDirectory
    ) throws(LocalError) -> FileStatus? {
        if let found = try directory.status(of: name) { return found }
        return try directory.status(of: name)
    }

    /// What a link is at its own name.
    func noteLink(
        _ element: DirectoryNames.Element,
        at path: [UInt8],
        _ batch: inout WalkBatch
    ) {
        let reason: WalkIssue.Reason =
            switch (links, element.isLink) {
            case (.skip, _): .symbolicLink
            case (.store, true): .storedLink
            // The place of its key is not among the names.
            case (.store, false): .changedDuringWalk
            }
        batch.issues.append(WalkIssue(path: path, reason: reason))
    }

    /// Looks at a link for the entry of its key.
    mutating func inspectLink(
        at path: [UInt8],
        _ name: PathBytes,
        in directory: OpenDirectory,
        _ batch: inout WalkBatch
    ) {
        do throws(LocalError) {
            guard let status = try status(of: name, in: directory) else {
                return lose(path, &batch)
            }
            guard status.kind == .special(.symbolicLink) else {
                return batch.issues.append(WalkIssue(path: path, reason: .changedDuringWalk))
            }
            batch.entries.append(LocalEntry(path: ObjectKey(path), kind: .file(status.identity)))
        } catch {
            batch.issues.append(
                WalkIssue(path: path, reason: .unreadableEntry(errno: error.errno ?? EIO))
            )
        }
    }
}
