internal import CLibrary
internal import SyncModel

/// An open directory; everything beneath it is reached from its descriptor, so that renaming or
/// replacing one of its parents leads nowhere else.
final class OpenDirectory: Sendable {
    let descriptor: Int32
    let calls: SystemCalls

    /// Takes over `descriptor`.
    init(adopting descriptor: Int32, calls: SystemCalls) {
        self.descriptor = descriptor
        self.calls = calls
    }

    deinit {
        SystemCalls.close(descriptor)
    }

    func status() throws(LocalError) -> FileStatus {
        try calls.status(of: descriptor)
    }

    /// What is at `name`, a single component; nil if nothing is.
    func status(of name: PathBytes) throws(LocalError) -> FileStatus? {
        try calls.status(at: descriptor, name)
    }

    /// The file called `name`, a single component that is not a link; `shown` in messages.
    func file(
        _ name: PathBytes,
        _ shown: String,
        flags: Int32 = SystemCalls.readingFlags,
        mode: UInt32 = 0
    ) throws(LocalError) -> OpenFile {
        let opened = try calls.open(at: descriptor, name, flags: flags, mode: mode)
        return OpenFile(adopting: opened, name: shown, calls: calls)
    }

    /// The directory called `name`, a single component that is not a link.
    func subdirectory(_ name: PathBytes) throws(LocalError) -> OpenDirectory {
        let opened = try calls.open(
            at: descriptor,
            name,
            flags: SystemCalls.directoryFlags,
            mode: 0
        )
        return OpenDirectory(adopting: opened, calls: calls)
    }

    /// The directory called `name`, made with `mode` if it is absent.
    func subdirectory(
        _ name: PathBytes,
        creatingWithMode mode: UInt32
    ) throws(LocalError) -> OpenDirectory {
        do throws(LocalError) {
            return try subdirectory(name)
        } catch {
            guard error.errno == ENOENT else { throw error }
            _ = try calls.makeDirectory(at: descriptor, name, mode: mode)
            return try subdirectory(name)
        }
    }
}

extension OpenDirectory {
    /// Writes a new private file beside an older one and renames it over that one.
    ///
    /// Synchronized, it survives a power cut; else the file may be old, empty or gone after one.
    func replaceFile(
        _ name: PathBytes,
        _ content: [UInt8],
        synchronizes: Bool
    ) throws(LocalError) {
        try replaceFile(name, content, synchronizes: synchronizes, by: PartialName.random().text)
    }

    /// The same by a temporary file of this name, which must not exist.
    func replaceFile(
        _ name: PathBytes,
        _ content: [UInt8],
        synchronizes: Bool,
        by temporaryName: String
    ) throws(LocalError) {
        let temporary = PathBytes(temporaryName.utf8)
        let flags = SystemCalls.creationFlags
        let file = try file(temporary, temporaryName, flags: flags, mode: 0o600)
        do throws(LocalError) {
            try file.write(content, at: 0)
            if synchronizes { try file.synchronize() }
            try calls.rename(from: descriptor, temporary, to: descriptor, name)
            if synchronizes { try calls.synchronize(descriptor) }
        } catch {
            // The first failure is the one to report.
            _ = try? calls.unlink(at: descriptor, temporary)
            throw error
        }
    }

    /// True if this is `other` or lies beneath it, seen from here upwards.
    ///
    /// Nothing is opened: parents may be searched by users who may not list them.
    func isWithin(_ other: OpenDirectory) throws(LocalError) -> Bool {
        let goal = try other.status()
        var status = try self.status()
        var path: [UInt8] = []
        while !status.isSameObject(as: goal) {
            path += "../".utf8
            guard let parent = try self.status(of: PathBytes(path)),
                !parent.isSameObject(as: status)
            else { return false }
            status = parent
        }
        return true
    }
}

// MARK: - Paths of several components

extension OpenDirectory {
    /// The directory at `path`, no component of which is a link.
    ///
    /// - Throws: `absent`, `parentIsFile` or `symlinkInPath` with the component that is to blame.
    func directory(beneath path: RelativePath) throws(LocalError) -> OpenDirectory {
        if let opened = try openAtOnce(path) { return opened }
        return try openByComponents(path) { _ in nil }
    }

    /// The same, making the components that are absent.
    func directory(
        beneath path: RelativePath,
        creatingWithMode mode: UInt32
    ) throws(LocalError) -> OpenDirectory {
        try directory(beneath: path) { _ in mode }
    }

