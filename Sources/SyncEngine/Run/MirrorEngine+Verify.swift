internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
package import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

extension MirrorEngine {
    /// Reads recorded files and compares their content with the manifest, and the objects' headers
    /// if that is asked for; downloads nothing but what is to be repaired.
    ///
    /// Damaged files are marked in the manifest, so that no run replaces or deletes their objects.
    /// Cancelling the task ends it between two files, with its place kept if there is a budget.
    ///
    /// - Returns: What was found.
    /// - Throws: `SyncError`: `locked` while another run is active, `configuration` for a path that
    ///   is neither here nor in the manifest.
    package func verify(
        _ options: VerifyOptions,
        onFinding: @escaping @Sendable (VerifyFinding) -> Void
    ) async throws(SyncError) -> VerifyReport {
        let paths = try RunPaths(options.paths, links: .store)
        let session = try await MirrorSession.open(settings, locks: true, allowsRebinding: false)
        var runOptions = RunOptions.standard
        runOptions.replacesLocalChanges = true
        runOptions.names = .escape
        let run = try MirrorRun(
            settings: settings,
            session: session,
            direction: .pull,
            options: runOptions,
            onEvent: { _ in }
        )
        if options.repairs { try session.requireWritable(settings) }
        do {
            let executor = run.parts(RunID(0)).executor
            let disk = executor.context.disk
            try await paths.check(session.directory, session.manifest, in: nil, disk)
            var scrub = Scrub(
                executor: executor,
                options: options,
                paths: paths,
                onFinding: onFinding
            )
            try await scrub.run()
            if options.repairs {
                let found = scrub
                let tried = Mutex(0)
                if try await session.manifest.first(.damagedEntries) != nil {
                    let summary = try await run.perform(countsAsSuccess: false) { parts in
                        let count = try await found.repair(with: parts.executor)
                        tried.withLock { $0 = count }
                        await parts.publications.flush()
                        await parts.publications.recordRows()
                    }
                    scrub.report.repaired = summary.transferred
                    // Also those that an earlier one found, and that were removed since.
                    scrub.report.damaged = max(scrub.report.damaged, tried.withLock(\.self))
                    return scrub.report
                }
            }
            try await session.manifest.checkpointAndClose()
            return scrub.report
        } catch {
            throw SyncError(any: error)
        }
    }
}
