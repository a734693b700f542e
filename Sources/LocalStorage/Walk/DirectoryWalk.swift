internal import CLibrary
internal import CSystem
internal import SyncModel
internal import Synchronization

/// Every file and directory beneath the mirrored directory, in the byte order of their keys.
///
/// One element is looked at when it is asked for. In memory are the names of the directories from
/// the root to the current one; open are the innermost of them. Links are not followed, nothing but
/// directories is opened, and osssync's own state is left out. Where links are stored, each is an
/// entry of its key, and an issue at its own name; where names are escaped, such files are entries
/// of their keys.
package final class DirectoryWalk: Sendable {
    let walk: Mutex<MergedWalk>

    /// What to leave out, by path; directories are left out with all they hold, unread.
    package typealias Exclusion = @Sendable (_ path: [UInt8], _ isDirectory: Bool) -> Bool

    init(
        root: OpenDirectory,
        path: String,
        within ranges: KeyRanges,
        tags: DirectoryTags,
        asksOfTags: Bool,
        links: LinkPolicy,
        names: NamePolicy,
        looksBeneathUnnamed: Bool,
        notFollowing hides: @escaping Exclusion,
        leavingOut isExcluded: @escaping Exclusion
    ) {
        let ordinary = State(
            root: root,
            path: path,
            ranges: ranges,
            tags: tags,
            asksOfTags: asksOfTags,
            links: links,
            looksBeneathUnnamed: looksBeneathUnnamed,
            hides: hides,
            isExcluded: isExcluded
        )
        let escaped = names == .escape ? EscapedWalk(root: root, within: ranges, links: links) : nil
        walk = Mutex(MergedWalk(ordinary, escaped))
    }

    /// Up to `limit` further entries.
    ///
    /// - Throws: If the mirrored directory itself cannot be read; the rest becomes issues.
    package func next(limit: Int) throws(LocalError) -> WalkBatch {
        precondition(limit > 0, "a batch holds something")
        return try walk.withLock { walk throws(LocalError) in try walk.next(limit: limit) }
    }

    /// Directories and files where other mounts begin, as far as the walk came.
    package var mountPoints: [[UInt8]] { walk.withLock { $0.ordinary.mountPoints } }

    /// True if a name was gone when its turn came: what it was may have another name now, at a
    /// place that the walk had passed.
    package var hasLostNames: Bool { walk.withLock { $0.ordinary.hasLostNames } }
}

extension DirectoryWalk {
    /// One directory that is being walked.
    struct Level {
        /// Nil while deeper levels need the descriptors.
        var directory: OpenDirectory?
        let status: FileStatus
        let names: DirectoryNames
        var position = 0
        /// True if one of the names was gone when its turn came.
        var hasLost = false
        /// The path with a "/" at its end; empty for the root.
        let prefix: [UInt8]
        /// True if everything beneath it is walked.
        let isWhole: Bool
    }

    struct State {
        /// Descriptors that deep trees may hold at a time.
        static let maximumOpenLevels = 8

        /// By one of them a state directory is known.
        static let stateFiles: [StaticString] = ["marker", "config", "manifest.db"]

        let root: OpenDirectory
        /// The root's, for messages.
        let path: String
        let ranges: KeyRanges
        let tags: DirectoryTags
        let asksOfTags: Bool
        let links: LinkPolicy
        let hides: DirectoryWalk.Exclusion
        let isExcluded: DirectoryWalk.Exclusion
        var question: FoundTags?
        /// What was said of the tags that were asked about last.
        var answered: (directory: [UInt8], reason: WalkIssue.Reason?)?
        var levels: [Level] = []
        let looksBeneathUnnamed: Bool
        var unnamed = UnnamedTree()
        var isStarted = false
        var mountPoints: [[UInt8]] = []
        var hasLostNames = false

        init(
            root: OpenDirectory,
            path: String,
            ranges: KeyRanges,
            tags: DirectoryTags,
            asksOfTags: Bool,
            links: LinkPolicy,
            looksBeneathUnnamed: Bool,
            hides: @escaping DirectoryWalk.Exclusion,
            isExcluded: @escaping DirectoryWalk.Exclusion
        ) {
            self.root = root
            self.path = path
            self.ranges = ranges
            self.tags = tags
            self.asksOfTags = asksOfTags
            self.links = links
            self.looksBeneathUnnamed = looksBeneathUnnamed
            self.hides = hides
            self.isExcluded = isExcluded
        }
    }
}

