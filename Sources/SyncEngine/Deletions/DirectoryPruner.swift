internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Removes the directories that deletions left empty, up to those that have an object of their own,
/// and none above the paths that a run is limited to.
struct DirectoryPruner: Sendable {
    let context: RunContext

    /// Removes what is empty of `emptied` and above; the rows of `forgetting` are about to go and
    /// keep nothing.
    ///
    /// - Returns: Those that are perhaps empty and could not be removed, with the reasons.
    func prune(
        _ emptied: Set<RelativePath>,
        forgetting: Set<ObjectKey>
    ) async throws(ManifestError) -> [(path: RelativePath, failure: ItemFailure)] {
        let directory = context.directory
        var failures: [(path: RelativePath, failure: ItemFailure)] = []
        for path in emptied {
            var next: RelativePath? = path
            while let parent = next {
                guard context.paths.contains(parent.key) else { break }
                if !forgetting.contains(parent.key),
                    try await context.manifest.entry(parent.key) != nil
                {
                    break
                }
                do throws(LocalError) {
                    let isRemoved = try await context.closed.writing([parent]) {
                        () throws(LocalError) in
                        try directory.removeDirectoryIfEmpty(parent)
                    }
                    guard isRemoved else { break }
                } catch {
                    failures.append((parent, ItemFailure(error)))
                    break
                }
                next = parent.parent
            }
        }
        return failures
    }

    /// The recorded permissions of a directory that is to be removed, if it has special ones and
    /// the run keeps what it removes.
    func keptMode(_ deletion: PlannedDeletion) async throws(ManifestError) -> UInt32? {
        guard deletion.identity == nil, context.options.keepsRemoved else { return nil }
        let mode = try await context.manifest.entry(deletion.key)?.mode
        return mode == context.policy.ordinaryDirectory ? nil : mode
    }

    /// Removes a directory if it is empty, after its permissions were noted in the trash.
    func remove(_ path: RelativePath, keeping mode: UInt32?) throws(LocalError) -> Bool {
        let directory = context.directory
        if let mode, try directory.holdsSomething(path) == false {
            let permissions = try directory.permissions(ofMarker: mode)
            try directory.keepDirectory(path, permissions: permissions, run: context.trashName)
        }
        return try directory.removeDirectoryIfEmpty(path)
    }

    /// Finishes what killed runs were about to do, and drops their plans.
    ///
    /// Of what they planned to delete, that which is gone may have left empty directories. To this
    /// run they would look like the user's: a pull would keep them forever, a push would create
    /// objects for them. A limited run leaves what is not of its paths to a later run.
    func finishEarlierRuns() async throws {
        let manifest = context.manifest
        var run = context.run
        while let earlier = try await manifest.lastPlannedRun(before: run) {
            try await finish(earlier)
            run = earlier
        }
        guard !context.paths.isLimited else { return }
        try await manifest.dropPlannedDeletions(before: context.run)
    }

    private func finish(_ earlier: RunID) async throws {
        let (directory, manifest) = (context.directory, context.manifest)
        let planned = RowSelection.deletionsBackwards(run: earlier, side: .local)
        for try await page in manifest.pages(planned, limit: context.limits.batch) {
            let paths = page.filter { context.paths.contains($0.key) }.compactMap { deletion in
                // A name that was unsafe then has left nothing here.
                try? context.path(of: deletion.key)
            }
            let emptied = await context.disk.run {
                var emptied: Set<RelativePath> = []
                for path in paths {
                    guard let parent = path.parent, !emptied.contains(parent) else { continue }
                    // Where it can't be looked at, nothing is known to have been emptied.
                    let state = try? directory.identity(of: path)
                    if state == .absent { emptied.insert(parent) }
                }
                return emptied
            }
            // One that may not be removed now either is an empty directory from here on.
            _ = try await prune(emptied, forgetting: [])
        }
        guard context.paths.isLimited else { return }
        try await manifest.dropPlannedDeletions(
            run: earlier,
            atOrBeneath: context.paths.paths.map(\.key)
        )
    }
}
