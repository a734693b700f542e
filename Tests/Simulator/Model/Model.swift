internal import SyncModel

/// What may be where: plain dictionaries, and no idea of how the engine gets there.
///
/// It does not predict the order of things. For each path it knows the contents that may be there,
/// for each key the versions that were, and which of the user's contents must not be lost. Keys are
/// without the remote's prefix.
struct Model {
    /// A content that a user put at a path and that no run has mirrored there since.
    struct Held: Hashable {
        let path: ObjectKey
        let content: ContentID
    }

    var contents = Contents()
    /// Whether keys that fit no file name have files, which are in no directory of others.
    var names = NamePolicy.skip
    /// The content of every version that a key ever had, by its tag.
    fileprivate(set) var versions: [ObjectKey: [String: ContentID]] = [:]
    /// Tags that two versions of one key had.
    fileprivate(set) var sharedTags: [ObjectKey: Set<String>] = [:]
    /// What a user saw at a path and replaced or removed there.
    private(set) var superseded: Set<Held> = []
    /// What may be found at a path: its versions, and what a user put there.
    fileprivate(set) var allowed: [ObjectKey: Set<ContentID>] = [:]
    /// What must not be lost without a flag that allows it.
    fileprivate(set) var kept: Set<Held> = []
    /// Links and special files, which are left alone.
    private(set) var keptOthers: Set<ObjectKey> = []
    /// The directory as it was last seen.
    var tree: [ObjectKey: DiskEntry] = [:]
    /// When each file was last changed in any way, as it was last seen.
    private(set) var changed: [ObjectKey: Int64] = [:]
    /// The objects' contents as they are.
    private(set) var remote: [ObjectKey: ContentID] = [:]
    /// What was at a path at any time.
    private var everLocal: [ObjectKey: Set<ContentID>] = [:]
    /// What was at a path at some time of this run.
    private(set) var seenInRun: [ObjectKey: Set<ContentID>] = [:]
    /// Paths that the user emptied, or that a directory needed, until there is something again.
    private(set) var removedByUser: Set<ObjectKey> = []
    /// Paths that the user emptied in this run and did not fill again.
    private(set) var removedInRun: Set<ObjectKey> = []
    /// Paths without a file at some time of this run.
    private(set) var absentInRun: Set<ObjectKey> = []

    // MARK: - The remote

    mutating func wrote(_ key: ObjectKey, _ content: ContentID, tag: String) {
        noteVersion(key, content, tag: tag)
        allowed[key, default: []].insert(content)
        remote[key] = content
        // Both sides have it: whoever replaces it replaces what is mirrored.
        kept.remove(Held(path: key, content: content))
    }

    mutating func deleted(_ key: ObjectKey) { remote.removeValue(forKey: key) }

    // MARK: - The user

    /// `isMirrored` if the remote has the very content at this path, also by a link.
    mutating func userPut(_ path: ObjectKey, _ content: ContentID, isMirrored: Bool) {
        release(path)
        allowed[path, default: []].insert(content)
        if wasAbsent(path) { absentInRun.insert(path) }
        seenInRun[path, default: []].insert(content)
        removedInRun.remove(path)
        if !isMirrored, content != Contents.empty {
            kept.insert(Held(path: path, content: content))
        }
    }

    mutating func userPutOther(_ path: ObjectKey) {
        release(path)
        absentInRun.insert(path)
        removedInRun.insert(path)
        keptOthers.insert(path)
    }

    /// The user removed what was at a path, or at a directory and beneath it.
    mutating func userRemoved(_ path: ObjectKey) {
        let beneath = ObjectKey(path.bytes + [UInt8(ascii: "/")])
        for gone in tree.keys where gone == path || gone.hasPrefix(beneath) {
            if gone != path, names == .escape, RelativePath.isEscaped(gone) { continue }
            release(gone)
            absentInRun.insert(gone)
            removedInRun.insert(gone)
            removedByUser.insert(gone)
        }
        for other in keptOthers where other == path || other.hasPrefix(beneath) {
            keptOthers.remove(other)
        }
    }

    private mutating func release(_ path: ObjectKey) {
        if case .file(let content?)? = tree[path] {
            superseded.insert(Held(path: path, content: content))
        }
        kept = kept.filter { $0.path != path }
        keptOthers.remove(path)
    }

    /// The user said that it is right without this.
    mutating func letGo(_ held: Held) {
        superseded.insert(held)
        kept.remove(held)
    }

    /// Gives up what a flag allowed a run to take, and what the trash has kept.
    mutating func giveUp(_ held: Held) { kept.remove(held) }

    // MARK: - Runs

    mutating func beginRun() {
        seenInRun = [:]
        absentInRun = []
        removedInRun = []
        for (path, entry) in tree {
            if case .file(let content?) = entry { seenInRun[path] = [content] }
        }
    }

