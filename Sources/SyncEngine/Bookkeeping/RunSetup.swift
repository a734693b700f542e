internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What a run works with, before it has a number.
///
/// What only looks at a mirror, or does other work in it, has this and is no run.
struct RunSetup: Sendable {
    let settings: MirrorSettings
    private(set) var session: MirrorSession
    let direction: SyncDirection
    let options: RunOptions
    /// What the run is limited to.
    let paths: RunPaths
    /// What the run skips.
    let filter: FileFilter
    /// What its decisions depend on.
    let policy: DecisionPolicy
    let onEvent: @Sendable (SyncEvent) -> Void
    let lease: LeaseLook?
    let limiter: ConnectionLimiter
    /// What the run may still transfer.
    let budget: TransferBudget
    /// The store for all requests of this run.
    let store: LimitedStore

    /// Without `onEvent` it tells nothing.
    init(
        _ settings: MirrorSettings,
        _ session: MirrorSession,
        _ direction: SyncDirection,
        _ options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) throws(TransferError) {
        self.settings = settings
        self.session = session
        self.direction = direction
        self.options = options
        if let shard = settings.shard {
            paths = RunPaths(shard)
        } else {
            paths = try RunPaths(options.paths, links: options.links)
        }
        self.session.known.limit(to: paths.ranges)
        filter = session.ignored.followed(by: options.filter)
        do throws(LocalError) {
            policy = try DecisionPolicy(direction, options, session, prefix: settings.prefix)
        } catch {
            throw TransferError(error)
        }
        self.onEvent = onEvent
        limiter = ConnectionLimiter(
            maximum: options.connectionLimit,
            monotonic: settings.environment.monotonic,
            sleep: settings.environment.sleep
        )
        lease = LeaseLook(session, settings)
        budget = TransferBudget(bytes: options.maximumTransfer)
        store = LimitedStore(
            settings.store,
            limiter,
            budget,
            failures: settings.storeObserver.failures,
            mayChange: lease?.question
        )
    }

    /// With `--rebind`, a disk that is not mounted is gone on purpose, unless the answer was to
    /// another question: of another remote, or of what is extra after the manifest was rebuilt.
    mutating func acceptMounts() async throws(TransferError) {
        guard options.allowsRebinding, !session.isManifestRebuilt else { return }
        do {
            let isUnconfirmed = try await RebuiltManifest.isUnconfirmed(
                direction,
                filter,
                session.manifest
            )
            let isAnswered = options.deletesExtra && isUnconfirmed
            if !isAnswered { session.known.acceptMounts() }
        } catch {
            throw TransferError(any: error)
        }
    }

    /// Checks that what the run is limited to exists.
    func checkPaths() async throws(TransferError) {
        do {
            try await paths.check(
                session.directory,
                session.manifest,
                in: (store, settings.prefix),
                allowsMissing: options.allowsMissingPaths,
                expecting: session.freed,
                BlockingQueue(
                    label: "osssync.paths",
                    width: 1,
                    threads: settings.environment.threads
                )
            )
        } catch {
            throw TransferError(any: error)
        }
    }

    /// What becomes of freed files: those of the paths come back, because they were asked for by
    /// name.
    var freed: FreedPolicy {
        paths.isLimited && direction != .push ? options.freed : .stay
    }

    func tellStart() {
        let (directory, remote) = (settings.directory, settings.displayRemote)
        onEvent(.started(direction: direction, directory: directory, remote: remote))
    }

    func tellWarnings() {
        for warning in warnings { onEvent(.warning(message: warning)) }
    }

    /// What is to be known before anything else.
    var warnings: [String] {
        let known = session.warnings + filter.problems(directory: settings.directory)
        guard !session.known.isSame else { return known }
        return known + [
            "this directory does not match the last run (a copy, another disk or a "
                + "restored backup); nothing is deleted in this run, and what is missing "
                + "or differs is treated as new, not as deleted or edited"
        ]
    }

    /// What unfinished transfers of the paths have moved, for uploads with parts of `partSize`.
    func keptTransfers(partSize: Int64) async throws -> KeptTransfers {
        try await KeptTransfers(
            in: session.manifest,
            paths.ranges,
            settings.store.dialect,
            partSize: partSize
        )
    }
}

/// Works with the setup of a run.
protocol RunStep: Sendable {
    var setup: RunSetup { get }
}

extension RunStep {
    var settings: MirrorSettings { setup.settings }
    var session: MirrorSession { setup.session }
    var direction: SyncDirection { setup.direction }
    var options: RunOptions { setup.options }
    var paths: RunPaths { setup.paths }
    var filter: FileFilter { setup.filter }
    var policy: DecisionPolicy { setup.policy }
}

extension DecisionPolicy {
    /// The longest key of either service, in bytes.
    private static let longestKey = 1_023

    init(
        _ direction: SyncDirection,
        _ options: RunOptions,
        _ session: MirrorSession,
        prefix: ObjectKey
    ) throws(LocalError) {
        self.init(
            direction: direction,
            deletesKnown: options.deletesKnown,
            deletesExtra: options.deletesExtra,
            replacesLocalChanges: options.replacesLocalChanges,
            comparesContent: options.comparesContent,
            conflict: options.conflictPolicy,
            judgesInodes: try session.directory.keepsInodeNumbers(),
            maximumKeyLength: Self.longestKey - prefix.bytes.count
        )
        keepsEmptyDirectories = options.keepsEmptyDirectories
        carriesModes = options.keepsFileMetadata
        links = options.links
        names = options.names
        knowsDirectory = session.known.isSame
        ordinaryDirectory = session.known.ordinaryDirectory
        sendsModes = session.known.sendsModes
    }
}