    /// The same, making each component that is absent with the mode that `creating` has for it.
    func directory(
        beneath path: RelativePath,
        creating mode: (RelativePath) throws(LocalError) -> UInt32
    ) throws(LocalError) -> OpenDirectory {
        if let opened = try openAtOnce(path) { return opened }
        return try openByComponents(path, creating: mode)
    }

    /// One call for the whole path; nil if it failed for a reason that walking step by step reports
    /// better, or avoids.
    private func openAtOnce(_ path: RelativePath) throws(LocalError) -> OpenDirectory? {
        do throws(LocalError) {
            let opened = try calls.openBeneath(
                descriptor,
                PathBytes(path.bytes),
                flags: SystemCalls.directoryFlags
            )
            guard let opened else { return nil }
            return OpenDirectory(adopting: opened, calls: calls)
        } catch {
            switch error.errno {
            case ENOENT, ENOTDIR, ELOOP, EXDEV: return nil
            default: throw error
            }
        }
    }

    private func openByComponents(
        _ path: RelativePath,
        creating mode: (RelativePath) throws(LocalError) -> UInt32?
    ) throws(LocalError) -> OpenDirectory {
        let components = sequence(first: path, next: \.parent).reversed()
        var current = self
        for component in components {
            let name = PathBytes(component.name)
            // A path made from a key has no such component; it would lead out all the same.
            guard !name.isDots else { throw .targetChanged(component) }
            do throws(LocalError) {
                do throws(LocalError) {
                    current = try current.subdirectory(name)
                } catch {
                    guard error.errno == ENOENT, let mode = try mode(component) else { throw error }
                    // Escaped names lie beneath none of the directories that may be private.
                    let isOfNames = component.bytes.elementsEqual(EscapedName.directoryName.utf8)
                    let created = isOfNames ? mode & 0o700 : mode
                    current = try current.subdirectory(name, creatingWithMode: created)
                }
            } catch {
                throw try current.explanation(of: error, at: name, component)
            }
        }
        return current
    }

    /// The directory that holds `path`, beneath this one.
    func parent(of path: RelativePath) throws(LocalError) -> OpenDirectory {
        guard let parent = path.parent else { return self }
        return try directory(beneath: parent)
    }

    /// What is at `path`, beneath this one; nil if not even the directory is there that it lies in.
    func state(at path: RelativePath) throws(LocalError) -> LocalState? {
        do throws(LocalError) {
            if path.isFollowed {
                guard case .file(_, let status) = try followed(path) else { return .absent }
                return .file(status.identity)
            }
            let status = try parent(of: path).status(of: PathBytes(path.name))
            guard path.isLink, let status else { return status?.state ?? .absent }
            // A link is gone where a file has its name.
            return switch status.kind {
            case .special(.symbolicLink): .file(status.identity)
            case .file: .absent
            case .directory, .special: status.state
            }
        } catch {
            switch error {
            case .absent, .parentIsFile: return nil
            default: throw error
            }
        }
    }

    /// What a symbolic link leads to.
    enum Followed {
        case file(RelativePath, FileStatus)
        case other(WalkIssue.Target)
    }

    /// Where the link at `path` leads, which is resolved by its text: beneath this directory, over
    /// no other link, and only to a regular file.
    func followed(_ path: RelativePath) throws(LocalError) -> Followed {
        let link = try OpenFile(link: PathBytes(path.name), in: parent(of: path), path)
        guard let text = link.linkText, let target = path.target(ofLink: text) else {
            return .other(.outside)
        }
        do throws(LocalError) {
            guard let status = try parent(of: target).status(of: PathBytes(target.name)) else {
                return .other(.nothing)
            }
            return switch status.kind {
            case .file: .file(target, status)
            case .directory: .other(.directory)
            case .special(.symbolicLink): .other(.outside)
            case .special: .other(.special)
            }
        } catch {
            switch error {
            case .absent, .parentIsFile: return .other(.nothing)
            case .symlinkInPath, .targetChanged: return .other(.outside)
            default: throw error
            }
        }
    }

    /// Why `name` in this directory could not be opened as a directory.
    private func explanation(
        of error: LocalError,
        at name: PathBytes,
        _ component: RelativePath
    ) throws(LocalError) -> LocalError {
        switch error.errno {
        case ENOENT: return .absent(component)
        case ENOTDIR, ELOOP:
            // A link opened with O_NOFOLLOW and O_DIRECTORY is ENOTDIR on Linux, ELOOP on a Mac.
            switch try status(of: name)?.kind {
            case .special(.symbolicLink): return .symlinkInPath(component)
            case .directory: return .targetChanged(component)
            case .file, .special: return .parentIsFile(component)
            case nil: return .absent(component)
            }
        default: return error
        }
    }
}
