internal import CLibrary
internal import SyncModel
internal import Synchronization

/// Directories that a walk does not enter for what they are or what is in them.
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

    /// Notes a directory that could not be entered.
    mutating func noteFailure(
        _ error: LocalError,
        at path: [UInt8],
        _ name: PathBytes,
        in directory: OpenDirectory,
        _ batch: inout WalkBatch
    ) {
        switch error.errno {
        case ENOENT where (try? directory.status(of: name)) == .some(nil):
            lose(path, &batch)
        case ENOENT, ENOTDIR, ELOOP:
            batch.issues.append(WalkIssue(path: path, reason: .changedDuringWalk))
        default:
            // It exists, and so do its files, but they are unknown.
            let key = ObjectKey(path + [UInt8(ascii: "/")])
            if ranges.contains(key) {
                batch.entries.append(LocalEntry(path: key, kind: .directory(isEmpty: false)))
            }
            batch.issues.append(
                WalkIssue(path: path, reason: .unreadableDirectory(errno: error.errno ?? EIO))
            )
        }
    }

    /// True if another user may have put what is `status` into the innermost directory.
    func mayBeOthers(_ status: FileStatus) -> Bool {
        guard let around = levels.last?.status else { return false }
        return around.permissions & 0o1002 == 0o002 && status.owner != around.owner
            && status.owner != SystemCalls.effectiveUser
    }

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
        unnamed.enter(path, name, in: directory, around)
    }

    /// Looks at one name beneath it.
    mutating func stepUnnamed(_ batch: inout WalkBatch) {
        guard let found = unnamed.next(), !found.isReserved,
            !isExcluded(found.path, found.isDirectory)
        else { return }
        if found.isDirectory {
            return unnamed.enter(found.path, found.name, in: found.directory, found.status)
        }
        let files = file(of: found.name, in: found.directory)
        guard !files.isEmpty else { return }
        batch.issues.append(WalkIssue(path: unnamed.path, reason: .beneathUnnamed, files: files))
    }

    mutating func answer(_ reason: WalkIssue.Reason?) {
        guard let question else { return }
        answered = (question.directory, reason)
        self.question = nil
    }

    /// True if nothing more is to be done with a directory for now: it is left out by `found`,
    /// or that is asked.
    mutating func stops(at found: FoundTags, _ batch: inout WalkBatch) -> Bool {
        let reason: WalkIssue.Reason?
        if let answered, answered.directory == found.directory {
            reason = answered.reason
            self.answered = nil
        } else if asksOfTags {
            question = found
            // It comes again.
            levels[levels.count - 1].position -= 1
            return true
        } else {
            reason = found.tags.first?.reason
        }
        guard let reason else { return false }
        let tag = found.tags.first { $0.reason == reason }?.file
        batch.issues.append(
            WalkIssue(path: found.directory, reason: reason, files: tag.map { [$0] } ?? [])
        )
        return true
    }
}

/// How a walk asks whether tags count.
extension DirectoryWalk {
    /// The tags that the walk waits to be told of; nil if it waits for nothing.
    package var question: FoundTags? { walk.withLock { $0.ordinary.question } }

    /// Says why the directory in ``question`` is left out; nil if it is not.
    package func answer(_ reason: WalkIssue.Reason?) {
        walk.withLock { $0.ordinary.answer(reason) }
    }
}
