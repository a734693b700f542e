internal import LocalStorage
internal import SyncModel
internal import SyncPlanner

/// Counts what differs, regardless of what a run would do about it.
struct DifferenceCounter {
    private let issues: ScanIssues
    /// Of the direction that makes both sides equal.
    private let policy: DecisionPolicy
    private var found = Differences()

    init(_ issues: ScanIssues, _ policy: DecisionPolicy) {
        self.issues = issues
        self.policy = policy
    }

    func counted(_ scope: PlanScope, reserved: Int) -> Differences {
        var found = found
        found.notMirrored = issues.notMirroredCount + reserved
        found.excluded = scope.excludedCount + issues.taggedCount
        return found
    }

    mutating func add(_ entry: JoinedEntry) {
        guard !entry.key.isEmpty else { return }
        var hasEntries = false
        if case .directory(isEmpty: false)? = entry.local?.kind { hasEntries = true }
        let isImplied = hasEntries && entry.local.map { !hasOwnMode($0, policy) } ?? true
        let isLeftOut = !policy.keepsEmptyDirectories && RelativePath.isDirectory(entry.key)
        if entry.base != nil, entry.local == nil, entry.remote != nil,
            let cover = issues.cover(of: entry.key)
        {
            if cover.replacesWhatWasThere { issues.count(entry, under: cover) }
            return
        }
        let base = entry.hasVanishedUnseen ? nil : entry.base
        switch (base, entry.local, entry.remote) {
        case (_, nil, nil): break
        case (nil, .some, nil): if !isImplied, !isLeftOut { found.onlyLocal += 1 }
        case (nil, nil, .some):
            if !isLeftOut, !issues.hides(entry.key), !Self.isReserved(entry.key) {
                found.onlyRemote += 1
            }
        case (nil, .some, .some): if !RelativePath.isDirectory(entry.key) { found.unknown += 1 }
        case (.some, .some, nil): if !hasEntries { found.deletedThere += 1 }
        case (.some, nil, .some): found.deletedHere += 1
        case (let base?, let local?, let remote?): addChanges(base, local, remote)
        }
    }

    /// True for a name of osssync's own files, which are never mirrored.
    private static func isReserved(_ key: ObjectKey) -> Bool {
        do throws(UnsafeKey) {
            _ = try RelativePath(key: key)
            return false
        } catch {
            return error == .reserved
        }
    }

    private mutating func addChanges(
        _ base: ManifestEntry,
        _ local: LocalEntry,
        _ remote: RemoteObject
    ) {
        if remote.kind != .symlink, RemoteChange(of: remote, since: base) == .changed {
            found.remoteChanges += 1
        }
        switch LocalChange(of: local, since: base, judgesInodes: policy.judgesInodes) {
        case .changed: found.localChanges += 1
        case .shortened: found.damaged += 1
        case .touched where base.isDamaged, .same where base.isDamaged: found.damaged += 1
        // What is empty needs no comparison.
        case .touched where base.size > 0: found.unknown += 1
        // Asked to compare what no time tells.
        case .same where policy.comparesContent && !local.isDirectory: found.unknown += 1
        case .same, .touched:
            if changesMode(base, local, remote, policy) { found.localChanges += 1 }
        case .absent: break
        }
    }
}
