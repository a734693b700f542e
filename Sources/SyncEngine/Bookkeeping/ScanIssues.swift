internal import LocalStorage
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Reports what the walk could not take, and knows what that hides from the plan.
///
/// A directory can hold millions of links: in memory are those that the plan has not passed, and
/// the first of them are named.
final class ScanIssues: Sendable {
    /// Links, special files and reserved names that are named one by one.
    private static let namedLimit = 100
    /// Fewer paths than this are not worth looking for those that are passed.
    private static let smallestSweep = 1_024

    private struct State {
        var isIncomplete = false
        /// Paths at and beneath which something may be that the walk gave no entry for.
        var hidden: [[UInt8]: WalkIssue.Reason] = [:]
        /// Links that are entries of other keys: nothing else can be at and beneath them.
        var links: Set<[UInt8]> = []
        /// Files that earlier runs made of what are links now.
        var copies: [(path: [UInt8], file: FileIdentity)] = []
        /// Paths that were gone when the walk came to them.
        var lost: Set<[UInt8]> = []
        /// Directories that a file in them excludes.
        var tagged: [[UInt8]: WalkIssue.Reason] = [:]
        var taggedCount = 0
        /// How many of these paths are worth a look for those that are passed.
        var sweepAt = smallestSweep
        /// Where other mounts begin; nil until the walk has ended.
        var mountPoints: [[UInt8]]?
        var hasLostNames = false
        /// Mounts that are not those beneath which the manifest was recorded.
        var foreignMounts: Set<[UInt8]> = []
        /// Mounts that were rolled back to an earlier time; the empty path is the mirror's own.
        var rolledBack: Set<[UInt8]> = []
        /// Links, special files and reserved names so far.
        var leftOut = 0
        /// Those of them that a user made, and recorded keys in tagged directories.
        var notMirrored = 0
        var kinds: Set<NotMirroredKind> = []
        /// What stands above keys of the mirror, or in their place.
        var covers = CoveredKeys()
        /// Directories that are gone, and perhaps were moved to one with a copied tag.
        var originals: [ObjectKey] = []
        /// Files in such a one.
        var copiedFiles: [LocalEntry] = []
        /// The directories of mirrors within this one.
        var nested: Set<ObjectKey> = []
        /// What the disk failed to show.
        var unread = UnreadPaths(paths: [])

        var pathCount: Int { hidden.count + links.count + lost.count + tagged.count }

        func tag(above key: ObjectKey) -> WalkIssue? {
            guard !tagged.isEmpty else { return nil }
            for path in places(of: key) where path.count < key.bytes.count {
                if let reason = tagged[path] { return WalkIssue(path: path, reason: reason) }
            }
            return nil
        }
    }

    private let state = Mutex(State())
    private let range: KeyRange
    private let onIssue: @Sendable (WalkIssue) -> Void

    /// `range` are the keys of the run's shard: a tagged directory is told and counted by the one
    /// that has its own key.
    init(in range: KeyRange = .all, onIssue: @escaping @Sendable (WalkIssue) -> Void) {
        self.range = range
        self.onIssue = onIssue
    }

    /// True if the walk read every directory.
    var isScanProven: Bool { !state.withLock { $0.isIncomplete } }

    /// Links, special files and reserved names so far that only the directory has.
    var notMirroredCount: Int { state.withLock { $0.notMirrored } }

    /// Why they are not mirrored.
    var notMirroredKinds: Set<NotMirroredKind> { state.withLock { $0.kinds } }

    /// What is said of links, special files and tags that hide what is recorded.
    var coverMessages: [String] { state.withLock { $0.covers.messages } }

    /// What is said of the links, special files and reserved names that were not named; nil if all
    /// were.
    var unnamedMessage: String? {
        let count = state.withLock { $0.leftOut } - Self.namedLimit
        guard count > 0 else { return nil }
        return "\(count) more links, special files and reserved names are skipped; the first "
            + "\(Self.namedLimit) were listed"
    }

    /// The directories in which the walk of this run has met the state of a mirror.
    var nestedMirrors: Set<ObjectKey> { state.withLock { $0.nested } }

    func isNestedMirror(_ directory: ObjectKey) -> Bool {
        state.withLock { $0.nested.contains(directory) }
    }

