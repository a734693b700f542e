internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// What a plan looks at: what the filter leaves, and with `--delete=excluded` what it hides on the
/// side that is changed.
struct PlanScope: Sendable {
    private let filter: FileFilter
    private let direction: SyncDirection
    private let deletesExcluded: Bool
    /// Of the plan, which asks for its keys in order, as the walk does.
    private let cursor: FilterCursor
    /// Rules that were accepted here and are not in force any more.
    private let held: [FilterCursor]
    private let counter = Counter()
    /// When the plan began, from which ages count.
    private let now: Timestamp
    private let judgesInodes: Bool
    private let links: LinkPolicy
    private let names: NamePolicy
    /// What the user has only in the bucket.
    let freed: FreedScope
    /// Of which the walk does not see whether they are mirrors.
    private var pathsAbove: Set<ObjectKey> = []
    private let onCostly: @Sendable (ObjectKey) -> Void
    /// Takes names that are left out, and the rule; nil if nobody asks.
    private let onExcluded: (@Sendable (ObjectKey, _ rule: String) -> Void)?
    /// Takes what a limit of sizes or ages leaves out.
    private let onOutside: @Sendable (JoinedEntry) -> Void

    private final class Counter: Sendable {
        let excluded = Atomic(0)
        let withheld = Atomic(0)
        let keptThere = Atomic(0)
        let heldLinks = Atomic(0)
        let heldNames = Atomic(0)
        let isStopped = Atomic(false)
        /// Names that were reported, so that both sides do not report them.
        let costly = Mutex<Set<ObjectKey>>([])
        let named = Mutex<Set<ObjectKey>>([])
    }

    /// Names that are remembered; of more, some are reported once for each side.
    private static let costlyLimit = 10_000
    private static let namedLimit = 100_000

    init(
        _ filter: FileFilter,
        _ direction: SyncDirection,
        deletesExcluded: Bool,
        held: [FileFilter] = [],
        now: Timestamp,
        judgesInodes: Bool = true,
        links: LinkPolicy = .skip,
        names: NamePolicy = .skip,
        freed: FreedScope = FreedScope(),
        onCostly: @escaping @Sendable (ObjectKey) -> Void = { _ in },
        onExcluded: (@Sendable (ObjectKey, _ rule: String) -> Void)? = nil,
        onOutside: @escaping @Sendable (JoinedEntry) -> Void = { _ in }
    ) {
        self.filter = filter
        self.direction = direction
        self.deletesExcluded = deletesExcluded
        self.now = now
        self.judgesInodes = judgesInodes
        self.links = links
        self.names = names
        self.freed = freed
        self.onCostly = onCostly
        self.onExcluded = onExcluded
        self.onOutside = onOutside
        self.held = held.map { FilterCursor($0) }
        cursor = FilterCursor(filter)
    }

    /// What the run of this setup looks at.
    init(
        _ setup: RunSetup,
        onCostly: @escaping @Sendable (ObjectKey) -> Void = { _ in },
        onExcluded: (@Sendable (ObjectKey, _ rule: String) -> Void)? = nil,
        onOutside: @escaping @Sendable (JoinedEntry) -> Void = { _ in }
    ) {
        self.init(
            setup.filter,
            setup.direction,
            deletesExcluded: setup.options.deletesExcluded,
            held: setup.session.rules.held,
            now: setup.settings.environment.now(),
            judgesInodes: setup.policy.judgesInodes,
            links: setup.options.links,
            names: setup.options.names,
            freed: Self.freed(setup, setup.freed),
            onCostly: onCostly,
            onExcluded: onExcluded,
            onOutside: onOutside
        )
        pathsAbove = Set(setup.paths.paths.flatMap { $0.parents.map(\.key) })
    }

    /// What was freed, of which a run of this setup lists what no pattern excludes.
    static func freed(_ setup: RunSetup, _ files: FreedPolicy) -> FreedScope {
        let (filter, ranges) = (setup.filter, setup.paths.ranges)
        let isShard = setup.settings.shard != nil
        let elsewhere = FreedElsewhere(setup.settings, knowsOwn: setup.session.hasFreed)
        let judgesInodes = setup.policy.judgesInodes
        return FreedScope(setup.session.freed, files, elsewhere, judgesInodes: judgesInodes) {
            key in
            // What a directory holds may be in other shards.
            ranges.contains(key) && !filter.excludes(key) && !(isShard && key.isDirectoryMarker)
        }
    }

    /// What is excluded on disk need not be walked, unless it is to be deleted there.
    var isExcludedFromWalk: DirectoryWalk.Exclusion {
        if !filter.hasPatterns || deletesExcluded { return { _, _ in false } }
        let (cursor, counter) = (FilterCursor(filter), counter)
        return { path, isDirectory in
            if counter.isStopped.load(ordering: .relaxed) { return true }
            let key = ObjectKey(isDirectory ? path + [UInt8(ascii: "/")] : path)
            let verdict = cursor.classify(key)
            if verdict == .tooCostly { report(key) }
            return verdict != .included
        }
    }