extension DirectoryWalk.State {
    mutating func next(limit: Int) throws(LocalError) -> WalkBatch {
        var batch = WalkBatch(entries: [], issues: [], isFinished: false)
        if !isStarted {
            let names = try DirectoryNames(of: root, prefix: [], within: ranges, links: links)
            levels = [
                DirectoryWalk.Level(
                    directory: root,
                    status: try root.status(),
                    names: names,
                    prefix: [],
                    isWhole: ranges.isAll
                )
            ]
            isStarted = true
        }
        // Issues count as well, so that a directory full of links has bounded batches, too.
        while batch.entries.count + batch.issues.count < limit, question == nil {
            guard try step(&batch) else {
                batch.isFinished = true
                break
            }
        }
        return batch
    }

    /// Looks at one name; false at the end.
    private mutating func step(_ batch: inout WalkBatch) throws(LocalError) -> Bool {
        if !unnamed.isEmpty {
            stepUnnamed(&batch)
            return true
        }
        guard let level = levels.last else { return false }
        guard level.position < level.names.elements.count else {
            if level.hasLost { hasLostNames = true }
            try checkIsThere(level, &batch)
            levels.removeLast()
            return !levels.isEmpty
        }
        guard let directory = reopenedDirectory(of: level) else {
            batch.issues.append(
                WalkIssue(path: [UInt8](level.prefix.dropLast()), reason: .changedDuringWalk)
            )
            levels.removeLast()
            return !levels.isEmpty
        }
        let element = level.names.elements[level.position]
        levels[levels.count - 1].position += 1
        let name = level.names.bytes(of: element)
        let path = level.prefix + name
        // Of a name whose kind was unknown, it is known now.
        if !level.isWhole, !leads(path, element.isDirectory) { return true }
        if element.isLinkKey {
            let own = level.names.ownBytes(of: element)
            // The place of its own name says why it is not taken.
            guard !RelativePath.isReserved(own), isValidUTF8([UInt8](own)),
                !isExcluded(path, false)
            else { return true }
            inspectLink(at: path, level.names.name(of: element), in: directory, &batch)
            return true
        }
        if RelativePath.isReserved(name) {
            let reason = reservation(of: element, level, in: directory)
            if let reason, !isExcluded(path, element.isDirectory) {
                batch.issues.append(WalkIssue(path: path, reason: reason))
            }
            return true
        }
        if isExcluded(path, element.isDirectory) {
            if element.isLink || element.isSpecial {
                batch.issues.append(WalkIssue(path: path, reason: .excludedEntry))
            }
            return true
        }
        guard isValidUTF8([UInt8](name)) else {
            let own = level.names.name(of: element)
            let files = element.isDirectory ? [] : file(of: own, in: directory)
            batch.issues.append(WalkIssue(path: path, reason: .nameNotUTF8, files: files))
            if element.isDirectory { enterUnnamed(path, own, in: directory) }
            return true
        }
        if element.isDirectory {
            enter(path, level.names.name(of: element), in: directory, &batch)
        } else {
            inspect(element, at: path, level.names.name(of: element), in: directory, &batch)
        }
        return true
    }

    /// True if a key of the walk is at or beneath `path`.
    private func leads(_ path: [UInt8], _ isDirectory: Bool) -> Bool {
        isDirectory
            ? ranges.meets(prefix: ObjectKey(path + [UInt8(ascii: "/")]))
            : ranges.contains(ObjectKey(path))
    }

    /// If their directory is gone too, names that are missing need not have been deleted; and if it
    /// was renamed, its files have different keys.
    private func checkIsThere(
        _ level: DirectoryWalk.Level,
        _ batch: inout WalkBatch
    ) throws(LocalError) {
        guard let path = try? RelativePath(key: ObjectKey(level.prefix)) else {
            guard level.hasLost else { return }
            guard try root.status().linkCount > 0 else {
                throw .missingDirectory(path: displayText(path.utf8))
            }
            return
        }
        let around = levels.dropLast().last?.directory
        let named = try? around?.status(of: PathBytes(path.name))
        if named?.isSameObject(as: level.status) == true { return }
        let found = try? root.directory(beneath: path).status()
        if found?.isSameObject(as: level.status) == true { return }
        batch.issues.append(WalkIssue(path: path.bytes, reason: .changedDuringWalk))
    }

    /// What a reserved name is, which is not walked in any case; nil for this mirror's own state
    /// and escaped names.
    private func reservation(
        of element: DirectoryNames.Element,
        _ level: DirectoryWalk.Level,
        in directory: OpenDirectory
    ) -> WalkIssue.Reason? {
        let stateName = RelativePath.stateDirectoryName.utf8
        let isState = level.names.bytes(of: element).elementsEqual(stateName)
        if level.prefix.isEmpty {
            if isState { return nil }
            let name = level.names.bytes(of: element)
            for own in [EscapedName.directoryName, RelativePath.workDirectoryName]
            where element.isDirectory && name.elementsEqual(own.utf8) {
                return nil
            }
        }
        guard isState, element.isDirectory,
            let state = try? directory.subdirectory(level.names.name(of: element))
        else { return .reservedName }
        let holdsState = Self.stateFiles.contains { name in
            (try? state.status(of: PathBytes(name))) ?? nil != nil
        }
        return holdsState ? .nestedMirror : .reservedName
    }