    /// What the disk failed to show.
    var unread: Set<ObjectKey> { state.withLock(\.unread.paths) }

    /// Paths that are in memory.
    var hiddenCount: Int { state.withLock { $0.pathCount } }

    func report(_ issue: WalkIssue) {
        if issue.reason == .disappeared {
            return state.withLock { _ = $0.lost.insert(issue.path) }
        }
        // Its directory hides it.
        if issue.reason == .beneathUnnamed { return onIssue(issue) }
        if issue.reason == .excludedEntry {
            return state.withLock { $0.hidden[issue.path] = issue.reason }
        }
        if issue.reason == .storedLink {
            return state.withLock { _ = $0.links.insert(issue.path) }
        }
        if issue.isTag {
            let isOwn = range.contains(ObjectKey(issue.path + [UInt8(ascii: "/")]))
            state.withLock { state in
                state.tagged[issue.path] = issue.reason
                if isOwn { state.taggedCount += 1 }
            }
            if isOwn { onIssue(issue) }
            return
        }
        let isNamed = state.withLock { state in
            if issue.makesScanIncomplete { state.isIncomplete = true }
            if issue.isOfDisk { state.unread.formUnion([ObjectKey(issue.path)]) }
            if !issue.isReserved { state.hidden[issue.path] = issue.reason }
            if issue.reason == .nestedMirror {
                let name = RelativePath.stateDirectoryName.utf8
                state.nested.insert(ObjectKey(issue.path.dropLast(name.count)))
            }
            guard issue.isLeftOutByDesign else { return true }
            state.leftOut += 1
            // The state of a mirror within this one is not a user's file.
            if let kind = issue.notMirroredKind {
                state.notMirrored += 1
                state.kinds.insert(kind)
            }
            return state.leftOut <= Self.namedLimit
        }
        if isNamed { onIssue(issue) }
    }

    /// Says that the plan has come to `key`: what lies before it hides nothing any more.
    ///
    /// But for the beginnings of the key. Keys that wait for their decision are such beginnings,
    /// and so is a directory whose content could not be read.
    func planReached(_ key: ObjectKey) {
        state.withLock { state in
            guard state.pathCount >= state.sweepAt else { return }
            func isAhead(_ path: [UInt8]) -> Bool {
                let path = ObjectKey(path)
                return key < path || key.hasPrefix(path)
            }
            state.hidden = state.hidden.filter { isAhead($0.key) }
            state.links = state.links.filter(isAhead)
            state.lost = state.lost.filter(isAhead)
            state.tagged = state.tagged.filter { isAhead($0.key) }
            state.sweepAt = max(Self.smallestSweep, state.pathCount * 2)
        }
    }

    /// Where the whole walk found other mounts; nil until it has ended.
    var mountPoints: [[UInt8]]? {
        get { state.withLock { $0.mountPoints } }
        set { state.withLock { $0.mountPoints = newValue } }
    }

    /// True if names were gone when the walk came to them; see ``DirectoryWalk/hasLostNames``.
    var hasLostNames: Bool {
        get { state.withLock { $0.hasLostNames } }
        set { state.withLock { $0.hasLostNames = newValue } }
    }

    /// The first time that such a mount is said, true.
    func addForeign(_ mount: [UInt8]) -> Bool {
        state.withLock { $0.foreignMounts.insert(mount).inserted }
    }

    /// Those that were met so far.
    var foreignMounts: Set<[UInt8]> { state.withLock { $0.foreignMounts } }
    var hasForeignMounts: Bool {
        state.withLock { !$0.foreignMounts.isEmpty || !$0.rolledBack.isEmpty }
    }

    /// True for a key beneath a mount that is not the recorded one, or not as it was.
    func isOnForeignMount(_ key: ObjectKey) -> Bool {
        state.withLock { Self.isWithin($0.foreignMounts, key) } || isRolledBack(key)
    }

    /// The first time that such a mount is said, true.
    func addRolledBack(_ mount: [UInt8]) -> Bool {
        state.withLock { $0.rolledBack.insert(mount).inserted }
    }

    var hasRolledBack: Bool { state.withLock { !$0.rolledBack.isEmpty } }

