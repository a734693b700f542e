internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// What a run makes of freed paths, and what it saw of them.
final class FreedScope: Sendable {
    /// Files that are here again, which are remembered; of more, some stay named.
    fileprivate static let returnedLimit = 10_000

    struct Seen: Sendable {
        var count = 0
        var bytes: Int64 = 0
        /// Named files that are here, or that are not expected any more.
        var returned: Set<ObjectKey> = []
        /// What is neither here nor in the bucket.
        var lost = Some()
        /// Rows of what a mirror around the directory or within it has freed.
        var freedElsewhere: [ManifestEntry] = []
        /// What has another version in the bucket than the one that was freed.
        var replaced = Some()
        /// Which of the named paths were found, by their places; none until one was.
        fileprivate var isFound: [Bool] = []
    }

    /// A number of files, and the first of them.
    struct Some {
        var count = 0
        var first: ObjectKey?
        /// Some of them, if the run names each.
        var named: [ObjectKey] = []

        fileprivate mutating func add(_ key: ObjectKey, isNamed: Bool = false) {
            count += 1
            first = first ?? key
            if isNamed, named.count < FreedScope.returnedLimit { named.append(key) }
        }

        fileprivate func text(_ one: String, _ more: String) -> String? {
            guard let first else { return nil }
            if count == 1 { return "'\(first.display)' was freed, and " + one }
            return "'\(first.display)' and \(count - 1) other freed "
                + (count == 2 ? "file " : "files ") + more
        }
    }

    static let message = "freed: it is only in the bucket; 'osssync pull' of it brings it back"

    let paths: FreedPaths
    /// The name of the last object that was freed, as that of a directory in which the next files
    /// may be; nil once that was told.
    private let last = Mutex<ObjectKey?>(nil)
    private let policy: FreedPolicy
    private var bringsBack: Bool { policy.bringsBack }
    private let elsewhere: FreedElsewhere?
    private let judgesInodes: Bool
    private let isExpected: @Sendable (ObjectKey) -> Bool
    private let counted = Mutex(Seen())

    /// `isExpected` says what the run looks for in the bucket.
    init(
        _ paths: FreedPaths = FreedPaths(),
        _ policy: FreedPolicy = .stay,
        _ elsewhere: FreedElsewhere? = nil,
        judgesInodes: Bool = true,
        isExpected: @escaping @Sendable (ObjectKey) -> Bool = { _ in true }
    ) {
        self.paths = paths
        (self.policy, self.elsewhere) = (policy, elsewhere)
        self.judgesInodes = judgesInodes
        self.isExpected = isExpected
    }

    var seen: Seen { counted.withLock { $0 } }

    /// False for most entries: nothing was freed as far as the list and the row know.
    func mayConcern(_ entry: JoinedEntry) -> Bool {
        !paths.isEmpty || entry.base?.isFreed == true
    }

    /// The same entry, as one that was freed if another mirror or state has freed its file.
    ///
    /// The row says so from then on: that mirror may go to another place. A file that was recorded
    /// here after the list was written is one that came back.
    func marking(
        _ entry: JoinedEntry,
        isMirror: (ObjectKey) -> Bool = { _ in true }
    ) -> JoinedEntry {
        guard let elsewhere, let base = entry.base, entry.remote != nil, !base.isFreed,
            entry.local == nil ? policy == .stay : isFileOfAnother(entry, than: base),
            case .freed(_, let time)? = elsewhere.word(on: entry.key, isMirror: isMirror)
        else { return entry }
        if entry.local != nil, let time,
            base.changed.map({ $0 > time.nanosecondsSince1970 }) == true
        {
            return entry
        }
        let row = base.freed
        counted.withLock { seen in
            guard entry.local == nil, seen.freedElsewhere.count < Self.returnedLimit else { return }
            seen.freedElsewhere.append(row)
        }
        return JoinedEntry(key: entry.key, base: row, local: entry.local, remote: entry.remote)
    }

    /// True for what only another mirror had freed, whose list does not name it any more.
    private func isOver(_ entry: JoinedEntry) -> Bool {
        guard let elsewhere, !elsewhere.knowsOwn, !paths.contains(entry.key) else { return false }
        return elsewhere.word(on: entry.key) == nil
    }

