internal import SyncEngine
internal import SyncModel

/// The directory of a mirror, for what needs no remote: its trash.
///
/// ```swift
/// let mirror = LocalMirror(directory: "Photos", deviceName: "kitchen")
/// let request = RestoreRequest(
///     paths: ["2024"], version: .latest, target: nil, replaces: false
/// )
/// let report = try await mirror.restore(request) { file in show(file) }
/// ```
/// No request is made, and neither credentials nor a configuration are read.
///
/// Not guaranteed: a whole listing beside a run, which adds to the trash and empties it.
package struct LocalMirror: Sendable {
    /// The directory, as it was given.
    package let directory: String
    let settings: LocalSettings

    /// Takes a directory that is a mirror; it is opened by each call.
    ///
    /// - Parameters:
    ///   - directory: The directory's path.
    ///   - deviceName: As for ``DirectoryMirror``.
    ///   - stateDirectory: Where the manifest is, if not in `.osssync` beneath the directory.
    ///   - homeDirectory: The user's, which is refused as a mirror; nil if there is none.
    package init(
        directory: String,
        deviceName: String,
        stateDirectory: String? = nil,
        homeDirectory: String? = nil
    ) {
        self.directory = directory
        settings = LocalSettings(
            directory: directory,
            stateDirectory: stateDirectory,
            homeDirectory: homeDirectory,
            environment: SystemClocks.engine(hostName: deviceName)
        )
    }

    /// Calls `push` for everything, and then for what changes, as it changes; continues until
    /// `push` throws or the task is cancelled.
    ///
    /// - Parameters:
    ///   - options: How the directory is watched.
    ///   - onEvent: Called with what is done beside the pushes.
    ///   - push: Makes one push of this directory, with `RunOptions.paths` and
    ///     `RunOptions.allowsMissingPaths`.
    /// - Throws: What `push` throws; `SyncError` if the directory cannot be opened, and of code
    ///   `cancelled`.
    package func watch(
        _ options: WatchOptions,
        onEvent: @escaping @Sendable (WatchEvent) -> Void,
        push: @escaping @Sendable (WatchRound) async throws -> WatchOutcome
    ) async throws {
        try await MirrorWatch(settings, options, onEvent: onEvent, push: push).run()
    }

    /// Why every run of this direction would be refused, such as a pull into `/etc`.
    ///
    /// - Parameter direction: What a run would do.
    /// - Returns: Nil if none would be, as far as is known before it starts.
    package func refusal(of direction: SyncDirection) -> SyncError? {
        MirrorLink.refusal(
            of: direction,
            directory: settings.directory,
            stateDirectory: settings.stateDirectory,
            homeDirectory: settings.homeDirectory
        )
    }

    /// When the last complete run of each direction ended.
    ///
    /// Takes no lock.
    ///
    /// - Returns: Nothing for a direction without such a run.
    /// - Throws: `SyncError`; `localState` if the manifest cannot be read now.
    package func lastSuccess() async throws(SyncError) -> [SyncDirection: StoreTime] {
        try await settings.lastSuccess()
    }

    /// Whether both sides were equal after the last run of the whole mirror that ended.
    ///
    /// Takes no lock and makes no request: what changed since is not known.
    ///
    /// - Returns: Nil if there was no such run.
    /// - Throws: `SyncError`; `localState` if the manifest cannot be read now.
    package func wasInStep() async throws(SyncError) -> Bool? {
        try await settings.wasInStep()
    }

    /// The paths that begin with `prefix` of what the last run left recorded, one level of them;
    /// takes no lock.
    ///
    /// - Parameters:
    ///   - prefix: How the paths begin, not only up to a slash.
    ///   - limit: How many are returned at most, the first in the order of their bytes.
    /// - Returns: The paths; that of a directory ends in "/". Nothing if there was no run yet.
    /// - Throws: `SyncError`; `localState` if the manifest cannot be read now.
    package func recordedNames(
        prefix: String,
        limit: Int
    ) async throws(SyncError) -> [String] {
        try await settings.recordedNames(prefix: prefix, limit: limit)
    }

    /// What the mirror has in all, by the manifest that the last run left; takes no lock.
    ///
    /// - Returns: Nil if there was no run yet, if the manifest cannot be read now, and for a mirror
    ///   in shards.
    /// - Throws: `SyncError`.
    package func totals() async throws(SyncError) -> MirrorTotals? {
        try await settings.totals()
    }

    /// What is known of the mirror and its runs; takes no lock.
    ///
    /// - Parameter depth: How much is read.
    /// - Returns: Nil if there was no run yet, or if the manifest cannot be read now.
    /// - Throws: `SyncError`.
    package func overview(
        _ depth: MirrorOverview.Depth
    ) async throws(SyncError) -> MirrorOverview? {
        try await settings.overview(depth)
    }

    /// What a run that works now, in any process of this user, shows of itself.
    ///
    /// - Returns: Nil without such a run, and in its first half second.
    /// - Throws: `SyncError`.
    package func live() throws(SyncError) -> LiveRun? { try settings.live() }

    /// True while a watch goes on in any process of this user, also between its runs.
    package var isWatched: Bool { settings.isWatched }

    /// The file in which a run of this directory shows others how far it is.
    ///
    /// - Returns: Nil if there is no place for it.
    package func liveFile() -> LiveFile? { settings.liveFile() }

    /// Lists what deletions, replacements and conflicts moved to the trash; takes no lock.
    ///
    /// - Parameters:
    ///   - age: Only what runs moved there that began at least this long ago.
    ///   - onFile: Called with each file, the oldest run's first, from another thread; false ends
    ///     the listing.
    /// - Returns: How much was listed.
    /// - Throws: `SyncError`.
    package func trash(
        age: Duration,
        onFile: @escaping @Sendable (TrashedFile) -> Bool
    ) async throws(SyncError) -> TrashReport {
        let trash = MirrorTrash(settings: settings)
        return try await trash.list(age: age.components.seconds, onFile: onFile)
    }

    /// How much is in the trash; nil if there was no run yet.
    ///
    /// - Throws: `SyncError`.
    package func trash() async throws(SyncError) -> TrashReport? {
        do throws(SyncError) {
            return try await trash(age: .zero) { _ in true }
        } catch {
            // There is no state directory.
            guard error.code == .configuration else { throw error }
            return nil
        }
    }

    /// Deletes what is in the trash for good.
    ///
    /// - Parameter age: Only what runs moved there that began at least this long ago, by this
    ///   machine's clock.
    /// - Returns: How much was deleted, and what could not be.
    /// - Throws: `SyncError`; `locked` while another run is active.
    package func emptyTrash(age: Duration) async throws(SyncError) -> TrashReport {
        try await MirrorTrash(settings: settings).empty(age: age.components.seconds)
    }

    /// Moves files from the trash back into the directory, with their times and modes.
    ///
    /// A file that comes back is like any other: the next push uploads it if the remote does not
    /// have it, and the next pull keeps it. Cancelling the task ends it between two files.
    ///
    /// - Parameters:
    ///   - request: What comes back, and where.
    ///   - onFile: Called with each file from another thread.
    /// - Returns: What came back.
    /// - Throws: `SyncError`; `locked` while another run is active.
    package func restore(
        _ request: RestoreRequest,
        onFile: @escaping @Sendable (RestoredFile) -> Void
    ) async throws(SyncError) -> RestoreReport {
        try await MirrorTrash(settings: settings).restore(request, onFile: onFile)
    }

    /// Where a path beneath the directory is on this system.
    func absolutePath(of path: String) throws(SyncError) -> String {
        try settings.absolutePath(of: path)
    }

    /// True if the bucket has, or has had, a trash of this mirror that this directory knows of.
    ///
    /// - Throws: `SyncError`.
    package func hasRemoteTrash() throws(SyncError) -> Bool {
        try MirrorTrash(settings: settings).hasRemote()
    }

    /// The last run that deleted or replaced something, here or in the bucket: when it began, and
    /// its number.
    ///
    /// - Parameter remote: The last run that left something in the trash of the bucket, as
    ///   ``DirectoryMirror/lastRunInRemoteTrash()`` has it; nil if there is no such trash.
    /// - Returns: The run; nil if there is none.
    /// - Throws: `SyncError`.
    package func lastRunToUndo(
        remote: (time: StoreTime, number: Int64)?
    ) async throws(SyncError) -> (time: StoreTime, number: Int64)? {
        try await MirrorTrash(settings: settings).lastRun(remote: remote)
    }
}
