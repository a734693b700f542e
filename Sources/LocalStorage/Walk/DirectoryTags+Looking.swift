package import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// How a directory is looked at for a tag.
extension DirectoryTags {
    /// Why the directory with these names is left out; nil if it has no tag.
    ///
    /// What cannot be looked at may be a tag.
    func reason(_ names: DirectoryNames, in directory: OpenDirectory) -> WalkIssue.Reason? {
        guard hasFiles else { return nil }
        guard names.areAll else { return reason(in: directory) }
        let marks = self.names.map { (text: $0, bytes: [UInt8]($0.utf8)) }
        for element in names.elements {
            let name = names.bytes(of: element)
            guard !element.isDirectory else { continue }
            if let mark = marks.first(where: { name.elementsEqual($0.bytes) }) {
                return .tagged(by: mark.text)
            }
            guard recognizesCaches,
                name.elementsEqual(Self.cacheName.utf8)
            else { continue }
            if let reason = Self.cacheReason(in: directory) { return reason }
        }
        return nil
    }

    /// The same of a directory whose names are not at hand.
    private func reason(in directory: OpenDirectory) -> WalkIssue.Reason? {
        do throws(LocalError) {
            for name in names {
                let found = try directory.status(of: PathBytes(name.utf8))
                if let found, found.kind != .directory { return .tagged(by: name) }
            }
            guard recognizesCaches, try directory.status(of: PathBytes(Self.cacheName.utf8)) != nil
            else { return nil }
            return Self.cacheReason(in: directory)
        } catch {
            return .unreadableTag(errno: error.errno ?? EIO)
        }
    }

    private static func cacheReason(in directory: OpenDirectory) -> WalkIssue.Reason? {
        let calls = directory.calls
        do throws(LocalError) {
            let descriptor = try calls.open(
                at: directory.descriptor,
                PathBytes(cacheName.utf8),
                flags: SystemCalls.readingFlags,
                mode: 0
            )
            let file = OpenFile(adopting: descriptor, name: cacheName, calls: calls)
            guard try file.status().kind == .file else { return nil }
            let text = try file.read(at: 0, length: cacheSignature.count)
            return text == cacheSignature ? .tagged(by: cacheName) : nil
        } catch {
            switch error.errno {
            // A link is no tag by the specification, and one that is gone is none any more.
            case ELOOP, ENOENT: return nil
            default: return .unreadableTag(errno: error.errno ?? EIO)
            }
        }
    }
}

extension MirrorDirectory {
    /// True if a walk leaves out a directory above this key for a tag.
    package func isTagged(beneath key: ObjectKey, _ tags: DirectoryTags) -> Bool {
        guard !tags.isEmpty, let parent = try? RelativePath(key: key).parent else { return false }
        return isTagged(parent, tags)
    }

    /// True if a walk leaves out this directory for a tag in it or above it, or because it is on
    /// another file system.
    package func isTagged(_ path: RelativePath, _ tags: DirectoryTags) -> Bool {
        if tags.staysOnFileSystem, isOnOtherFileSystem(path) { return true }
        guard tags.hasFiles else { return false }
        return sequence(first: path, next: \.parent).contains { path in
            do throws(LocalError) {
                let directory = try root.directory(beneath: path)
                return tags.reason(try DirectoryNames(of: directory), in: directory) != nil
            } catch {
                // What is not there has no tag, and what cannot be read is left out by no walk.
                return false
            }
        }
    }

    private func isOnOtherFileSystem(_ path: RelativePath) -> Bool {
        guard let directory = try? root.directory(beneath: path),
            let (own, found) = try? (root.status(), directory.status())
        else { return false }
        return !found.isSameMount(as: own)
    }
}