    /// True if there was a time in this run without a file at the path.
    func wasAbsent(_ path: ObjectKey) -> Bool {
        if absentInRun.contains(path) { return true }
        if case .file? = tree[path] { return false }
        return true
    }

    /// True if the content may be at the path.
    ///
    /// A conflict's second name may have what was at the first one.
    func mayHold(_ path: ObjectKey, _ content: ContentID) -> Bool {
        if content == Contents.empty || allowed[path]?.contains(content) == true { return true }
        return allowed.contains { first, contents in
            contents.contains(content) && Self.isNameOfConflict(path, of: first)
        }
    }

    /// True for `a.conflict-20260102T030405Z-host.txt` of `a.txt`, whose name may be cut to fit.
    static func isNameOfConflict(_ path: ObjectKey, of first: ObjectKey) -> Bool {
        let mark = [UInt8](".conflict-".utf8)
        guard path.bytes.count > mark.count, path != first else { return false }
        let start = (0...(path.bytes.count - mark.count)).last { index in
            path.bytes[index..<(index + mark.count)].elementsEqual(mark)
        }
        guard let start else { return false }
        let begin = path.bytes[..<start]
        if first.bytes.starts(with: begin) { return true }
        // A shorter name that needs no escaping any more stays with the escaped ones.
        guard let slash = begin.lastIndex(of: UInt8(ascii: "/")) else { return false }
        return first.bytes.starts(with: begin[..<slash] + begin[(slash + 1)...])
    }

    /// A run put a user's version aside.
    mutating func moveKept(_ held: Held, to path: ObjectKey) {
        kept.remove(held)
        kept.insert(Held(path: path, content: held.content))
    }

    mutating func allow(_ path: ObjectKey, _ content: ContentID) {
        allowed[path, default: []].insert(content)
    }
}

extension Model {
    /// True if a run could find that a file has the object's content without asking for it.
    func mayHaveBeenLocal(_ path: ObjectKey, _ content: ContentID) -> Bool {
        everLocal[path]?.contains(content) == true
    }

    /// True if a file was ever seen at the path.
    func hasBeenLocal(_ path: ObjectKey) -> Bool { everLocal[path] != nil }

    /// Takes the directory as it is now.
    mutating func look(_ found: DiskTree) {
        let entries = found.entries
        changed = found.changed
        for path in tree.keys where entries[path] == nil { absentInRun.insert(path) }
        removedByUser = removedByUser.filter { entries[$0] == nil || entries[$0] == .directory }
        for (path, entry) in entries {
            guard case .file(let content?) = entry else { continue }
            seenInRun[path, default: []].insert(content)
            everLocal[path, default: []].insert(content)
        }
        tree = entries
    }
}

extension Model {
    /// Everything that was there is there no more, and no user meant to remove it.
    mutating func lostAll() {
        for path in tree.keys {
            absentInRun.insert(path)
            removedInRun.insert(path)
            removedByUser.insert(path)
        }
        kept = []
        keptOthers = []
    }

    /// What a backup had is there again.
    mutating func restored(_ path: ObjectKey, _ content: ContentID) {
        allowed[path, default: []].insert(content)
        seenInRun[path, default: []].insert(content)
        removedInRun.remove(path)
        // A version that the remote had once is no work of this moment.
        let isOld = versions[path]?.values.contains(content) ?? false
        if !isOld, content != Contents.empty { kept.insert(Held(path: path, content: content)) }
    }

    /// Takes out what is kept beneath a directory that is not seen for a while.
    mutating func setAside(beneath directory: ObjectKey) -> [Held] {
        let found = kept.filter { $0.path.hasPrefix(directory) }
        kept.subtract(found)
        for path in tree.keys where path.hasPrefix(directory) {
            removedByUser.insert(path)
            keptOthers.remove(path)
        }
        return found.sorted { ($0.path, $0.content) < ($1.path, $1.content) }
    }

    mutating func keepAgain(_ held: Held) { kept.insert(held) }
}

extension Model {
    /// A version that is read at this key, perhaps another's, by a link.
    mutating func noteVersion(_ key: ObjectKey, _ content: ContentID, tag: String) {
        if let before = versions[key]?[tag], before != content {
            sharedTags[key, default: []].insert(tag)
        }
        versions[key, default: [:]][tag] = content
    }
}

extension Model {
    /// Bits of a file flipped: nobody changed it, and what it was is not here any more.
    mutating func damaged(_ path: ObjectKey, from good: ContentID, to bad: ContentID) {
        allowed[path, default: []].insert(bad)
        kept.remove(Held(path: path, content: good))
        tree[path] = .file(bad)
    }
}