    /// The directory of the innermost level; nil if what is there now is another one.
    private mutating func reopenedDirectory(of level: DirectoryWalk.Level) -> OpenDirectory? {
        if let directory = level.directory { return directory }
        // For any failure, the caller reports a directory that changed meanwhile.
        guard let path = try? RelativePath(key: ObjectKey(level.prefix)),
            let directory = try? root.directory(beneath: path),
            let status = try? directory.status(), status.isSameObject(as: level.status)
        else { return nil }
        levels[levels.count - 1].directory = directory
        return directory
    }

    mutating func lose(_ path: [UInt8], _ batch: inout WalkBatch) {
        levels[levels.count - 1].hasLost = true
        batch.issues.append(WalkIssue(path: path, reason: .disappeared))
    }

    private mutating func inspect(
        _ element: DirectoryNames.Element,
        at path: [UInt8],
        _ name: PathBytes,
        in directory: OpenDirectory,
        _ batch: inout WalkBatch
    ) {
        do throws(LocalError) {
            guard let status = try status(of: name, in: directory) else {
                return lose(path, &batch)
            }
            switch status.kind {
            case .file where links == .store && ObjectKey(path).isOfLink:
                let file = status.identity
                batch.issues.append(WalkIssue(path: path, reason: .linkName, files: [file]))
            case .file:
                if let reason = noteMount(ofFile: path, name, in: directory, status) {
                    return batch.issues.append(WalkIssue(path: path, reason: reason))
                }
                var entry = LocalEntry(
                    path: ObjectKey(path),
                    kind: .file(status.identity),
                    permissions: status.permissions & 0o777
                )
                entry.mayBeOthers = mayBeOthers(status)
                if entry.mayBeOthers {
                    entry.birth = directory.calls.birth(at: directory.descriptor, name)
                }
                batch.entries.append(entry)
            case .directory:
                // Its place in the order is another one, which may have been passed.
                batch.issues.append(WalkIssue(path: path, reason: .changedDuringWalk))
            case .special(.symbolicLink):
                try noteLink(element, at: path, &batch)
            case .special(let kind):
                batch.issues.append(WalkIssue(path: path, reason: .special(kind)))
            }
        } catch {
            batch.issues.append(
                WalkIssue(path: path, reason: .unreadableEntry(errno: error.errno ?? EIO))
            )
        }
    }

    private mutating func enter(
        _ path: [UInt8],
        _ name: PathBytes,
        in directory: OpenDirectory,
        _ batch: inout WalkBatch
    ) {
        let prefix = path + [UInt8(ascii: "/")]
        guard levels.count <= RelativePath.maximumDepth else {
            batch.issues.append(WalkIssue(path: path, reason: .tooDeep))
            return
        }
        do throws(LocalError) {
            let opened = try directory.subdirectory(name)
            let status = try opened.status()
            if status.isEncrypted, osssync_is_locked(opened.descriptor) == 1 {
                let reason = WalkIssue.Reason.unreadableDirectory(errno: WalkIssue.lockedErrno)
                return batch.issues.append(WalkIssue(path: path, reason: reason))
            }
            if let reason = noteMount(at: path, opened, status) {
                batch.issues.append(WalkIssue(path: path, reason: reason))
                return
            }
            let names = try DirectoryNames(
                of: opened,
                prefix: prefix,
                within: ranges,
                links: links
            )
            if names.mayBeState, IdentityFile.isState(opened) {
                batch.issues.append(WalkIssue(path: path, reason: .state))
                return
            }
            if let found = tags.found(names, in: opened, at: path), stops(at: found, &batch) {
                return
            }
            if ranges.contains(ObjectKey(prefix)) {
                var entry = LocalEntry(
                    path: ObjectKey(prefix),
                    kind: .directory(isEmpty: names.isOfEmptyDirectory),
                    permissions: opened.chosenPermissions(status, in: directory)
                )
                entry.mayBeOthers = mayBeOthers(status)
                batch.entries.append(entry)
            }
            guard !names.elements.isEmpty else { return }
            levels.append(
                DirectoryWalk.Level(
                    directory: opened,
                    status: status,
                    names: names,
                    prefix: prefix,
                    isWhole: ranges.cover(prefix: ObjectKey(prefix))
                )
            )
            // Index 0 is the root, which stays open in any case.
            let closing = levels.count - 1 - Self.maximumOpenLevels
            if closing > 0 { levels[closing].directory = nil }
        } catch {
            noteFailure(error, at: path, name, in: directory, &batch)
        }
    }
}
