internal import CLibrary
internal import SyncModel

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
    ) throws(LocalError) {
        let reason: WalkIssue.Reason
        switch (links, element.isLink) {
        case (.skip, _): reason = .symbolicLink
        case (.follow, _): return try follow(path, &batch)
        case (.store, true):
            // What is stored nowhere is in the place of its file, and of nothing else.
            let isExcluded = hides([UInt8](ObjectKey(path).ofLink.bytes), false)
            reason = isExcluded ? .excludedEntry : .storedLink
        // The place of its key is not among the names.
        case (.store, false): reason = .changedDuringWalk
        }
        batch.issues.append(WalkIssue(path: path, reason: reason))
    }

    /// What a link leads to: a file of the mirrored directory, or an issue.
    ///
    /// Directories are walked by their own names only, so that no walk goes round in a circle.
    private func follow(_ path: [UInt8], _ batch: inout WalkBatch) throws(LocalError) {
        let key = ObjectKey(path)
        // The rules are read over no link, and a key of this form is that of a stored one.
        guard let link = try? RelativePath(following: key), !key.isOfLink,
            !FoldedName.mayBeOne(path[...], RelativePath.ignoreFileName)
        else {
            return batch.issues.append(WalkIssue(path: path, reason: .unfollowedLink(.outside)))
        }
        do throws(LocalError) {
            switch try root.followed(link) {
            case .file(let target, _) where isHidden(target):
                batch.issues.append(WalkIssue(path: path, reason: .unfollowedLink(.outside)))
            case .file(_, let status):
                let file = LocalEntry.Kind.file(status.identity)
                batch.entries.append(LocalEntry(path: key, kind: file, isLink: true))
            case .other(let target):
                batch.issues.append(WalkIssue(path: path, reason: .unfollowedLink(target)))
            }
        } catch {
            switch error {
            case .absent, .targetChanged:
                batch.issues.append(WalkIssue(path: path, reason: .changedDuringWalk))
            default: throw error
            }
        }
    }

    /// True if the target, or a directory above it, is left out.
    private func isHidden(_ target: RelativePath) -> Bool {
        let bytes = target.bytes
        return bytes.indices.contains { index in
            bytes[index] == UInt8(ascii: "/") && hides([UInt8](bytes[..<index]), true)
        } || hides([UInt8](bytes), false)
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
            batch.entries.append(
                LocalEntry(path: ObjectKey(path), kind: .file(status.identity), isLink: true)
            )
        } catch {
            batch.issues.append(
                WalkIssue(path: path, reason: .unreadableEntry(errno: error.errno ?? EIO))
            )
        }
    }
}