    private func isFileOfAnother(_ entry: JoinedEntry, than base: ManifestEntry) -> Bool {
        guard case .file? = entry.local?.kind else { return false }
        return LocalChange(of: entry.local, since: base, judgesInodes: judgesInodes) != .same
    }

    /// Looks at an entry of the plan, whatever the run makes of it.
    func look(at entry: JoinedEntry) {
        guard let place = paths.index(of: entry.key) else { return lookBeneath(entry) }
        // Of a directory, only what the bucket has of it tells anything.
        if entry.remote != nil || entry.local != nil && !entry.key.isDirectoryMarker {
            noteFound(place)
        }
        noteReplaced(entry)
    }

    private func noteFound(_ place: Int) {
        counted.withLock { seen in
            if seen.isFound.isEmpty {
                seen.isFound = Array(repeating: false, count: paths.keys.count)
            }
            seen.isFound[place] = true
        }
    }

    /// The same of one that may lie in a directory that is named.
    private func lookBeneath(_ entry: JoinedEntry) {
        let place = paths.directory(of: entry.key)
        guard place != nil || entry.base?.isFreed == true else { return }
        if let place, entry.remote != nil { noteFound(place) }
        guard entry.local == nil, entry.base != nil, !entry.key.isDirectoryMarker else { return }
        if entry.remote != nil { return noteReplaced(entry) }
        if isExpected(entry.key), !isOver(entry) { noteLost(entry.key) }
    }

    private func noteLost(_ key: ObjectKey) {
        counted.withLock { $0.lost.add(key, isNamed: policy == .comeBack) }
    }

    private func noteReplaced(_ entry: JoinedEntry) {
        guard holds(entry), let base = entry.base, base.isLeftOut, let object = entry.remote,
            RemoteChange(of: object, since: base) == .changed
        else { return }
        counted.withLock { $0.replaced.add(entry.key) }
    }

    /// Records what other mirrors have freed.
    ///
    /// After a whole listing, it counts the named files and directories of which the plan had
    /// nothing, as in another bucket.
    ///
    /// A directory with rows has been told by them, or has files that are as recorded, at which
    /// no run looks.
    func finish(
        _ manifest: ManifestStore,
        _ isWhole: Bool,
        records: Bool
    ) async throws(ManifestError) {
        let (found, rows) = counted.withLock { ($0.isFound, $0.freedElsewhere) }
        if records, !rows.isEmpty { try await manifest.record(rows.map { .upsert($0) }) }
        guard isWhole else { return }
        for (place, key) in paths.keys.enumerated() where isExpected(key) {
            if !found.isEmpty, found[place] { continue }
            if key.isDirectoryMarker,
                try await manifest.first(.entries(in: KeyRange(prefix: key))) != nil
            {
                continue
            }
            noteLost(key)
            counted.withLock { seen in
                if policy == .comeBackOrEnd, seen.returned.count < Self.returnedLimit {
                    seen.returned.insert(key)
                }
            }
        }
    }

    /// What is said of files that are nowhere; nil if there are none, or each is named.
    var lostMessage: String? {
        guard policy != .comeBack else { return nil }
        let lost = seen.lost
        let place = "in the bucket, which should have the only "
        let advice =
            bringsBack
            ? "no later run tells of it"
            : "'osssync restore --list DIR PATH' shows other versions, 'osssync pull DIR PATH' "
                + "gives it up"
        return lost.text("is not \(place)copy; \(advice)", "are not \(place)copies; \(advice)")
    }

    /// What is said of other versions in the bucket; nil if there are none.
    var replacedMessage: String? {
        let advice = "; 'osssync pull DIR PATH' fetches what is there"
        return seen.replaced.text(
            "has another version in the bucket by now" + advice,
            "have other versions in the bucket by now" + advice
        )
    }

    /// True for what is only in the bucket because it was freed.
    func holds(_ entry: JoinedEntry) -> Bool {
        !bringsBack && entry.local == nil && entry.remote != nil && isFreed(entry)
    }

    /// True for what the list names, and for what this state has freed: another one may have ended
    /// the entry, whose bucket has nothing of it.
    private func isFreed(_ entry: JoinedEntry) -> Bool {
        entry.base?.isFreed == true || paths.contains(entry.key)
    }