    func isRolledBack(_ key: ObjectKey) -> Bool {
        state.withLock { $0.rolledBack.contains([]) || Self.isWithin($0.rolledBack, key) }
    }

    /// True for a key at or beneath a path that the walk could not take.
    func hides(_ key: ObjectKey) -> Bool { cover(of: key) != nil }

    /// What the walk could not take, at or above a key; nil if there is nothing.
    func cover(of key: ObjectKey) -> WalkIssue? {
        state.withLock { state in
            guard !state.hidden.isEmpty else { return nil }
            for path in Self.places(of: key) {
                guard let reason = state.hidden[path] else { continue }
                return WalkIssue(path: path, reason: reason)
            }
            return nil
        }
    }

    /// True for a key at whose place, or above it, a link or special file is.
    func replace(_ key: ObjectKey) -> Bool {
        cover(of: key)?.replacesWhatWasThere == true || placeOfLink(key) == .above
    }

    /// Counts a key of the mirror that a link or special file is in the place of.
    func count(_ entry: JoinedEntry, under cover: WalkIssue) {
        state.withLock { $0.covers.add(entry, cover) }
    }

    /// Notes a file that an earlier run made of the object of a link.
    func addCopy(of path: [UInt8], _ file: FileIdentity) {
        state.withLock { $0.copies.append((path, file)) }
    }

    var copiesOfLinks: [(path: [UInt8], file: FileIdentity)] { state.withLock { $0.copies } }

    /// Where a stored link is, of a key.
    enum PlaceOfLink: Sendable, Hashable {
        case at
        case above
    }

    /// Nil for a key that no stored link is in the way of.
    func placeOfLink(_ key: ObjectKey) -> PlaceOfLink? {
        state.withLock { state in
            guard Self.isWithin(state.links, key) else { return nil }
            return state.links.contains(key.bytes) ? .at : .above
        }
    }

    /// Directories that a file in them excludes, so far.
    var taggedCount: Int { state.withLock { $0.taggedCount } }

    /// True for the key of a directory that a file in it excludes, and for all beneath it.
    func isTagged(_ key: ObjectKey) -> Bool { state.withLock { $0.tag(above: key) != nil } }

    /// Counts a recorded key that such a file excludes: it was mirrored, and is not any more.
    func countTagged(_ entry: JoinedEntry) {
        state.withLock { state in
            // Which file systems are entered is for the user to say.
            guard let cover = state.tag(above: entry.key), cover.reason != .otherFileSystem else {
                return
            }
            state.notMirrored += 1
            state.kinds.insert(.tagged)
            state.covers.add(entry, cover)
        }
    }

    /// Counts a directory that a copy of a tag from the bucket excludes.
    func countCopiedTag(
        in directory: [UInt8],
        _ reason: WalkIssue.Reason,
        gone: [ObjectKey],
        files: [LocalEntry]
    ) {
        let key = ObjectKey(directory + [UInt8(ascii: "/")])
        guard range.contains(key) else { return }
        state.withLock { state in
            state.notMirrored += 1
            state.kinds.insert(.copiedTag)
            state.originals += gone
            state.copiedFiles += files
            state.covers.addCopiedTag(WalkIssue(path: directory, reason: reason))
        }
    }

    /// Directories that perhaps were moved to one that is left out.
    var originalsOfCopies: [ObjectKey] { state.withLock { $0.originals } }

    /// Files that are left out because of the copy of a tag.
    var copiedFiles: [LocalEntry] { state.withLock { $0.copiedFiles } }

    /// True for a key at or beneath a path that was gone when the walk came to it.
    func isLost(_ key: ObjectKey) -> Bool {
        state.withLock { Self.isWithin($0.lost, key) }
    }

    private static func isWithin(_ paths: Set<[UInt8]>, _ key: ObjectKey) -> Bool {
        !paths.isEmpty && places(of: key).contains { paths.contains($0) }
    }

    /// The directories above a key, the outermost first, and its own path.
    private static func places(of key: ObjectKey) -> [[UInt8]] {
        let bytes = key.bytes
        let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "/") }
        return ends.map { [UInt8](bytes[..<$0]) } + [bytes]
    }
}
