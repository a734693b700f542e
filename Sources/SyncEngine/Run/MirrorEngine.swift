internal import ManifestStore
package import ObjectTransfer
package import SyncModel
internal import Synchronization

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
    ) async throws(TransferError) -> RunSummary {
        let paths = try RunPaths(options.paths, links: options.links)
        if paths.isLimited, options.allowsRebinding {
            throw TransferError(
                code: .configuration,
                message: "a run that is limited to paths cannot confirm anything of the whole "
                    + "mirror, as --rebind does; run once without paths"
            )
        }
        try options.checkPlan(settings)
        let session: MirrorSession
        if let first = try await usableSession(options, direction, onEvent) {
            session = first
        } else {
            session = try await MirrorSession.open(
                settings,
                options,
                direction,
                mayFetchRules: false,
                onEvent
            )
        }
        try session.requirePlaces(settings, direction, options)
        if direction == .push, settings.stateDirectory != nil {
            await session.manifest.goOnUnnumbered()
        }
        var setup = try RunSetup(settings, session, direction, options, onEvent: onEvent)
        // A plan may have deleted them already.
        if options.appliedPlan == nil { try await setup.checkPaths() }
        try await setup.acceptMounts()
        return options.isDryRun
            ? try await DryRun(setup).perform() : try await MirrorRun(setup).perform()
    }
}

extension MirrorEngine {
    /// Nil if the bucket's ignore file had to be fetched first, because the one that it gave
    /// before cannot be used; nothing else was done then.
    private func usableSession(
        _ options: RunOptions,
        _ direction: SyncDirection,
        _ onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(TransferError) -> MirrorSession? {
        let isInside = try RunPaths(options.paths, links: .skip).contains(IgnoreFile.key)
        let mayFetch = !options.isDryRun && isInside
        let session = try await MirrorSession.open(
            settings,
            options,
            direction,
            mayFetchRules: mayFetch,
            onEvent
        )
        guard session.rules.problem != nil else { return session }
        var fetching = RunOptions.standard
        fetching.connectionLimit = options.connectionLimit
        if !options.paths.isEmpty { fetching.paths = [IgnoreFile.name] }
        let setup = try RunSetup(settings, session, .pull, fetching) { event in
            switch event {
            case .item, .retry: onEvent(event)
            case .started, .progress, .excluded, .warning, .finished: return
            }
        }
        _ = try await MirrorRun(setup).perform()
        return nil
    }
}

// MARK: - Without a run of its own

extension MirrorEngine {
    /// Counts what a pull, a push and a sync would do, and names what was interrupted; changes
    /// nothing and reads no content.
    ///
    /// A direction that has options of its own is counted by them, but for their filter.
    /// `onDetail` takes each item, and if the options ask for it each name that is left out.
    package func status(
        options: RunOptions,
        of directions: [SyncDirection: RunOptions] = [:],
        onDetail: (@Sendable (StatusDetail) -> Void)? = nil
    ) async throws(TransferError) -> StatusReport {
        let session = try await MirrorSession.open(settings, locks: false, allowsRebinding: false)
        do {
            return try await StatusReader(settings: settings)
                .read(session, options, directions, onDetail)
        } catch {
            throw TransferError(any: error)
        }
    }

    /// What is known of one path, and what each direction would do with it by the rules and the
    /// table of a run; takes no lock, makes one request and changes nothing.
    ///
    /// Not said: what follows from other keys, such as a name that is a directory in the bucket.
    ///
    /// - Throws: `configuration` for a path that neither side has and the manifest does not record.
    package func explain(
        path text: String,
        of directions: [SyncDirection: RunOptions]
    ) async throws(TransferError) -> Explanation {
        let path = try LocalMirror.path(text)
        let session = try await MirrorSession.open(settings, locks: false, allowsRebinding: false)
        do {
            return try await PathExplainer(settings: settings).explain(
                path,
                namesDirectory: text.utf8.last == UInt8(ascii: "/"),
                session,
                directions
            )
        } catch {
            throw TransferError(any: error)
        }
    }

