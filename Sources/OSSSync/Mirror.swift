internal import ObjectStorage
internal import SyncEngine
internal import SyncModel

/// A directory and the remote it is linked with.
public struct Mirror: Sendable {
    /// The directory, as it was given.
    public let directory: String
    /// The remote.
    public let remote: Remote
    private let link: LinkFile?
    private let sources: ConfigurationSources
    private let connection: ResolvedConnection

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
        connection = try ResolvedConnection(chosen, link: link, sources: sources)
    }

    /// True if the directory's own configuration names this remote.
    public var isLinked: Bool { link != nil }

    /// Writes the link, making the directory if it does not exist.
    ///
    /// - Throws: `SyncError` of code `localState`.
    public func writeLink() throws(SyncError) {
        let file = LinkFile(remote: remote, options: sources.options, previous: link)
        try MirrorLink.write(
            file.content,
            directory: directory,
            stateDirectory: sources.options.stateDirectory,
            homeDirectory: sources.homeDirectory
        )
    }

    /// Makes one side what the other is; links the directory first if it is not linked.
    ///
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
        if !isLinked, !options.isDryRun {
            // A misspelt remote must not become the one that later runs are held to.
            try await bucketClient().checkAccess()
            try writeLink()
        }
        let engine = try engine(connectionLimit: options.connectionLimit)
        return try await engine.run(direction, options: options, onEvent: onEvent)
    }

    /// Counts what a pull and a push would do, and names what was interrupted; changes nothing.
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
                stateDirectory: sources.options.stateDirectory,
                homeDirectory: sources.homeDirectory,
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
                environment: SystemClocks.engine(hostName: sources.hostName)
            )
        )
    }
}
