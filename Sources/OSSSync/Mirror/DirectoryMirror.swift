internal import OSSBucket
internal import ObjectStorage
public import SyncEngine
public import SyncModel

/// A directory and the remote that it is kept in step with.
///
/// ```swift
/// let mirror = try DirectoryMirror(
///     directory: "Photos", remote: BucketLocation(parsing: "oss://media/photos"),
///     configuration: configuration, deviceName: "kitchen"
/// )
/// let summary = try await mirror.push(.standard) { event in show(event) }
/// ```
/// A run (1) locks the directory, (2) compares both sides with the manifest of what they last had
/// in common, and (3) transfers what differs; after an interruption the next run continues. The
/// manifest is in `.osssync` below the directory, or in the chosen state directory.
///
/// Not guaranteed: two runs on one directory; the second ends with an error of code `locked`.
public struct DirectoryMirror: Sendable {
    /// The directory, as it was given.
    public let directory: String
    /// The remote.
    public let remote: BucketLocation
    let link: LinkFile?
    /// The text of the directory's configuration, with lines that are not about the link.
    let linkContent: [UInt8]?
    /// True if another remote than before is what the user wants.
    let mayRebind: Bool
    /// Nil for a mirror that an app configured, which needs no link.
    let sources: ConfigurationSources?
    let stateDirectory: String?
    private let deviceName: String
    let connection: ResolvedConnection
    /// Nil for contents that are stored as they are.
    let encryption: MirrorEncryption?

    /// Uses an app's configuration: reads neither the environment nor any file.
    ///
    /// Nothing is written, no link either, and no request is made.
    ///
    /// - Parameters:
    ///   - directory: The directory's path. A pull makes its last part if it is missing.
    ///   - remote: The remote. Another one than that of earlier runs is refused unless the options
    ///     of a run allow it.
    ///   - configuration: How the bucket is reached; how many requests are under way at once is
    ///     said by the options of each run.
    ///   - deviceName: Stands in the names of files that are kept in a conflict: letters, digits
    ///     and hyphens.
    ///   - stateDirectory: Where the manifest and unfinished transfers are; nil for `.osssync`
    ///     beneath the directory.
    /// - Throws: `TransferError` of code `configuration`.
    public init(
        directory: String,
        remote: BucketLocation,
        configuration: StoreConfiguration,
        deviceName: String,
        stateDirectory: String? = nil
    ) throws(TransferError) {
        self.directory = directory
        self.remote = remote
        self.deviceName = deviceName
        self.stateDirectory = stateDirectory
        link = nil
        linkContent = nil
        sources = nil
        mayRebind = false
        encryption = nil
        connection = try ResolvedConnection(remote.bucket, remote.dialect, configuration)
    }

    /// Reads a directory's link, or takes `remote` for one that has none.
    ///
    /// Nothing is written and no request is made.
    ///
    /// - Parameters:
    ///   - directory: The directory's path.
    ///   - remote: The remote, for a directory that is not linked or is to be linked anew.
    ///   - allowsRebinding: Accepts a `remote` that is not the linked one.
    ///   - sources: Where the connection is configured.
    /// - Throws: `TransferError`: `configuration` if there is no link and no remote, or something
    ///   in the configuration is unusable; `refused` if `remote` is another one than the linked.
    package init(
        directory: String,
        remote: BucketLocation?,
        allowsRebinding: Bool,
        sources: ConfigurationSources
    ) throws(TransferError) {
        let state = sources.options.stateDirectory
        let shown = displayText(directory)
        var link: LinkFile?
        linkContent = try MirrorLink.read(directory: directory, stateDirectory: state)
        // One that is not linked any more was unlinked by its user.
        mayRebind = allowsRebinding || linkContent == nil
        if let linkContent {
            let path = DirectoryConfiguration.path(directory: directory, stateDirectory: state)
            link = try LinkFile(linkContent, path: path)
        }
        let linked: BucketLocation?
        if let link { linked = try BucketLocation(parsing: link.remote) } else { linked = nil }
        if let remote, let linked, remote != linked {
            try MirrorLink.requireOwn(state, directory)
            guard allowsRebinding else {
                throw TransferError(
                    code: .refused,
                    message: "'\(shown)' is linked with '\(linked.display)', not with "
                        + "'\(remote.display)'; nothing was changed. If the remote changed on "
                        + "purpose, use --rebind"
                )
            }
            if link?.encryption == MirrorEncryption.contents, !sources.options.encryptsContents {
                throw TransferError(
                    code: .refused,
                    message: "the contents of '\(shown)' are encrypted, and would not be in "
                        + "'\(remote.display)'; nothing was changed. Use 'osssync init --rebind "
                        + "--encrypt', or end the link first (osssync init --unlink)"
                )
            }
            link = nil
        }
        guard let chosen = remote ?? linked else {
            // Most likely its name is mistyped, and a link would create it.
            try MirrorLink.require(directory: directory)
            throw TransferError(
                code: .configuration,
                message:
                    "'\(shown)' is not linked with a remote; specify one as oss://BUCKET/PREFIX "
                    + "or s3://BUCKET/PREFIX, or run 'osssync init DIR REMOTE' first"
            )
        }
        self.directory = directory
        self.remote = chosen
        self.link = link
        self.sources = sources
        stateDirectory = state
        deviceName = sources.hostName
        connection = try ResolvedConnection(chosen, link: link, sources: sources)
        encryption = try MirrorEncryption(
            link,
            sources,
            chosen.dialect,
            directory: directory
        )
        if encryption == nil { try MirrorEncryption.requireNone(of: directory, but: state) }
    }