    /// Reads recorded files and compares their content with the manifest, and the objects' headers
    /// if that is asked for; downloads nothing but what is to be repaired.
    ///
    /// Damaged files are marked in the manifest, so that no run replaces or deletes their objects.
    /// Cancelling the task ends it between two files, with its place kept if there is a budget.
    ///
    /// - Returns: What was found.
    /// - Throws: `TransferError`: `locked` while another run is active, `configuration` for a path
    ///   that is neither here nor in the manifest.
    package func verify(
        _ options: VerifyOptions,
        onFinding: @escaping @Sendable (VerifyFinding) -> Void,
        onProgress: (@Sendable (RunProgress) -> Void)? = nil
    ) async throws(TransferError) -> VerifyReport {
        let paths = try RunPaths(options.paths, links: .store)
        var runOptions = RunOptions.standard
        runOptions.lockTimeout = options.lockTimeout
        runOptions.replacesLocalChanges = true
        runOptions.names = .escape
        let session = try await MirrorSession.open(
            settings,
            runOptions,
            .pull,
            mayFetchRules: false
        ) { _ in }
        let setup = try RunSetup(settings, session, .pull, runOptions)
        if settings.stateDirectory != nil { await session.manifest.goOnUnnumbered() }
        if options.repairs { try session.requireWritable(settings) }
        do {
            let executor = ItemExecutor(ItemParts(setup))
            let disk = executor.context.disk
            try await paths.check(session.directory, session.manifest, in: nil, disk)
            var scrub = Scrub(
                executor: executor,
                options: options,
                paths: paths,
                freed: session.freed,
                onFinding: onFinding,
                onProgress: onProgress
            )
            try await scrub.run()
            if options.repairs {
                let found = scrub
                let tried = Mutex(0)
                if try await session.manifest.first(.damagedEntries) != nil {
                    let run = MirrorRun(setup)
                    let summary = try await run.perform(countsAsSuccess: false) { executor in
                        let count = try await found.repair(with: executor)
                        tried.withLock { $0 = count }
                        await executor.publications.flush()
                        await executor.publications.recordRows()
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
            throw TransferError(any: error)
        }
    }

    /// Drops checkpoints: deletes partial files and aborts multipart uploads.
    ///
    /// `path` is a file or directory beneath the mirrored one; nil means all.
    ///
    /// - Throws: `TransferError`: `configuration` for a path that is neither here nor in the
    ///   manifest.
    package func cancelTransfers(path: String?) async throws(TransferError) -> CancelReport {
        let session = try await MirrorSession.open(settings, locks: true, allowsRebinding: false)
        var options = RunOptions.standard
        if let path { options.paths = [path] }
        let setup = try RunSetup(settings, session, .pull, options)
        do {
            let manifest = session.manifest
            let housekeeping = Housekeeping(context: ItemParts(setup).context)
            var report = CancelReport()
            try await manifest.forEachDownload(in: setup.paths.ranges) { checkpoint in
                try await housekeeping.drop(checkpoint)
                report.downloadsDropped += 1
                let bytes = InterruptedTransfer(checkpoint).bytesFinished
                report.bytesDropped = report.bytesDropped.addingClamped(bytes)
            }
            try await manifest.forEachUpload(in: setup.paths.ranges) { checkpoint in
                try await housekeeping.drop(checkpoint)
                report.uploadsAborted += 1
                let bytes = InterruptedTransfer(checkpoint).bytesFinished
                report.bytesDropped = report.bytesDropped.addingClamped(bytes)
            }
            // What is unfinished may be nowhere else yet.
            if report.downloadsDropped + report.uploadsAborted == 0 {
                let disk = housekeeping.context.disk
                try await setup.paths.check(session.directory, manifest, in: nil, disk)
            }
            try await manifest.checkpointAndClose()
            return report
        } catch {
            throw TransferError(any: error)
        }
    }
}