    /// Names that were left out so far, on either side.
    var excludedCount: Int { counter.excluded.load(ordering: .relaxed) }

    /// Files that were not sent because rules that were accepted here hid them.
    var withheldCount: Int { counter.withheld.load(ordering: .relaxed) }

    /// Objects that only the bucket has, and that a push leaves there because of such rules.
    var keptThereCount: Int { counter.keptThere.load(ordering: .relaxed) }

    /// The message about withheld files; nil if there are none.
    var withheldMessage: String? {
        let count = withheldCount
        guard count > 0 else { return nil }
        return (count == 1 ? "1 file is" : "\(count) files are")
            + " not uploaded: the '\(IgnoreFile.name)' that was used here before excludes more "
            + "than the bucket's. To accept the bucket's, edit or touch '\(IgnoreFile.name)' "
            + "here, or create it if it is missing"
    }

    /// Why the only entry that was asked about is withheld; nil if it is not.
    var heldReason: String? {
        if freed.seen.count > 0 { return FreedScope.message }
        if let message = freed.lostMessage { return message }
        return withheldMessage ?? (keptThereCount > 0 ? QuietReason.onlyRemote.message : nil)
    }

    /// The message about recorded links that the run leaves as they are; nil if there are none.
    var heldLinksMessage: String? {
        let count = counter.heldLinks.load(ordering: .relaxed)
        guard count > 0 else { return nil }
        return
            (count == 1
            ? "1 symbolic link that an earlier run mirrored is left as it is"
            : "\(count) symbolic links that an earlier run mirrored are left as they are")
            + " on both sides; use the same --links as before to mirror them"
    }

    /// The message about recorded files with escaped names that the run leaves as they are; nil if
    /// there are none.
    var heldNamesMessage: String? {
        let count = counter.heldNames.load(ordering: .relaxed)
        guard count > 0 else { return nil }
        return
            (count == 1
            ? "1 object that an earlier run mirrored under an escaped name is left as it is"
            : "\(count) objects that an earlier run mirrored under escaped names are left as they "
                + "are") + " on both sides; use --names escape as before to mirror them"
    }

    /// True for what is recorded and what this run does not take as the one before did.
    func holds(_ entry: JoinedEntry) -> Bool {
        holdsLink(entry) || holdsName(entry) || freed.holds(entry)
    }

    /// True for the row of a file with an escaped name.
    private func holdsName(_ entry: JoinedEntry) -> Bool {
        guard names == .skip, let row = entry.base else { return false }
        return RelativePath.isEscaped(row.key, links: row.isLink ? .store : .skip)
    }

    /// True for a recorded link, unless it is a file now.
    private func holdsLink(_ entry: JoinedEntry) -> Bool {
        guard let row = entry.base, row.isLink else { return false }
        return row.key.isOfLink ? links != .store : links != .follow && entry.local == nil
    }

    /// Says that the walk left out a name.
    func countExcluded(_ path: [UInt8], isDirectory: Bool) {
        countExcluded()
        nameExcluded(ObjectKey(isDirectory ? path + [UInt8(ascii: "/")] : path))
    }

    private func countExcluded() {
        counter.excluded.add(1, ordering: .relaxed)
    }

    /// Reports what the patterns leave out: the key, or the directory above it that they do.
    private func nameExcluded(_ key: ObjectKey) {
        guard let onExcluded, let ruling = filter.ruling(on: key), ruling.excludes,
            isNew(ruling.key)
        else { return }
        onExcluded(ruling.key, ruling.rule)
    }

    private func isNew(_ key: ObjectKey) -> Bool {
        counter.named.withLock { keys in
            keys.count < Self.namedLimit ? keys.insert(key).inserted : !keys.contains(key)
        }
    }

    /// The run is over: what the walk still asks for need not be matched.
    func stop() {
        counter.isStopped.store(true, ordering: .relaxed)
    }

    func isExcludedFromWalk(_ key: ObjectKey) -> Bool {
        !deletesExcluded && filter.excludes(key)
    }

    /// True if the walk would have found a file of the key.
    func looks(at entry: JoinedEntry, _ issues: ScanIssues) -> Bool {
        !isExcludedFromWalk(entry.key) && !holds(entry) && !issues.hides(entry.key)
            && !issues.isTagged(entry.key)
    }

    private func report(_ key: ObjectKey) {
        let isNew = counter.costly.withLock { keys in
            guard keys.count < Self.costlyLimit else { return false }
            return keys.insert(key).inserted
        }
        if isNew { onCostly(key) }
    }

    /// True if ``choose(_:)`` returns every entry of this key as it is.
    func surelyTakes(_ key: ObjectKey) -> Bool {
        held.isEmpty && filter.bounds.isEmpty && !freed.paths.names(key)
            && cursor.classify(key) == .included
    }

    /// The same entry, as one that was freed if another mirror or state has freed its file.
    func marking(_ entry: JoinedEntry, _ issues: ScanIssues) -> JoinedEntry {
        freed.marking(entry) { issues.isNestedMirror($0) || pathsAbove.contains($0) }
    }