    /// Makes the directory have what the remote has; as ``run(_:options:onEvent:)``.
    @discardableResult
    public func pull(
        _ options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) async throws(TransferError) -> RunSummary {
        try await run(.pull, options: options, onEvent: onEvent)
    }

    /// Makes the remote have what the directory has; as ``run(_:options:onEvent:)``.
    @discardableResult
    public func push(
        _ options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) async throws(TransferError) -> RunSummary {
        try await run(.push, options: options, onEvent: onEvent)
    }

    /// Makes both sides have what either changed since the last run; as
    /// ``run(_:options:onEvent:)``.
    ///
    /// What both sides changed is a conflict. What one side removed is removed from the other only
    /// if the options allow it and the other side did not change it.
    @discardableResult
    public func sync(
        _ options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) async throws(TransferError) -> RunSummary {
        try await run(.sync, options: options, onEvent: onEvent)
    }

    /// Makes one side what the other is, or each what the other has changed.
    ///
    /// A directory that belongs to a user's configuration is linked first if it is not. Cancelling
    /// the task ends the run and keeps what the next run needs to resume.
    ///
    /// - Parameters:
    ///   - direction: Which side is changed.
    ///   - options: The choices of this run.
    ///   - onEvent: Called from any thread during the run; the last event is the summary.
    /// - Returns: What was done, also where items failed.
    /// - Throws: `TransferError` if the run could not be done or ended early.
    public func run(
        _ direction: SyncDirection,
        options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(TransferError) -> RunSummary {
        if direction != .pull {
            try requireSender()
            // A first sync makes the directory, as a pull does.
            if direction == .push || isLinked { try MirrorLink.require(directory: directory) }
            try options.properties.check(for: remote.dialect)
        }
        if let time = options.asOf {
            try await checkPast(time)
        }
        try requirePassword()
        // The tasks of a mirror that is cut are many, and each would ask.
        if direction != .pull, !options.isDryRun, options.shard == nil {
            try await requirePlainObjects(options.filter)
        }
        if sources != nil, !isLinked, !options.isDryRun {
            // A misspelt remote must not become the one that later runs are held to.
            let client = try bucketClient()
            let isEmpty =
                options.asOf == nil
                ? try await !client.hasObjects(beneath: remote.prefix)
                : try await client.keepsVersions(beneath: remote.prefix) == nil
            let hasFiles = direction == .pull ? true : try hasFiles()
            if isEmpty, direction == .pull || direction == .sync && !hasFiles {
                throw await nothingThere(client)
            }
            if isEmpty, let refusal = await objectInsteadOfPrefix(client) { throw refusal }
            if !isEmpty, !hasFiles, direction == .push { throw nothingHere }
            try writeLink()
        }
        if options.restoreDays != nil, try !bucketClient().listsRestoredObjects {
            throw TransferError(
                code: .configuration,
                message: "the listings of this store do not tell which objects are restored, so "
                    + "that --restore would ask again and again; use --provider aws if it is "
                    + "Amazon S3"
            )
        }
        let engine = try engine(
            connectionLimit: options.connectionLimit,
            asOf: direction == .pull ? options.asOf : nil
        )
        let storesArchived = direction != .pull && options.properties.isArchived
        return try await engine.run(direction, options: options) { event in
            onEvent(event)
            if storesArchived, case .started = event {
                onEvent(.warning(message: Self.archiveWarning))
            }
        }
    }

    /// Asks whether a directory is a mirror, before a task of an array opens it: where its disk is
    /// not mounted, nothing is to be written into the mount point.
    ///
    /// - Parameter directory: Its path.
    /// - Throws: `TransferError` of code `refused` if nothing was mirrored into the directory yet.
    package static func requireMirror(in directory: String) throws(TransferError) {
        try MirrorEngine.requireMirror(in: directory)
    }

    /// Cuts the mirror into shards, each a range of keys with a manifest of its own, so that many
    /// processes on many machines can each do some of them; one that is cut is cut anew.
    ///
    /// A directory that belongs to a user's configuration is linked first if it is not.
    ///
    /// - Parameters:
    ///   - options: How many shards, or where they begin.
    ///   - onWarning: Called with what a user should know.
    /// - Returns: The shards in key order.
    /// - Throws: `TransferError`: `locked` while a run is at work; the mirror is as it was then.
    package func cut(
        _ options: CutOptions,
        onWarning: @escaping @Sendable (String) -> Void
    ) async throws(TransferError) -> [ShardReport] {
        if !options.isDryRun { try linkIfConfigured() }
        return try await engine(connectionLimit: options.connectionLimit, asOf: nil)
            .cut(options, onWarning: onWarning)
    }

    /// Ends a round: deletes what the runs of all shards have planned, if all of them have come to
    /// their ends and nothing speaks against it.
    ///
    /// - Parameters:
    ///   - round: The name that the runs of the shards were given.
    ///   - direction: What those runs were.
    ///   - options: Those of the runs; the limits of deletions can be others.
    ///   - onEvent: Called from any thread; the last event is the summary.
    /// - Returns: What was done.
    /// - Throws: `TransferError`: `locked` while a run of a shard is at work, `configuration` if
    ///   the options differ from those of the runs.
    package func finish(
        round: String,
        _ direction: SyncDirection,
        options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(TransferError) -> RunSummary {
        try await engine(connectionLimit: options.connectionLimit, asOf: nil)
            .finish(round: round, direction, options: options, onEvent: onEvent)
    }

    /// Refuses a time of which the bucket has nothing, unless the directory is of one already.
    private func checkPast(_ time: StoreTime) async throws(TransferError) {
        guard local.recordedTime() == nil else { return }
        let client = try bucketClient()
        switch try await client.keepsVersions(beneath: remote.prefix) {
        case nil: return
        case false?:
            throw TransferError(
                code: .refused,
                message: "the bucket '\(remote.bucket)' keeps no versions, so what it had before "
                    + "is not there; nothing was changed"
            )
        case true?:
            guard try await !client.hadObjects(beneath: remote.prefix, at: time) else { return }
            throw TransferError(
                code: .notFound,
                message: "'\(remote.display)' had nothing at that time; nothing was changed"
            )
        }
    }

    private static let archiveWarning =
        "objects of this storage class must be restored before a pull can read them"

    /// True if the directory has something that a run could send.
    private func hasFiles() throws(TransferError) -> Bool {
        try MirrorLink.hasFiles(
            directory: directory,
            stateDirectory: stateDirectory,
            homeDirectory: sources?.homeDirectory
        )
    }

    /// The bucket, for single calls; its keys are whole, with the remote's prefix.
    public func bucketClient() throws(TransferError) -> BucketClient {
        try BucketClient(remote.bucket, dialect: remote.dialect, connection: connection)
    }

    /// What requests would be signed with now.
    var credentials: any CredentialsProvider { connection.credentials }

    /// The engine for what changes nothing in the bucket: of a directory that has the bucket as it
    /// was, that one.
    func inspecting(
        connectionLimit: Int,
        readsPassword: Bool = true
    ) throws(TransferError) -> MirrorEngine {
        let time = local.recordedTime()
        return try engine(connectionLimit: connectionLimit, asOf: time, readsPassword)
    }

    var local: LocalMirror {
        LocalMirror(
            directory: directory,
            stateDirectory: stateDirectory,
            homeDirectory: sources?.homeDirectory,
            environment: SystemClocks.engine(hostName: deviceName)
        )
    }

    func engine(
        connectionLimit: Int,
        asOf: StoreTime? = nil,
        _ readsPassword: Bool = true
    ) throws(TransferError) -> MirrorEngine {
        let (connection, prefix) = (connection, remote.prefixKey)
        let failures = sources?.failures.streaks ?? FailureStreaks()
        let storeObserver = StoreObserver(failures: failures) {
            connection.notify($0, prefix: prefix)
        }
        let store = try StoreFactory.store(
            connection,
            bucket: remote.bucket,
            connectionLimit: connectionLimit,
            observe: { storeObserver.observe($0) }
        )
        let reader = asOf.map { time -> any ObjectReader in
            PastStore(store, .at(time.timestamp))
        }
        return MirrorEngine(
            settings: MirrorSettings(
                directory: directory,
                stateDirectory: stateDirectory,
                homeDirectory: sources?.homeDirectory,
                prefix: remote.prefixKey,
                identity: try identity(asOf: asOf, readsPassword),
                displayRemote: remote.display,
                store: readsPassword ? try opened(reader ?? store) : reader ?? store,
                storeObserver: storeObserver,
                environment: SystemClocks.engine(hostName: deviceName)
            )
        )
    }
}