    /// Says that a name is one thing on one side and another on the other, such as a file and a
    /// directory, if this entry shows it.
    ///
    /// Nil if it does not, or another one did before. Keys ascend. What was freed is not in the
    /// plan, which could not tell it.
    func obstacle(
        of entry: JoinedEntry,
        in manifest: ManifestStore
    ) async throws(ManifestError) -> WalkIssue? {
        guard !bringsBack, !paths.isEmpty else { return nil }
        if holds(entry), !entry.key.isDirectoryMarker {
            last.withLock { $0 = Self.beneath(entry.key) }
        }
        guard let local = entry.local else { return nil }
        if let directory = freedObject(above: entry.key) {
            return WalkIssue(path: [UInt8](directory.bytes.dropLast()), reason: .freedPlace)
        }
        guard case .file = local.kind else { return nil }
        // A link has the place of a file, and a file that of a link.
        let isLink = local.isLink && entry.key.isOfLink
        let name = isLink ? entry.key.withoutLinkSuffix : entry.key
        let other = isLink ? name : name.ofLink
        if entry.base == nil, paths.contains(other), let row = try await manifest.entry(other),
            row.isLink != isLink
        {
            return WalkIssue(path: [UInt8](entry.key.bytes), reason: .freedPlace)
        }
        let beneath = Self.beneath(name)
        guard paths.concerns(beneath),
            try await manifest.first(.entries(in: KeyRange(prefix: beneath))) != nil
        else { return nil }
        return WalkIssue(path: [UInt8](entry.key.bytes), reason: .freedPlace)
    }

    private static func beneath(_ name: ObjectKey) -> ObjectKey {
        ObjectKey(name.bytes + [UInt8(ascii: "/")])
    }

    /// The name of a freed object that is a directory here by now; nil if it was told before.
    private func freedObject(above key: ObjectKey) -> ObjectKey? {
        last.withLock { last in
            guard let directory = last, key.hasPrefix(directory) else { return nil }
            last = nil
            return directory
        }
    }

    /// True for a file in the place of one that was freed: it is not a later version of that one.
    ///
    /// The list says so for another state of the directory than the one that freed it, and that
    /// one's rows where the other has ended an entry.
    private func isNew(_ entry: JoinedEntry) -> Bool {
        guard let base = entry.base, case .file? = entry.local?.kind, entry.remote != nil,
            base.isFreed || paths.names(entry.key) || base.isLeftOut && paths.contains(entry.key)
        else { return false }
        return isFileOfAnother(entry, than: base)
    }

    /// What the run has to look at; nil for what is only in the bucket because it was freed.
    func choose(_ entry: JoinedEntry) -> JoinedEntry? {
        if bringsBack, let base = entry.base, entry.local == nil, entry.remote != nil,
            isFreed(entry)
        {
            // It was not deleted.
            let row = base.leftOut(true)
            return JoinedEntry(key: entry.key, base: row, local: nil, remote: entry.remote)
        }
        if policy != .comeBackOrEnd, entry.local == nil, entry.remote == nil, entry.base != nil,
            isFreed(entry), !isOver(entry)
        {
            return nil
        }
        if holds(entry) {
            counted.withLock { seen in
                guard !entry.key.isDirectoryMarker else { return }
                seen.count += 1
                seen.bytes = seen.bytes.addingClamped(entry.remote?.size ?? 0)
            }
            return nil
        }
        let chosen = isNew(entry) ? entry.withoutBase : entry
        switch entry.local?.kind {
        // One that the bucket never had, as far as this state knows, is not a freed one.
        case .file where paths.names(entry.key) && (entry.remote != nil || entry.base != nil):
            counted.withLock { seen in
                guard seen.returned.count < Self.returnedLimit else { return }
                seen.returned.insert(entry.key)
            }
            return chosen
        case .directory(isEmpty: true) where paths.concerns(entry.key):
            // What it holds is in the bucket.
            return JoinedEntry(
                key: entry.key,
                base: entry.base,
                local: LocalEntry(
                    path: entry.key,
                    kind: .directory(isEmpty: false),
                    permissions: entry.local?.permissions
                ),
                remote: entry.remote
            )
        case .file, .directory, nil: return chosen
        }
    }
}
