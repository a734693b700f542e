internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
package import ObjectTransfer
package import SyncModel
internal import SyncPlanner

/// Mirrors one directory and one remote.
package struct MirrorEngine: Sendable {
    var settings: MirrorSettings

    package init(settings: MirrorSettings) {
        self.settings = settings
    }

    /// Makes one side what the other is.
    ///
    /// Cancelling the task ends the run and keeps what the next run needs to resume.
    ///
    /// - Returns: What was done, also where items failed.
    /// - Throws: Why the run could not be done or ended early; the last event is the summary of
    ///   what was done until then.
    package func run(
        _ direction: SyncDirection,
        options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(SyncError) -> RunSummary {
        let paths = try RunPaths(options.paths, links: options.links)
        if paths.isLimited, options.allowsRebinding {
            throw SyncError(
                code: .configuration,
                message: "a run that is limited to paths cannot confirm anything of the whole "
                    + "mirror, as --rebind does; run once without paths"
            )
        }
        try options.checkPlan(settings)
        if let run = try shardedRun(direction, options, onEvent) {
            return try await run.perform(with: options)
        }
        let session: MirrorSession
        if let first = try await usableSession(options, onEvent) {
            session = first
        } else {
            session = try await open(options, mayFetchRules: false, onEvent)
        }
        if direction != .push {
            try session.requireWritable(settings)
        } else if settings.stateDirectory != nil {
            await session.manifest.goOnUnnumbered()
        }
        if let path = options.backupDirectory, !options.isDryRun {
            do throws(LocalError) {
                try session.directory.keepOldVersions(in: path)
            } catch {
                throw SyncError(code: .configuration, message: error.message, underlying: error)
            }
        }
        var run = try MirrorRun(
            settings: settings,
            session: session,
            direction: direction,
            options: options,
            onEvent: onEvent
        )
        // A plan may have deleted them already.
        if options.appliedPlan == nil { try await run.checkPaths() }
        try await run.acceptMounts()
        return options.isDryRun ? try await run.preview() : try await run.perform()
    }
}

extension MirrorRun {
    /// Checks that what the run is limited to exists.
    func checkPaths() async throws(SyncError) {
        do {
            try await paths.check(
                session.directory,
                session.manifest,
                in: (store, settings.prefix),
                allowsMissing: options.allowsMissingPaths,
                BlockingQueue(
                    label: "osssync.paths",
                    width: 1,
                    threads: settings.environment.threads
                )
            )
        } catch {
            throw SyncError(any: error)
        }
    }
}

extension MirrorEngine {
    /// How often a directory that another run holds is tried again; not every file system can wait
    /// for a lock, and none for two at once.
    private static let lockInterval = Duration.seconds(1)

    /// Opens the session, waiting for another run as long as the options say.
    func open(
        _ options: RunOptions,
        mayFetchRules: Bool,
        _ onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(SyncError) -> MirrorSession {
        let start = settings.environment.monotonic()
        var isWaiting = false
        while true {
            do throws(SyncError) {
                return try await MirrorSession.open(
                    settings,
                    locks: !options.isDryRun,
                    allowsRebinding: options.allowsRebinding,
                    mayFetchRules: mayFetchRules,
                    onWait: { onEvent(.warning(message: $0)) }
                )
            } catch {
                let waited = settings.environment.monotonic() - start
                let left = options.lockTimeout.map { $0 - waited } ?? Self.lockInterval
                guard error.code == .locked, left > .zero else { throw error }
                if !isWaiting { onEvent(.warning(message: "waiting: \(error.message)")) }
                isWaiting = true
                do {
                    try await settings.environment.sleep(min(left, Self.lockInterval))
                } catch {
                    throw SyncError(any: error)
                }
            }
        }
    }

    /// Nil if the bucket's ignore file had to be fetched first, because the one that it gave
    /// before cannot be used; nothing else was done then.
    private func usableSession(
        _ options: RunOptions,
        _ onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(SyncError) -> MirrorSession? {
        let isInside = try RunPaths(options.paths, links: .skip).contains(IgnoreFile.key)
        let mayFetch = !options.isDryRun && isInside
        let session = try await open(options, mayFetchRules: mayFetch, onEvent)
        guard session.rulesProblem != nil else { return session }
        var fetching = RunOptions.standard
        fetching.connectionLimit = options.connectionLimit
        if !options.paths.isEmpty { fetching.paths = [IgnoreFile.name] }
        let run = try MirrorRun(
            settings: settings,
            session: session,
            direction: .pull,
            options: fetching,
            onEvent: { event in
                switch event {
                case .item, .retry: onEvent(event)
                case .started, .progress, .excluded, .warning, .finished: return
                }
            }
        )
        _ = try await run.perform()
        return nil
    }
}

extension DecisionPolicy {
    /// The longest key of either service, in bytes.
    private static let longestKey = 1_023

    init(_ direction: SyncDirection, _ options: RunOptions, prefix: ObjectKey) {
        self.init(
            direction: direction,
            deletesKnown: options.deletesKnown,
            deletesExtra: options.deletesExtra,
            replacesLocalChanges: options.replacesLocalChanges,
            comparesContent: options.comparesContent,
            conflict: options.conflictPolicy,
            judgesInodes: true,
            maximumKeyLength: Self.longestKey - prefix.bytes.count
        )
        keepsEmptyDirectories = options.keepsEmptyDirectories
        links = options.links
        names = options.names
    }
}
