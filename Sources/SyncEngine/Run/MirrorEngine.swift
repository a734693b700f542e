internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Mirrors one directory and one remote.
package struct MirrorEngine: Sendable {
    var settings: MirrorSettings

    package init(settings: MirrorSettings) {
        self.settings = settings
    }

    /// The run of a mirror that is not cut.
    func runWhole(
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
        let session: MirrorSession
        if let first = try await usableSession(options, onEvent) {
            session = first
        } else {
            session = try await MirrorSession.open(settings, options, mayFetchRules: false, onEvent)
        }
        try session.requirePlaces(settings, direction, options)
        if direction == .push, settings.stateDirectory != nil {
            await session.manifest.goOnUnnumbered()
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
    /// Nil if the bucket's ignore file had to be fetched first, because the one that it gave
    /// before cannot be used; nothing else was done then.
    private func usableSession(
        _ options: RunOptions,
        _ onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(SyncError) -> MirrorSession? {
        let isInside = try RunPaths(options.paths, links: .skip).contains(IgnoreFile.key)
        let mayFetch = !options.isDryRun && isInside
        let session = try await MirrorSession.open(
            settings,
            options,
            mayFetchRules: mayFetch,
            onEvent
        )
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
        carriesModes = options.keepsFileMetadata
        links = options.links
        names = options.names
    }
}
