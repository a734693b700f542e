package import SyncModel

/// One of the three sorted streams.
package enum Side: Sendable, Hashable, CaseIterable {
    case remote, base, local

    fileprivate var name: String {
        switch self {
        case .remote: "the listing of the remote"
        case .base: "the manifest"
        case .local: "the walk of the directory"
        }
    }
}

/// What the three sides say of one key; at least one of them has it.
///
/// By reference: it is handed on some twenty times.
package final class JoinedEntry: Sendable, Hashable {
    /// Relative to the remote's prefix.
    package let key: ObjectKey
    /// The version both sides last had in common.
    package let base: ManifestEntry?
    package let local: LocalEntry?
    /// Its key is relative to the remote's prefix, as ``key`` is.
    package let remote: RemoteObject?
    /// A damaged file whose size and time the row has.
    ///
    /// The file of this key is gone: it may have been renamed to where it is refused as a copy of
    /// that one. Or, without a row, that key itself: another state of the directory has found it.
    package let likeDamaged: ObjectKey?

    package init(
        key: ObjectKey,
        base: ManifestEntry?,
        local: LocalEntry?,
        remote: RemoteObject?,
        likeDamaged: ObjectKey? = nil
    ) {
        self.key = key
        self.base = base
        self.local = local
        self.remote = remote
        self.likeDamaged = likeDamaged
    }

    package static func == (left: JoinedEntry, right: JoinedEntry) -> Bool {
        left.key == right.key && left.base == right.base && left.local == right.local
            && left.remote == right.remote && left.likeDamaged == right.likeDamaged
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }

    /// True if one side lost it, perhaps while filters left it out: that it is gone says nothing.
    ///
    /// Not of what was found damaged, of which the row has to say so.
    package var hasVanishedUnseen: Bool {
        guard let base, base.isLeftOut, !base.isDamaged else { return false }
        return (local == nil) != (remote == nil)
    }

    /// The same entry, whose object may be the last good copy of what was found damaged.
    package func likeDamaged(_ key: ObjectKey?) -> JoinedEntry {
        JoinedEntry(key: self.key, base: base, local: local, remote: remote, likeDamaged: key)
    }

    /// The same entry as if nothing were recorded of its key.
    package var withoutBase: JoinedEntry {
        JoinedEntry(key: key, base: nil, local: local, remote: remote)
    }
}

/// What a merge asks for or yields.
package enum MergeStep: Sendable, Hashable {
    /// Nothing can be said before this side was fed, finished or abandoned.
    case needs(Side)
    case joined(JoinedEntry)
    /// Nothing follows.
    case finished
}

/// Why a stream cannot be planned from; nothing may be deleted after it.
package enum PlanError: Error, Hashable, Sendable {
    /// A key does not follow the one before it in byte order, or repeats it.
    case unordered(Side, previous: ObjectKey, next: ObjectKey)
    /// The walk calls a file by a directory's name or the reverse.
    case kindMismatch(ObjectKey)

    package var message: String {
        switch self {
        case .unordered(let side, let previous, let next) where previous == next:
            "\(side.name) has '\(next.display)' twice. Nothing was deleted; run again."
        case .unordered(let side, let previous, let next):
            "\(side.name) is out of order: '\(next.display)' came after '\(previous.display)'."
                + " Nothing was deleted; run again."
        case .kindMismatch(let key):
            "the walk of the directory reports '\(key.display)' as both a file and a directory."
                + " Nothing was deleted; run again."
        }
    }
}

