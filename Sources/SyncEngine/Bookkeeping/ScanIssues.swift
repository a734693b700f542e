internal import LocalStorage
internal import SyncModel
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
        var hidden: Set<[UInt8]> = []
        /// Links that are entries of other keys: nothing else can be at and beneath them.
        var links: Set<[UInt8]> = []
        /// Paths that were gone when the walk came to them.
        var lost: Set<[UInt8]> = []
        /// Directories that a file in them excludes.
        var tagged: Set<[UInt8]> = []
        var taggedCount = 0
        /// How many of these paths are worth a look for those that are passed.
        var sweepAt = smallestSweep
        /// Where other mounts begin; nil until the walk has ended.
        var mountPoints: [[UInt8]]?
        var hasLostNames = false
        /// Mounts that are not those beneath which the manifest was recorded.
        var foreignMounts: Set<[UInt8]> = []
        /// Links, special files and reserved names so far.
        var leftOut = 0
        /// Those of them that a user made.
        var notMirrored = 0

        var pathCount: Int { hidden.count + links.count + lost.count + tagged.count }
    }

    private let state = Mutex(State())
    private let onIssue: @Sendable (WalkIssue) -> Void

    init(onIssue: @escaping @Sendable (WalkIssue) -> Void) {
        self.onIssue = onIssue
    }

    /// True if the walk read every directory.
    var isScanProven: Bool { !state.withLock { $0.isIncomplete } }

    /// Links, special files and reserved names so far that only the directory has.
    var notMirroredCount: Int { state.withLock { $0.notMirrored } }

    /// What is said of the links, special files and reserved names that were not named; nil if all
    /// were.
    var unnamedMessage: String? {
        let count = state.withLock { $0.leftOut } - Self.namedLimit
        guard count > 0 else { return nil }
        return "\(count) more links, special files and reserved names are skipped; the first "
            + "\(Self.namedLimit) were listed"
    }

    /// Paths that are in memory.
    var hiddenCount: Int { state.withLock { $0.pathCount } }

    func report(_ issue: WalkIssue) {
        if issue.reason == .disappeared {
            return state.withLock { _ = $0.lost.insert(issue.path) }
        }
        if issue.reason == .storedLink {
            return state.withLock { _ = $0.links.insert(issue.path) }
        }
        if issue.isTag {
            state.withLock { state in
                state.tagged.insert(issue.path)
                state.taggedCount += 1
            }
            return onIssue(issue)
        }
        let isNamed = state.withLock { state in
            if issue.makesScanIncomplete { state.isIncomplete = true }
            if !issue.isReserved { state.hidden.insert(issue.path) }
            guard issue.isLeftOutByDesign else { return true }
            state.leftOut += 1
            if !issue.isOfNoUser { state.notMirrored += 1 }
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
            state.hidden = state.hidden.filter(isAhead)
            state.links = state.links.filter(isAhead)
            state.lost = state.lost.filter(isAhead)
            state.tagged = state.tagged.filter(isAhead)
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
    var hasForeignMounts: Bool { state.withLock { !$0.foreignMounts.isEmpty } }

    /// True for a key beneath a mount that is not the recorded one.
    func isOnForeignMount(_ key: ObjectKey) -> Bool {
        state.withLock { Self.isWithin($0.foreignMounts, key) }
    }

    /// True for a key at or beneath a path that the walk could not take.
    func hides(_ key: ObjectKey) -> Bool {
        state.withLock { Self.isWithin($0.hidden, key) }
    }

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
    func isTagged(_ key: ObjectKey) -> Bool {
        state.withLock { state in
            !state.tagged.isEmpty
                && key.bytes.indices.contains { index in
                    key.bytes[index] == UInt8(ascii: "/")
                        && state.tagged.contains([UInt8](key.bytes[..<index]))
                }
        }
    }

    /// True for a key at or beneath a path that was gone when the walk came to it.
    func isLost(_ key: ObjectKey) -> Bool {
        state.withLock { Self.isWithin($0.lost, key) }
    }

    private static func isWithin(_ paths: Set<[UInt8]>, _ key: ObjectKey) -> Bool {
        guard !paths.isEmpty else { return false }
        if paths.contains(key.bytes) { return true }
        for index in key.bytes.indices where key.bytes[index] == UInt8(ascii: "/") {
            if paths.contains([UInt8](key.bytes[..<index])) { return true }
        }
        return false
    }
}