    /// Reports what is in the way of what was freed, if an entry shows any.
    func report(
        _ entry: JoinedEntry,
        _ manifest: ManifestStore,
        _ issues: ScanIssues
    ) async throws(ManifestError) {
        if let place = try await freed.obstacle(of: entry, in: manifest) { issues.report(place) }
    }

    /// The entry to decide on; nil if the run skips it, also for a file that the walk found.
    func choose(_ entry: JoinedEntry, _ issues: ScanIssues) -> JoinedEntry? {
        if freed.mayConcern(entry) { freed.look(at: entry) }
        guard !filter.tags.isEmpty, issues.isTagged(entry.key) else { return choose(entry) }
        if entry.base != nil {
            issues.countTagged(entry)
        } else if entry.remote != nil {
            countExcluded()
        }
        return nil
    }

    /// The same by names, sizes and ages alone.
    func choose(_ entry: JoinedEntry) -> JoinedEntry? {
        // Most mirrors have freed nothing: an entry is not copied for that.
        if !freed.mayConcern(entry) { return chooseMirrored(entry) }
        if let chosen = freed.choose(entry) { return chooseMirrored(chosen) }
        if entry.remote != nil { onExcluded?(entry.key, "freed") }
        return nil
    }

    private func chooseMirrored(_ entry: JoinedEntry) -> JoinedEntry? {
        if holdsLink(entry) {
            countExcluded()
            counter.heldLinks.add(1, ordering: .relaxed)
            onExcluded?(entry.key, "--links \(links.rawValue)")
            return nil
        }
        if holdsName(entry) {
            countExcluded()
            counter.heldNames.add(1, ordering: .relaxed)
            onExcluded?(entry.key, "--names \(names.rawValue)")
            return nil
        }
        // Not even --delete=excluded, which is about names, deletes what is outside the bounds.
        if let option = filter.bounds.exclusion(of: entry, at: now) {
            countExcluded()
            onOutside(entry)
            onExcluded?(entry.key, "\(option)")
            return nil
        }
        switch cursor.classify(entry.key) {
        case .included:
            return isHeld(entry.key) ? chooseHeld(entry) : entry
        case .tooCostly:
            report(entry.key)
            return nil
        case .excluded:
            if let chosen = chooseExcluded(entry) { return chosen }
            if entry.remote != nil || entry.local != nil {
                countExcluded()
                nameExcluded(entry.key)
            }
            return nil
        }
    }

    /// What `--delete=excluded` deletes of an entry that the patterns leave out.
    func chooseDeleted(_ entry: JoinedEntry) -> JoinedEntry? {
        guard !holds(entry), filter.bounds.exclusion(of: entry, at: now) == nil,
            cursor.classify(entry.key) == .excluded
        else { return nil }
        return chooseExcluded(entry)
    }

    /// What `--delete=excluded` takes from what the filter hides.
    private func chooseExcluded(_ entry: JoinedEntry) -> JoinedEntry? {
        guard deletesExcluded else { return nil }
        // The user names what is excluded, whatever earlier runs saw of it.
        let base = entry.base?.leftOut(false)
        // To the side that is changed it looks as if the other one had lost it, and all guards of
        // deletion hold: only what is recorded and unchanged goes.
        switch direction {
        case .pull:
            guard entry.local != nil else { return nil }
            return JoinedEntry(key: entry.key, base: base, local: entry.local, remote: nil)
        case .push:
            guard entry.remote != nil else { return nil }
            return JoinedEntry(
                key: entry.key,
                base: base,
                local: nil,
                remote: entry.remote,
                likeDamaged: entry.likeDamaged
            )
        case .sync:
            return nil
        }
    }

    /// True for what rules hide that were accepted here and are not in force any more.
    private func isHeld(_ key: ObjectKey) -> Bool {
        !held.isEmpty && held.contains { $0.classify(key) != .included }
    }

    /// Nothing of what such rules hide is sent, or deleted in the bucket.
    ///
    /// What is new there is fetched, and what was fetched follows its object.
    private func chooseHeld(_ entry: JoinedEntry) -> JoinedEntry? {
        guard let local = entry.local else {
            if direction == .push {
                if entry.remote != nil { counter.keptThere.add(1, ordering: .relaxed) }
                return nil
            }
            guard direction == .sync, let base = entry.base else { return entry }
            // Nobody deleted what vanished while it was hidden.
            let row = base.leftOut(true)
            return JoinedEntry(key: entry.key, base: row, local: nil, remote: entry.remote)
        }
        if let base = entry.base,
            LocalChange(of: local, since: base, judgesInodes: judgesInodes) == .same,
            direction != .push || entry.remote != nil
        {
            return entry
        }
        if case .directory(isEmpty: false) = local.kind { return nil }
        if direction == .pull {
            countExcluded()
        } else {
            counter.withheld.add(1, ordering: .relaxed)
        }
        return nil
    }
}