/// Walks the three streams in lock step and yields each key once, in byte order.
///
/// It holds what was fed and not yet yielded, nothing else. Order is checked as elements are fed;
/// after the first error every call of ``next()`` throws it again, because a key that comes too
/// late would otherwise look absent, and absence is what deletions are made of.
package struct MergeJoin: Sendable {
    private var remote = SideBuffer<RemoteObject>()
    private var base = SideBuffer<ManifestEntry>()
    private var local = SideBuffer<LocalEntry>()
    private var failure: PlanError?
    /// Keys after it say nothing, because a side was abandoned there; nil without such a bound.
    private var bound: Bound?

    private enum Bound: Sendable {
        case nothing
        case through(ObjectKey)
    }

    package init() {}

    /// True until a side was abandoned.
    package var coversEverything: Bool { bound == nil }

    package mutating func feed(remote elements: [RemoteObject]) throws(PlanError) {
        try checked { join throws(PlanError) in
            try join.remote.append(elements, side: .remote) { $0.key }
        }
    }

    package mutating func feed(base elements: [ManifestEntry]) throws(PlanError) {
        try checked { join throws(PlanError) in
            try join.base.append(elements, side: .base) { $0.key }
        }
    }

    package mutating func feed(local elements: [LocalEntry]) throws(PlanError) {
        try checked { join throws(PlanError) in
            for entry in elements where entry.isDirectory != RelativePath.isDirectory(entry.path) {
                throw .kindMismatch(entry.path)
            }
            try join.local.append(elements, side: .local) { $0.path }
        }
    }

    /// Says that a side has been fed to its proven end.
    package mutating func finish(_ side: Side) {
        switch side {
        case .remote: remote.isFinished = true
        case .base: base.isFinished = true
        case .local: local.isFinished = true
        }
    }

    /// Says that a side ends before its true end: what it fed is used, and no key after that is
    /// yielded, because nobody knows whether the side has it.
    package mutating func abandon(_ side: Side) {
        finish(side)
        let last =
            switch side {
            case .remote: remote.last
            case .base: base.last
            case .local: local.last
            }
        guard let last else {
            bound = .nothing
            return
        }
        switch bound {
        case nil: bound = .through(last)
        case .nothing: break
        case .through(let earlier): bound = .through(min(earlier, last))
        }
    }

    package mutating func next() throws(PlanError) -> MergeStep {
        if let failure { throw failure }
        if case .nothing = bound { return .finished }
        if remote.isStarved { return .needs(.remote) }
        if base.isStarved { return .needs(.base) }
        if local.isStarved { return .needs(.local) }
        var least: ObjectKey?
        for key in [remote.head?.key, base.head?.key, local.head?.path] {
            guard let key else { continue }
            if let current = least, !(key < current) { continue }
            least = key
        }
        guard let key = least else { return .finished }
        if case .through(let last) = bound, last < key { return .finished }
        return .joined(
            JoinedEntry(
                key: key,
                base: base.head?.key == key ? base.removeFirst() : nil,
                local: local.head?.path == key ? local.removeFirst() : nil,
                remote: remote.head?.key == key ? remote.removeFirst() : nil
            )
        )
    }

    /// The next key, if all three sides have it.
    package var commonKey: ObjectKey? {
        guard !remote.isEmpty, !base.isEmpty, !local.isEmpty else { return nil }
        let key = base.elements[base.index].key
        return remote.elements[remote.index].key == key && local.elements[local.index].path == key
            ? key : nil
    }

    /// Passes over the next keys as long as all three sides have them, ``isUnchanged(_:_:_:_:)``
    /// holds for each and no key lies beneath them; how many, and the last of them.
    ///
    /// Nothing is made or copied for such a key. A key that `isTaken` refuses ends it, too.
    package mutating func skipUnchanged(
        _ policy: DecisionPolicy,
        where isTaken: (ObjectKey) -> Bool
    ) throws(PlanError) -> (count: Int, bytes: Int64, last: ObjectKey)? {
        if let failure { throw failure }
        guard bound == nil, !policy.comparesContent else { return nil }
        var count = 0
        var bytes: Int64 = 0
        while remote.hasTwo, base.hasTwo, local.hasTwo {
            let (object, row, file) = (remote.index, base.index, local.index)
            guard remote.elements[object].key == base.elements[row].key,
                base.elements[row].key == local.elements[file].path,
                isUnchanged(
                    base.elements[row],
                    local.elements[file],
                    remote.elements[object],
                    policy
                ),
                !remote.elements[object + 1].key.mayBelongBeneath(base.elements[row].key),
                !base.elements[row + 1].key.mayBelongBeneath(base.elements[row].key),
                !local.elements[file + 1].path.mayBelongBeneath(base.elements[row].key),
                isTaken(base.elements[row].key)
            else { break }
            bytes = bytes.addingClamped(base.elements[row].size)
            remote.skipFirst()
            base.skipFirst()
            local.skipFirst()
            count += 1
        }
        guard count > 0 else { return nil }
        return (count, bytes, base.elements[base.index - 1].key)
    }

    private mutating func checked(
        _ body: (inout MergeJoin) throws(PlanError) -> Void
    ) throws(PlanError) {
        if let failure { throw failure }
        do {
            try body(&self)
        } catch {
            failure = error
            throw error
        }
    }
}

extension LocalEntry {
    package var isDirectory: Bool {
        switch kind {
        case .directory: true
        case .file: false
        }
    }

    /// What the walk saw of a file; nil for a directory.
    package var identity: FileIdentity? {
        switch kind {
        case .file(let identity): identity
        case .directory: nil
        }
    }
}

/// What one side fed and the merge has not used.
private struct SideBuffer<Element: Sendable>: Sendable {
    private(set) var elements: [Element] = []
    private var start = 0
    var isFinished = false
    /// The last key that was fed.
    private(set) var last: ObjectKey?

    /// Where in the elements the next one is.
    var index: Int { start }
    var isEmpty: Bool { start == elements.count }
    /// True if the next element and the one after it are here.
    var hasTwo: Bool { start + 1 < elements.count }

    /// Passes over the next of several elements, which stay in place until the last is taken.
    mutating func skipFirst() { start += 1 }

    var isStarved: Bool { start == elements.count && !isFinished }
    var head: Element? { start < elements.count ? elements[start] : nil }

    mutating func append(
        _ more: [Element],
        side: Side,
        key: (Element) -> ObjectKey
    ) throws(PlanError) {
        precondition(!isFinished, "a finished side is not fed")
        for element in more {
            let next = key(element)
            if let last, !(last < next) {
                throw .unordered(side, previous: last, next: next)
            }
            last = next
        }
        if start == elements.count {
            elements = more
            start = 0
        } else {
            elements.append(contentsOf: more)
        }
    }

    mutating func removeFirst() -> Element {
        let element = elements[start]
        start += 1
        if start == elements.count {
            elements.removeAll(keepingCapacity: true)
            start = 0
        }
        return element
    }
}
