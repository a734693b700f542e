internal import ObjectStorage
internal import SyncEngine
internal import SyncModel

/// A directory and the remote that it is kept in step with.
///
/// ```swift
/// let mirror = try Mirror(
///     directory: "Photos",
///     remote: Remote(parsing: "oss://media/photos"),
///     configuration: configuration,
///     deviceName: "kitchen"
/// )
/// let summary = try await mirror.push(.standard) { event in show(event) }
/// ```
///
/// What was last the same on both sides stands in a manifest, in `.osssync` beneath the directory
/// unless another place is chosen. One run at a time holds it; another one, also of another
/// process, ends with an error of code `locked`. A run that was interrupted goes on where it
/// stopped.
public struct Mirror: Sendable {
    /// The directory, as it was given.
    public let directory: String
    /// The remote.
    public let remote: Remote
    private let link: LinkFile?
    /// Nil for a mirror of what an app spells, which needs no link.
    private let sources: ConfigurationSources?
    private let stateDirectory: String?
    private let deviceName: String
    private let connection: ResolvedConnection

    /// Takes what an app spells: neither the environment nor a file is read.
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
    /// - Throws: `SyncError` of code `configuration`.
    public init(
        directory: String,
        remote: Remote,
        configuration: StoreConfiguration,
        deviceName: String,
        stateDirectory: String? = nil
    ) throws(SyncError) {
        self.directory = directory
        self.remote = remote
        self.deviceName = deviceName
        self.stateDirectory = stateDirectory
        link = nil
        sources = nil
        connection = try ResolvedConnection(remote, configuration)
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
    /// - Throws: `SyncError`: `configuration` if there is no link and no remote, or something in
    ///   the configuration is unusable; `refused` if `remote` is another one than the linked.
    public init(
        directory: String,
        remote: Remote?,
        allowsRebinding: Bool,
        sources: ConfigurationSources
    ) throws(SyncError) {
        let state = sources.options.stateDirectory
        let shown = displayText(directory)
        var link: LinkFile?
        if let content = try MirrorLink.read(directory: directory, stateDirectory: state) {
            link = try LinkFile(content, path: (state ?? directory + "/.osssync") + "/config")
        }
        let linked: Remote?
        if let link { linked = try Remote(parsing: link.remote) } else { linked = nil }
        if let remote, let linked, remote != linked {
            guard allowsRebinding else {
                throw SyncError(
                    code: .refused,
                    message: "'\(shown)' is linked with '\(linked.display)', not with "
                        + "'\(remote.display)'; nothing was changed. If the remote moved on "
                        + "purpose, say --rebind"
                )
            }
            link = nil
        }
        guard let chosen = remote ?? linked else {
            throw SyncError(
                code: .configuration,
                message: "'\(shown)' is not linked with a remote; give one, or run "
                    + "'osssync init DIR REMOTE' first"
            )
        }
        self.directory = directory
        self.remote = chosen
        self.link = link
        self.sources = sources
        stateDirectory = state
        deviceName = sources.hostName
        connection = try ResolvedConnection(chosen, link: link, sources: sources)
    }

    /// True if the directory's own configuration names this remote.
    public var isLinked: Bool { link != nil }

    /// Writes the link, making the directory if it does not exist.
    ///
    /// - Throws: `SyncError` of code `localState`; of code `configuration` if the mirror was made
    ///   of a ``StoreConfiguration``, whose keys and choices no file holds.
    public func writeLink() throws(SyncError) {
        guard let sources else {
            throw SyncError(
                code: .configuration,
                message: "'\(displayText(directory))' is reached by what the app spells, and that "
                    + "cannot be written into a link"
            )
        }
        let file = LinkFile(remote: remote, options: sources.options, previous: link)
        try MirrorLink.write(
            file.content,
            directory: directory,
            stateDirectory: stateDirectory,
            homeDirectory: sources.homeDirectory
        )
    }

    /// Makes the directory have what the remote has; as ``run(_:options:onEvent:)``.
    @discardableResult
    public func pull(
        _ options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) async throws(SyncError) -> RunSummary {
        try await run(.pull, options: options, onEvent: onEvent)
    }

    /// Makes the remote have what the directory has; as ``run(_:options:onEvent:)``.
    @discardableResult
    public func push(
        _ options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) async throws(SyncError) -> RunSummary {
        try await run(.push, options: options, onEvent: onEvent)
    }

    /// Makes both sides have what either changed since the last run; as
    /// ``run(_:options:onEvent:)``.
    ///
    /// What both changed is a conflict, and what one removed is removed from the other only if the
    /// options say so and nobody changed it.
    @discardableResult
    public func sync(
        _ options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) async throws(SyncError) -> RunSummary {
        try await run(.sync, options: options, onEvent: onEvent)
    }

    /// Makes one side what the other is, or each what the other has changed.
    ///
    /// A directory that belongs to a user's configuration is linked first if it is not.
    /// Cancelling the task ends the run with what is needed to go on kept.
    ///
    /// - Parameters:
    ///   - direction: Which side is changed.
    ///   - options: The choices of this run.
    ///   - onEvent: Called from any thread while the run goes on; the last event is the summary.
    /// - Returns: What was done, also where items failed.
    /// - Throws: `SyncError` if the run could not be done or ended early.
    public func run(
        _ direction: SyncDirection,
        options: RunOptions,
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(SyncError) -> RunSummary {
        if direction != .pull { try MirrorLink.require(directory: directory) }
        if sources != nil, !isLinked, !options.isDryRun {
            // A misspelt remote must not become the one that later runs are held to.
            let client = try bucketClient()
            let isEmpty = try await !client.hasObjects()
            if isEmpty, direction == .pull || direction == .sync && !hasFiles {
                throw await nothingThere(client)
            }
            try writeLink()
        }
        let engine = try engine(connectionLimit: options.connectionLimit)
        return try await engine.run(direction, options: options, onEvent: onEvent)
    }

    /// True if the directory has something that a run could send.
    private var hasFiles: Bool {
        MirrorLink.hasFiles(directory: directory, stateDirectory: stateDirectory)
    }

    /// Why nothing is linked with a prefix that holds nothing.
    private func nothingThere(_ client: BucketClient) async -> SyncError {
        let address = remote.display
        var object = address[...]
        if object.last == "/" { object = object.dropLast() }
        if !remote.prefix.isEmpty, await client.isObject(remote.prefixKey.bytes.dropLast()) {
            return SyncError(
                code: .notFound,
                message: "'\(object)' is an object, not a prefix; nothing was linked. "
                    + "Download it with: osssync get \(object) FILE"
            )
        }
        return SyncError(
            code: .notFound,
            message: "there is nothing below '\(address)'; nothing was linked. Check its name; "
                + "'osssync init' links with a prefix that is empty on purpose"
        )
    }

    /// Counts what a pull, a push and a sync would do, and names what was interrupted; changes
    /// nothing.
    ///
    /// - Throws: `SyncError`.
    public func status(options: RunOptions) async throws(SyncError) -> StatusReport {
        try await engine(connectionLimit: options.connectionLimit).status(options: options)
    }

    /// Deletes partial files and aborts multipart uploads, of one path or of all.
    ///
    /// - Throws: `SyncError`.
    public func cancelTransfers(path: String?) async throws(SyncError) -> CancelReport {
        try await engine(connectionLimit: 1).cancelTransfers(path: path)
    }

    /// The bucket, for single calls.
    public func bucketClient() throws(SyncError) -> BucketClient {
        try BucketClient(remote: remote, connection: connection)
    }

    /// What requests would be signed with now.
    func credentials() async throws(CredentialsError) -> Credentials {
        try await connection.credentials.credentials()
    }

    private func engine(connectionLimit: Int) throws(SyncError) -> MirrorEngine {
        let signal = ThrottleSignal()
        let store = try StoreFactory.store(
            connection,
            bucket: remote.bucket,
            connectionLimit: connectionLimit,
            observe: { signal.observe($0) }
        )
        return MirrorEngine(
            settings: MirrorSettings(
                directory: directory,
                stateDirectory: stateDirectory,
                homeDirectory: sources?.homeDirectory,
                prefix: remote.prefixKey,
                identity: RemoteIdentity(
                    dialect: remote.dialect.rawValue,
                    endpointHost: connection.endpoint.host,
                    bucket: remote.bucket,
                    prefix: remote.prefix
                ),
                displayRemote: remote.display,
                store: store,
                signal: signal,
                environment: SystemClocks.engine(hostName: deviceName)
            )
        )
    }
}
