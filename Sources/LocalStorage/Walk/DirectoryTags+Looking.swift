internal import CLibrary
package import SyncModel

/// The tags that were found in a directory: whether they count depends on where they came from.
package struct FoundTags: Sendable, Hashable {
    /// A file that would leave its directory out.
    package struct Tag: Sendable, Hashable {
        package let key: ObjectKey
        /// Nil for what is no file, or cannot be looked at.
        package let file: FileIdentity?
        package let reason: WalkIssue.Reason
    }

    /// The directory, without a "/" at its end.
    package let directory: [UInt8]
    package let tags: [Tag]
}

/// How a directory is looked at for a tag.
extension DirectoryTags {
    /// The tags in the directory with these names; nil if there are none.
    ///
    /// What cannot be looked at may be a tag.
    func found(
        _ names: DirectoryNames,
        in directory: OpenDirectory,
        at path: [UInt8]
    ) -> FoundTags? {
        let reasons = reasons(names, in: directory)
        guard !reasons.isEmpty else { return nil }
        let tags = reasons.map { name, reason in
            let status = (try? directory.status(of: PathBytes(name.utf8))) ?? nil
            let file = status.flatMap { $0.kind == .file ? $0.identity : nil }
            let key = ObjectKey(path + [UInt8(ascii: "/")] + name.utf8)
            return FoundTags.Tag(key: key, file: file, reason: reason)
        }
        return FoundTags(directory: path, tags: tags)
    }

    /// The names of tags, each with why it leaves the directory out.
    private func reasons(
        _ names: DirectoryNames,
        in directory: OpenDirectory
    ) -> [(name: String, reason: WalkIssue.Reason)] {
        guard hasFiles else { return [] }
        guard names.areAll else { return reasons(in: directory) }
        var found: [(name: String, reason: WalkIssue.Reason)] = []
        let marks = self.names.map { (text: $0, bytes: [UInt8]($0.utf8)) }
        for element in names.elements {
            let name = names.bytes(of: element)
            guard !element.isDirectory else { continue }
            if let mark = marks.first(where: { name.elementsEqual($0.bytes) }) {
                found.append((mark.text, .tagged(by: mark.text)))
                continue
            }
            guard recognizesCaches, name.elementsEqual(Self.cacheName.utf8) else { continue }
            if let reason = Self.cacheReason(in: directory) {
                found.append((Self.cacheName, reason))
            }
        }
        return found
    }

    /// The same of a directory whose names are not at hand.
    private func reasons(
        in directory: OpenDirectory
    ) -> [(name: String, reason: WalkIssue.Reason)] {
        var found: [(name: String, reason: WalkIssue.Reason)] = []
        var looked = Self.cacheName
        do throws(LocalError) {
            for name in names.sorted() {
                looked = name
                let status = try directory.status(of: PathBytes(name.utf8))
                if let status, status.kind != .directory { found.append((name, .tagged(by: name))) }
            }
            looked = Self.cacheName
            if recognizesCaches, !names.contains(looked),
                try directory.status(of: PathBytes(looked.utf8)) != nil,
                let reason = Self.cacheReason(in: directory)
            {
                found.append((looked, reason))
            }
        } catch {
            found.append((looked, .unreadableTag(errno: error.errno ?? EIO)))
        }
        return found
    }

    private static func cacheReason(in directory: OpenDirectory) -> WalkIssue.Reason? {
        do throws(LocalError) {
            let file = try directory.file(PathBytes(cacheName.utf8), cacheName)
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
    /// True if a directory above this key has a tag, wherever that came from, or is on another file
    /// system than it should be.
    package func isTagged(beneath key: ObjectKey, _ tags: DirectoryTags) -> Bool {
        guard !tags.isEmpty, let parent = try? RelativePath(key: key).parent else { return false }
        if tags.staysOnFileSystem, isOnOtherFileSystem(parent) { return true }
        return !self.tags(above: parent, tags).isEmpty
    }

    /// The tags in a directory and in those above it.
    package func tags(above path: RelativePath, _ tags: DirectoryTags) -> [FoundTags] {
        guard tags.hasFiles else { return [] }
        return sequence(first: path, next: \.parent).compactMap { path in
            do throws(LocalError) {
                let directory = try root.directory(beneath: path)
                return tags.found(try DirectoryNames(of: directory), in: directory, at: path.bytes)
            } catch {
                // What is not there has no tag, and what cannot be read is left out by no walk.
                return nil
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
